import type { ConnectionLike } from '@temporalio/client';
import { failure, type Finding, ok } from '#cli/doctor/finding.ts';

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
  const failing: string[] = [];
  for (const execution of runs) {
    const { pendingWorkflowTask: task } = await workflowService.describeWorkflowExecution({ namespace, execution });
    if ((task?.attempt ?? 0) >= REPEATED) failing.push(execution.workflowId ?? '');
  }
  if (failing.length === 0) return ok(`those of ${runs.length} running workflows do not fail`);
  return failure(
    `those of ${failing.length} workflows fail again and again, so they stand still: ${failing.slice(0, 3).join(', ')}`,
    'See WorkflowTasksFail in docs/runbook.md; the Temporal UI shows the error in the history of each workflow.',
  );
}
