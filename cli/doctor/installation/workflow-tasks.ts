import type { ConnectionLike } from '@temporalio/client';
import { failure, type Finding, ok } from '#cli/doctor/finding.ts';
import { counted } from '#domain/text.ts';

/** Runs that are looked at, the newest first: Temporal is asked about each. */
const MOST_RUNS = 100;
/** One failure alone, as when a worker stops, is repeated at once. */
const REPEATED = 3;

/** Checks that no workflow task of a running workflow fails again and again. Changes nothing. */
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
  // At once: together they have the time of one check.
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
