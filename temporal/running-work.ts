import type { Client } from '@temporalio/client';
import type { WorkRef } from '#domain/work/kinds.ts';
import { workflowId } from '#workflows/messages.ts';

/** A question that takes longer is given up; the sweeper does without it. */
const CALL_DEADLINE_MS = 5_000;

/**
 * Asks Temporal's visibility, in one call, which of these have a running workflow. Visibility runs behind by a moment:
 * work that has just been started may be missing.
 *
 * @returns the ids of work that has one. @throws ServiceError when Temporal does not answer.
 */
export async function findRunning(client: Client, work: readonly WorkRef[]): Promise<ReadonlySet<string>> {
  if (work.length === 0) return new Set();
  const byWorkflow = new Map(work.map((each) => [workflowId(each), each.id]));
  const names = [...byWorkflow.keys()].map((name) => `'${name.replaceAll("'", "''")}'`).join(',');
  const request = {
    namespace: client.options.namespace,
    pageSize: work.length,
    query: `ExecutionStatus = 'Running' AND WorkflowId IN (${names})`,
  };
  const { executions } = await client.withDeadline(Date.now() + CALL_DEADLINE_MS, () =>
    client.connection.workflowService.listWorkflowExecutions(request),
  );
  const found = (executions ?? []).flatMap(({ execution }) => byWorkflow.get(execution?.workflowId ?? '') ?? []);
  return new Set(found);
}
