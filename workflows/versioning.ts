import { setWorkflowOptions, type Workflow } from '@temporalio/workflow';

/**
 * The worker declares it in front of the bundle (`worker/bundle.ts`): nothing else tells workflow code which worker
 * runs it. `workflowInfo()` names the version of the replayed task.
 */
export const HAS_VERSION = 'resellerWorkerHasVersion';

/**
 * For types that may run for months; their changes need `patched` (docs/how-to/change-a-workflow.md). Does nothing on
 * workers without a version: the server refuses the result of a task that names a behaviour there.
 */
export function upgradeWithWorkers(workflow: Workflow): void {
  if (HAS_VERSION in globalThis) setWorkflowOptions({ versioningBehavior: 'AUTO_UPGRADE' }, workflow);
}
