import { setWorkflowOptions, type Workflow } from '@temporalio/workflow';

/**
 * The global variable of the workflow sandbox that exists when the workers have a deployment version. The worker
 * declares it in front of the bundle (`worker/bundle.ts`), because nothing else tells workflow code which
 * worker runs it: `workflowInfo()` names the version of the replayed task.
 */
export const HAS_VERSION = 'resellerWorkerHasVersion';

/**
 * Lets runs of a workflow type move to the current version at their next task, for types that may run for months. All
 * others stay on the version that began them. Changes of such a workflow need `patched`
 * (docs/how-to/change-a-workflow.md).
 *
 * Does nothing on workers without a version: the server refuses the result of a task that names a behaviour there.
 */
export function upgradeWithWorkers(workflow: Workflow): void {
  if (HAS_VERSION in globalThis) setWorkflowOptions({ versioningBehavior: 'AUTO_UPGRADE' }, workflow);
}
