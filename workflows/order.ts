import { allHandlersFinished, condition, setHandler } from '@temporalio/workflow';
import type { OrderEnd } from '#activities/order-types.ts';
import {
  explainQuery,
  operatorActedSignal,
  serviceObservedSignal,
  type OrderWorkflowInput,
  type OrderWorkflowResult,
} from '#workflows/messages.ts';
import { ObservationQueue } from '#workflows/observations.ts';
import { handleOperatorUpdates } from '#workflows/operator-updates.ts';
import { OrderProgress } from '#workflows/order-progress.ts';
import { OrderRun } from '#workflows/order-run.ts';
import { database, finishedFailure } from '#workflows/order-state.ts';

/**
 * One order, from acceptance to its end. The whole state is in PostgreSQL; this workflow is what moves it on, and may
 * be terminated, reset or started anew at any point: it begins by reading where the order stands.
 */
export async function orderWorkflow(input: OrderWorkflowInput): Promise<OrderWorkflowResult> {
  const observations = new ObservationQueue();
  const progress = new OrderProgress({
    status: 'submitting',
    now: 'The order was accepted and is being sent to the service.',
    next: 'The answer of the service.',
  });
  const acts = { count: 0 };

  // Before the first await: a signal may be in the first task already.
  setHandler(serviceObservedSignal, (observation) => observations.offer(observation));
  setHandler(operatorActedSignal, () => void (acts.count += 1));
  setHandler(explainQuery, () => progress.explanation());
  handleOperatorUpdates({ orderId: input.orderId, progress, acted: () => (acts.count += 1) });

  const end = await endOf(async () => {
    const snapshot = await database.beginOrder({ orderId: input.orderId });
    return new OrderRun({ input, snapshot, observations, progress, acts }).run();
  });
  await condition(allHandlersFinished);
  return end;
}

/** An order that has ended, perhaps before this run began, is a result and not an error. */
async function endOf(run: () => Promise<OrderEnd>): Promise<OrderEnd> {
  try {
    return await run();
  } catch (error) {
    const finished = finishedFailure(error);
    if (finished === undefined) throw error;
    return finished.details?.[0] as OrderEnd;
  }
}
