import { proxyActivities } from '@temporalio/workflow';
import type { MaintenanceActivities } from '#activities/maintenance-types.ts';

// Started by a schedule: a run that fails is followed by the next, so a few tries are enough.
const { reconcileSilentWork, requestIdleOrders, forgetOldAnswers } = proxyActivities<MaintenanceActivities>({
  startToCloseTimeout: '5m',
  retry: { initialInterval: '2s', maximumAttempts: 3 },
});

/** Asks the service about everything that has been silent for too long; one reconciler for all work. */
export async function reconcileWorkflow(): Promise<{ asked: number; news: number }> {
  return reconcileSilentWork();
}

/** Makes sure that every unfinished order has a running workflow, and clears away what nobody needs any more. */
export async function sweepWorkflow(): Promise<{ requested: number; forgotten: number }> {
  const { requested } = await requestIdleOrders();
  const { forgotten } = await forgetOldAnswers();
  return { requested, forgotten };
}
