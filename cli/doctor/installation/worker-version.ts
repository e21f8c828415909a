import type { Connection } from '@temporalio/client';
import { failure, type Finding, ok } from '#cli/doctor/finding.ts';
import type { DeploymentVersion } from '#config/config.ts';
import { idleProblem, nameOf, readRouting } from '#temporal/worker-versions.ts';

/** Checks that workers of this configuration, or of another version, get new work. Changes nothing. */
export async function checkWorkerVersion(
  connection: Connection,
  namespace: string,
  own: DeploymentVersion | undefined,
): Promise<Finding> {
  const routing = await readRouting(connection, namespace);
  const problem = idleProblem(routing, own);
  if (problem !== undefined) return failure(problem.detail, problem.advice);
  const { current, ramping } = routing;
  if (current === undefined) return ok('the workers have no version');
  return ok(`${nameOf(current)} is current${ramping === undefined ? '' : `, ${nameOf(ramping)} is ramping`}`);
}
