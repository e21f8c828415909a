import type { Client } from '@temporalio/client';
import type { WorkRef } from '#domain/work/kinds.ts';
import { workflowId } from '#workflows/messages.ts';

/** Time limit of the call; without its answer the sweeper continues. */
const CALL_DEADLINE_MS = 5_000;

/**
 * Finds out in one call of Temporal's visibility which work has a running workflow. Visibility is eventually
 * consistent: work that was just started may be missing.
 *
 * @returns the ids of work with a running workflow. @throws ServiceError when Temporal does not answer.
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
