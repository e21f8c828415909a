/** Ways of VPN subscriptions. */
import { eq } from 'drizzle-orm';
import { vpnSubscriptions } from '#db/schema.ts';
import { waitFor } from '#test/support/wait-for.ts';
import type { OrderDesk } from '#test/support/work/order-desk.ts';
import { ADA, withWorker, type Scenario, type TemporalUi } from '#test/workflow/scenarios/scenario.ts';
import { abandonUpdate, changeLimitUpdate, resolveUpdate, retryUpdate } from '#workflows/messages.ts';
import { WAIT_NAMES } from '#workflows/wait-names.ts';

const DAY_MS = 24 * 60 * 60_000;

/** Pauses of a minute and more, shortened. */
const SOON = { POLICY_CANCEL_CHECK: '300ms', POLICY_EXPIRY_GRACE: '300ms' };

export const SUBSCRIPTIONS: Readonly<Record<string, Scenario>> = {
  'vpn-renewed': withWorker(SOON, async (desk, temporal) => {
    const id = await active(desk, temporal);
    await desk.simulator.onRequest('getVpnSubscription', { kind: 'server_error' }, { count: null });
    await endsSoon(desk, temporal, id);
    await temporal.waits(id, WAIT_NAMES.subscriptionRead('server_error'));
    // By what the service says, it has a month to go.
    await desk.simulator.calm();
    await waitFor(
      'it is renewed',
      async () => Date.parse((await desk.subscriptionReaches(id, 'active')).textAt('expires_at')) > Date.now() + DAY_MS,
    );
    await cancel(desk, id);
    await desk.subscriptionReaches(id, 'cancelled');
    return id;
  }),

  'vpn-silent-then-dismissed': withWorker({ ...SOON, POLICY_SILENT_DEADLINE: '1s' }, async (desk, temporal) => {
    const id = await active(desk, temporal);
    await desk.simulator.onRequest('getVpnSubscription', { kind: 'server_error' }, { count: null });
    await endsSoon(desk, temporal, id);
    await desk.subscriptionReaches(id, 'needs_attention');
    const asked = await questions(desk);
    await temporal.of(id).executeUpdate(retryUpdate, { args: [ADA] });
    await waitFor('the service is asked once more', async () => (await questions(desk)) > asked);
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

  'vpn-cancellation-unconfirmed': withWorker(SOON, async (desk, temporal) => {
    const id = await active(desk, temporal);
    await desk.simulator.onRequest('getVpnSubscription', { kind: 'server_error' }, { count: null });
    await desk.simulator.nextPurchases({
      operation: 'vpn_cancellation',
      outcome: 'processing_then_cancelled',
      delay_ms: DAY_MS,
    });
    await cancel(desk, id);
    await temporal.waits(id, WAIT_NAMES.cancelled());
    await endsSoon(desk, temporal, id);
    await desk.subscriptionReaches(id, 'cancelled');
    return id;
  }),

  'vpn-cancellation-refused': async (desk, temporal) => {
    const id = await active(desk, temporal);
    await desk.simulator.nextPurchases({ operation: 'vpn_cancellation', outcome: 'refused', count: 2 });
    await cancel(desk, id);
    await parked(desk, id, 1);
    await temporal.of(id).executeUpdate(retryUpdate, { args: [ADA] });
    await parked(desk, id, 2);
    await temporal
      .of(id)
      .executeUpdate(resolveUpdate, { args: [{ ...ADA, case: 'cancellation_refused', verdict: 'dismissed' }] });
    const lives = await desk.subscriptionReaches(id, 'active');
    await desk.simulator.endSubscription(lives.textAt('service_subscription_id'), 'cancel');
    await desk.subscriptionReaches(id, 'cancelled');
    return id;
  },

  'vpn-contradicted-then-dismissed': async (desk, temporal) => {
    const id = await active(desk, temporal);
    const subscription = await desk.subscriptionReaches(id, 'active');
    const serviceId = subscription.textAt('service_subscription_id');
    const data = {
      id: serviceId,
      external_subscription_id: subscription.textAt('external_subscription_id'),
      status: 'failed',
    };
    for (const words of [1, 2]) {
      await desk.simulator.sendWebhook({ environment: 'sandbox', event: 'vpn.subscription.failed', data });
      await parked(desk, id, words);
    }
    await temporal
      .of(id)
      .executeUpdate(resolveUpdate, { args: [{ ...ADA, case: 'contradiction', verdict: 'dismissed' }] });
    await desk.subscriptionReaches(id, 'active');
    await desk.simulator.endSubscription(serviceId, 'expire');
    await desk.subscriptionReaches(id, 'expired');
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

/** A plan that nobody can buy. */
const UNAVAILABLE = 396;

/** One that is active, and whose workflow waits for what comes. */
async function active(desk: OrderDesk, temporal: TemporalUi): Promise<string> {
  const id = await desk.subscribe(301);
  await temporal.waits(id, WAIT_NAMES.endOfTime());
  return id;
}

async function cancel({ stack }: OrderDesk, id: string): Promise<void> {
  await stack.api.post(`/v1/vpn/subscriptions/${id}/cancel`, { reason: 'The customer ended it.' });
}

/** As if its plan were one of a second; none is sold. Its workflow reads that with the act of a person. */
async function endsSoon({ stack }: OrderDesk, temporal: TemporalUi, id: string): Promise<void> {
  const expiresAt = new Date(Date.now() + 1_000);
  await stack.database.run((db) => db.update(vpnSubscriptions).set({ expiresAt }).where(eq(vpnSubscriptions.id, id)));
  await temporal
    .of(id)
    .executeUpdate(changeLimitUpdate, { args: [{ ...ADA, max_price: { amount: '99.00', currency: 'USD' } }] });
}

/** How often the service was asked how one stands. */
async function questions({ simulator }: OrderDesk): Promise<number> {
  return (await simulator.requests('getVpnSubscription')).length;
}

/** Until it was parked so many times. */
async function parked(desk: OrderDesk, id: string, times: number): Promise<void> {
  await waitFor(
    `it is parked for the ${times}. time`,
    async () =>
      (await desk.events(id)).filter((event) => event === 'vpn_subscription.needs_attention').length === times,
  );
}
