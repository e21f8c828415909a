import type { Connection, ConnectionLike } from '@temporalio/client';
import { type Finding, failure, notChecked, ok, warning } from '#cli/doctor/finding.ts';
import type { DeploymentVersion, TemporalConfig } from '#config/config.ts';
import { capitalized, counted } from '#domain/text.ts';
import { GRPC_STATUS, TemporalUnavailableError, connect, grpcStatus } from '#temporal/connection.ts';
import { NamespaceSetUpError, checkNamespace as lookAtNamespace } from '#temporal/set-up.ts';
import { idleProblem, nameOf, readRouting } from '#temporal/worker-versions.ts';

/** The caller closes the connection. */
export async function checkTemporal(
  config: TemporalConfig,
  timeoutMs: number,
): Promise<{ readonly finding: Finding; readonly connection?: Connection }> {
  try {
    const connection = await connect(config, { timeoutMs });
    return { finding: ok(`${config.address} answers`), connection };
  } catch (error) {
    if (!(error instanceof TemporalUnavailableError)) throw error;
    const end = error.message.search(/[.:] /);
    const advice = error.message.slice(end + 2);
    return { finding: failure(error.message.slice(0, end), capitalized(advice)) };
  }
}

export type NamespaceFindings = Readonly<Record<'namespace' | 'search_attributes', Finding>>;

/** Changes nothing. */
export async function checkNamespace(connection: Connection, namespace: string): Promise<NamespaceFindings> {
  try {
    const { exists, missingSearchAttributes: missing } = await lookAtNamespace(connection, namespace);
    if (!exists) {
      const advice =
        'The worker creates it at its start if it is permitted to. Otherwise create it, or set TEMPORAL_NAMESPACE.';
      return {
        namespace: warning(`${namespace} does not exist`, advice),
        search_attributes: notChecked(`there is no namespace ${namespace}`),
      };
    }
    const advice =
      'The worker adds them at its start if it is permitted to. Otherwise its error lists each with its type.';
    const search_attributes =
      missing.length === 0 ? ok('all exist, with the right types') : warning(`missing: ${missing.join(', ')}`, advice);
    return { namespace: ok(namespace), search_attributes };
  } catch (error) {
    if (error instanceof NamespaceSetUpError) {
      const end = error.message.indexOf('. ') + 1;
      const conflict = failure(error.message.slice(0, end - 1), error.message.slice(end + 1));
      return { namespace: ok(namespace), search_attributes: conflict };
    }
    const status = grpcStatus(error);
    if (status !== GRPC_STATUS.permissionDenied && status !== GRPC_STATUS.unauthenticated) throw error;
    const denied = `no permission to read ${namespace}`;
    const advice = 'Check TEMPORAL_API_KEY and that it may use the namespace.';
    return { namespace: failure(denied, advice), search_attributes: notChecked(denied) };
  }
}

/** Temporal is asked about each run. */
const MOST_RUNS = 100;
/** A single failure, as when a worker stops, is repeated at once. */
const REPEATED = 3;

export async function checkWorkflowTasks(
  { workflowService }: Pick<ConnectionLike, 'workflowService'>,
  namespace: string,
): Promise<Finding> {
  const { executions } = await workflowService.listWorkflowExecutions({
    namespace,
    pageSize: MOST_RUNS,
    query: "ExecutionStatus = 'Running'",
  });
  const runs = (executions ?? []).flatMap(({ execution }) => execution ?? []);
  // Together they have the time of one check.
  const described = await Promise.all(
    runs.map(async (execution) => workflowService.describeWorkflowExecution({ namespace, execution })),
  );
  const failing = runs.filter((_, index) => (described[index]?.pendingWorkflowTask?.attempt ?? 0) >= REPEATED);
  const looked = `of the newest ${counted(runs.length, 'running workflow')}`;
  if (failing.length === 0) return ok(`no task ${looked} fails again and again`);
  const ids = failing.slice(0, 3).map(({ workflowId }) => workflowId);
  return failure(
    `${looked}, ${failing.length} cannot go on, because their tasks fail again and again: ${ids.join(', ')}`,
    'See WorkflowTasksFail in docs/runbook.md; the Temporal UI shows the error in the history of each workflow.',
  );
}

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
