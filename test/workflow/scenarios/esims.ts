/** Scenarios of top-ups, VPN subscriptions and cancellations. */
import type { OrderDesk } from '#test/support/work/order-desk.ts';
import { ADA, type OneRun, type Scenario, type TemporalUi } from '#test/workflow/scenarios/scenario.ts';
import { changeLimitUpdate } from '#workflows/messages.ts';

export const ESIMS: Readonly<Record<string, Scenario>> = {
  'vpn-continues-as-new': async (desk, temporal) => {
    const { id, first } = await longSubscription(desk, temporal);
    await desk.stack.api.post(`/v1/vpn/subscriptions/${id}/cancel`, { reason: 'The customer ended it.' });
    await desk.subscriptionReaches(id, 'cancelled');
    return first;
  },

  'cancellation-refused': async (desk) => {
    const esimId = await desk.newEsim();
    await desk.simulator.nextPurchases({
      operation: 'cancellation',
      outcome: 'manual_review_then_refused',
      delay_ms: 500,
    });
    const id = await desk.cancel(esimId);
    await desk.cancellationReaches(id, 'refused');
    return id;
  },

  'refund-failed-then-dismissed': async (desk) => {
    const esimId = await desk.newEsim();
    await desk.simulator.nextPurchases({ operation: 'cancellation', outcome: 'refund_failed' });
    const id = await desk.cancel(esimId);
    await desk.cancellationReaches(id, 'needs_attention');
    await desk.stack.api.post(`/v1/cancellations/${id}/resolve`, {
      reason: 'Written off.',
      case: 'refund_failed',
      verdict: 'dismissed',
    });
    await desk.cancellationReaches(id, 'completed');
    return id;
  },
};

/** Performs actions on a subscription until it continues in a new run. @returns its id, and the run before. */
async function longSubscription(
  desk: OrderDesk,
  temporal: TemporalUi,
): Promise<{ readonly id: string; readonly first: OneRun }> {
  const id = await desk.subscribe(301);
  await desk.subscriptionReaches(id, 'active');
  const { runId } = await temporal.of(id).describe();
  for (let n = 1; (await temporal.of(id).describe()).runId === runId; n += 1) {
    const change = { ...ADA, max_price: { amount: `${100 + n}.00`, currency: 'USD' } };
    await temporal.of(id).executeUpdate(changeLimitUpdate, { args: [change] });
  }
  return { id, first: { workflowId: temporal.of(id).workflowId, runId } };
}
