import { eq } from 'drizzle-orm';
import { vpnSubscriptions } from '#db/schema.ts';
import { waitFor } from '#test/support/wait-for.ts';
import type { OrderDesk } from '#test/support/work/order-desk.ts';
import { ADA, withWorker, type Scenario, type TemporalUi } from '#test/workflow/scenarios/scenario.ts';
import { abandonUpdate, changeLimitUpdate, resolveUpdate, retryUpdate } from '#workflows/messages.ts';
import { WAIT_NAMES } from '#workflows/wait-names.ts';

const DAY_MS = 24 * 60 * 60_000;

const SOON = { 'vpn_subscription.cancel_check': '300ms', 'vpn_subscription.expiry_grace': '300ms' };

export const SUBSCRIPTIONS: Readonly<Record<string, Scenario>> = {
  'vpn-renewed': withWorker(SOON, async (desk, temporal) => {
    const id = await active(desk, temporal);
    await desk.simulator.onRequest('getVpnSubscription', { kind: 'server_error' }, { count: null });
    await endsSoon(desk, temporal, id);
    await temporal.waits(id, WAIT_NAMES.subscriptionRead('server_error'));
    // At the service it has another month.
    await desk.simulator.calm();
    await waitFor(
      'it is renewed',
      async () => Date.parse((await desk.subscriptionReaches(id, 'active')).textAt('expires_at')) > Date.now() + DAY_MS,
    );
    await cancel(desk, id);
    await desk.subscriptionReaches(id, 'cancelled');
    return id;
  }),

  'vpn-silent-then-dismissed': withWorker({ ...SOON, 'purchase.silent_deadline': '1s' }, async (desk, temporal) => {
    const id = await active(desk, temporal);
    await desk.simulator.onRequest('getVpnSubscription', { kind: 'server_error' }, { count: null });
    await endsSoon(desk, temporal, id);
    await desk.subscriptionReaches(id, 'needs_attention');
    const before = await lookUps(desk);
    await temporal.of(id).executeUpdate(retryUpdate, { args: [ADA] });
    await waitFor('there is another look-up', async () => (await lookUps(desk)) > before);
    await temporal
      .of(id)
      .executeUpdate(resolveUpdate, { args: [{ ...ADA, case: 'delivery_unavailable', verdict: 'dismissed' }] });
    await desk.subscriptionReaches(id, 'expired');
    return id;
  }),

  'vpn-cancelled-at-the-second-request': withWorker(SOON, async (desk, temporal) => {
    const id = await active(desk, temporal);
    await desk.simulator.onWebhook(undefined, { kind: 'lost' }, { count: null });
    await desk.simulator.onRequest('cancelVpnSubscription', { kind: 'server_error' });
    await desk.simulator.nextPurchases({
      operation: 'vpn_cancellation',
      outcome: 'processing_then_cancelled',
      delay_ms: 700,
    });
    await cancel(desk, id);
    await desk.subscriptionReaches(id, 'cancelled');
    return id;
  }),

  'vpn-cancellation-refused': async (desk, temporal) => {
    const id = await active(desk, temporal);
    await desk.simulator.nextPurchases({ operation: 'vpn_cancellation', outcome: 'refused', count: 2 });
    await cancel(desk, id);
    await needsAttention(desk, id, 1);
    await temporal.of(id).executeUpdate(retryUpdate, { args: [ADA] });
    await needsAttention(desk, id, 2);
    await temporal
      .of(id)
      .executeUpdate(resolveUpdate, { args: [{ ...ADA, case: 'cancellation_refused', verdict: 'dismissed' }] });
    const lives = await desk.subscriptionReaches(id, 'active');
    await desk.simulator.endSubscription(lives.textAt('service_subscription_id'), 'cancel');
    await desk.subscriptionReaches(id, 'cancelled');
    return id;
  },

  'vpn-held-then-abandoned': async (desk, temporal) => {
    const id = await desk.subscribe(UNAVAILABLE);
    await desk.subscriptionReaches(id, 'held');
    await temporal.of(id).executeUpdate(abandonUpdate, { args: [ADA] });
    await desk.subscriptionReaches(id, 'abandoned');
    return id;
  },
};

const UNAVAILABLE = 396;

/** Creates an active subscription, whose workflow waits for its end. */
async function active(desk: OrderDesk, temporal: TemporalUi): Promise<string> {
  const id = await desk.subscribe(301);
  await temporal.waits(id, WAIT_NAMES.endOfTime());
  return id;
}

async function cancel({ stack }: OrderDesk, id: string): Promise<void> {
  await stack.api.post(`/v1/vpn/subscriptions/${id}/cancel`, { reason: 'The customer ended it.' });
}

/** Sets the end of a subscription to the next second. Its workflow reads that with an operator action. */
async function endsSoon({ stack }: OrderDesk, temporal: TemporalUi, id: string): Promise<void> {
  const expiresAt = new Date(Date.now() + 1_000);
  await stack.database.run((db) => db.update(vpnSubscriptions).set({ expiresAt }).where(eq(vpnSubscriptions.id, id)));
  await temporal
    .of(id)
    .executeUpdate(changeLimitUpdate, { args: [{ ...ADA, max_price: { amount: '99.00', currency: 'USD' } }] });
}

async function lookUps({ simulator }: OrderDesk): Promise<number> {
  return (await simulator.requests('getVpnSubscription')).length;
}

/** Waits until a subscription has needed attention this many times. */
async function needsAttention(desk: OrderDesk, id: string, times: number): Promise<void> {
  await waitFor(
    `it needs attention for the ${times}. time`,
    async () =>
      (await desk.events(id)).filter((event) => event === 'vpn_subscription.needs_attention').length === times,
  );
}
