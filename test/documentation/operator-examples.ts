/** Examples of operator actions. */
import type { DescribedClient } from '#test/documentation/described-client.ts';
import { VPN_PLAN, WHY, CHEAP } from '#test/documentation/example-values.ts';
import type { Stack } from '#test/support/servers/stack.ts';
import { waitFor } from '#test/support/wait-for.ts';
import { type OrderDesk, PACKAGE } from '#test/support/work/order-desk.ts';

/** Performs all operator actions on waiting work. */
export async function operate(stack: Stack, client: DescribedClient, desk: OrderDesk): Promise<void> {
  const rechargeable = await desk.newEsim();
  const kinds = [
    { name: 'Order', path: '/v1/orders', make: (more: object) => desk.place(PACKAGE.completedAtOnce, { ...more }) },
    { name: 'Topup', path: '/v1/topups', make: (more: object) => desk.topUp(rechargeable, 1002, { ...more }) },
    {
      name: 'VpnSubscription',
      path: '/v1/vpn/subscriptions',
      make: (more: object) => desk.subscribe(VPN_PLAN, { ...more }),
    },
  ];
  for (const { name, path, make } of kinds) {
    const id = await make({ max_price: CHEAP });
    const params = { id };
    await stack.workReaches(`${path}/${id}`, ['held']);
    // The API refuses an action while the gate checks the work.
    const act = (operation: string, body: Record<string, unknown>) =>
      waitFor(`${operation} of ${id} is possible`, () => client.call(operation, { params, body }));
    await act(`retry${name}`, { reason: 'The price was corrected.' });
    await act(`release${name}`, { reason: 'It is urgent.' });
    await act(`change${name}Limit`, { reason: 'The shop pays more.', max_price: { amount: '0.02', currency: 'USD' } });
    await act(`change${name}RetryPolicy`, {
      reason: 'The supplier is back in an hour.',
      attempts: 5,
      first_wait_seconds: 900,
    });
    await client.call(`actOnMany${name}s`, {
      body: { action: 'abandon', filter: { status: 'held' }, reason: WHY, dry_run: true },
    });
    await act(`abandon${name}`, { reason: WHY });
    await stack.workReaches(`${path}/${id}`, ['abandoned']);
  }

  // Charged and failed: only an operator can decide.
  for (const { name, path, make } of kinds.slice(0, 2)) {
    await desk.simulator.nextPurchases({ outcome: 'failed_at_once', credit_after_ms: null });
    const unsettled = await make({});
    await stack.workReaches(`${path}/${unsettled}`, ['needs_attention']);
    await client.call(`resolve${name}Case`, {
      params: { id: unsettled },
      body: {
        reason: 'They confirmed it by mail.',
        case: 'failed_but_charged',
        verdict: 'not_bought',
        next: 'abandon',
      },
    });
  }
  const subscription = await desk.subscribe(VPN_PLAN);
  await desk.subscriptionReaches(subscription, 'active');
  await desk.simulator.nextPurchases({ operation: 'vpn_cancellation', outcome: 'refused' });
  await client.call('cancelVpnSubscription', { params: { id: subscription }, body: { reason: WHY }, isExample: false });
  await desk.subscriptionReaches(subscription, 'needs_attention');
  await client.call('resolveVpnSubscriptionCase', {
    params: { id: subscription },
    body: { reason: 'They owe us a month.', case: 'cancellation_refused', verdict: 'dismissed' },
  });

  const cancelled = async () => {
    const esimId = await desk.newEsim();
    await desk.simulator.nextPurchases({ operation: 'cancellation', outcome: 'refund_failed' });
    const id = await desk.cancel(esimId);
    // On a slow machine a case `refund_missing` comes first.
    await waitFor('the refund has failed', async () => {
      const answer = await desk.cancellationReaches(id, 'needs_attention');
      return answer.text.includes('"refund_failed"');
    });
    return { id };
  };
  const refused = { reason: 'It was written off.', case: 'refund_failed', verdict: 'dismissed' };
  await client.call('resolveCancellationCase', { params: await cancelled(), body: refused });
  await client.call('actOnManyCancellations', {
    body: { action: 'retry', filter: { status: 'needs_attention' }, reason: WHY, dry_run: true },
  });
  const unpaid = await cancelled();
  await client.call('changeCancellationRetryPolicy', {
    params: unpaid,
    body: { reason: 'They take until the evening.', longest_wait_seconds: 3_600 },
  });
  const retry = { params: unpaid, body: { reason: 'They are able to pay again.' } };
  await waitFor('a retry is possible', () => client.call('retryCancellation', retry));
}
