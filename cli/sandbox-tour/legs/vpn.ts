import { noteDebit, notePrice } from '#cli/sandbox-tour/amounts.ts';
import { type Leg, until } from '#cli/sandbox-tour/leg.ts';
import {
  type CallObservation,
  clause,
  noteCall,
  notePurchase,
  noteRepeat,
  observeCall,
} from '#cli/sandbox-tour/observations.ts';
import { follow } from '#cli/sandbox-tour/purchases.ts';
import { vpnOrderRequestBytes } from '#upstream/client/request-bytes.ts';
import type { VpnPlan, VpnSubscription, WalletTransaction } from '#upstream/contract.ts';

export async function vpnLeg(leg: Leg, plans: readonly VpnPlan[], planId: number | undefined): Promise<void> {
  const { client, now, newId } = leg;
  const step = leg.step('POST /vpn/orders', 'a subscription that becomes active');
  const plan = plans.find(({ id, available }) => (planId === undefined ? available : id === planId));
  if (plan === undefined) return step.failed('no such plan is for sale');

  const reference = newId();
  const customerPrice = plan.price_for_reseller;
  const body = vpnOrderRequestBytes({ vpnPlanId: plan.id, reference, customerReference: newId(), customerPrice });
  const request = { idempotencyKey: newId(), body, reference, vpnPlanId: plan.id };
  const sentAtMs = now();
  const begun = await client.createVpnOrder(request);
  if (!begun.ok) {
    notePurchase(leg, 'vpn_subscription', observeCall(begun));
    return step.failed(`plan ${plan.id}: ${clause(begun.detail)}`);
  }
  const { id } = begun.value;
  const find = () => client.findVpnSubscriptionsByReference(reference);
  const subscription = await follow(leg, begun.value, () => client.getVpnSubscription(id), find);
  if (subscription.status === 'active') step.ok(`plan ${plan.id}: active`);
  else step.failed(`plan ${plan.id}: ${subscription.status}`);
  const price = notePrice(leg, 'vpn_subscription', plan, subscription);
  const isOwn = (debit: WalletTransaction) =>
    debit.vpn_subscription_id === id || debit.external_subscription_id === reference;
  await noteDebit(leg, 'vpn_subscription', price, isOwn);

  const read = await client.getVpnSubscription(id);
  noteCall(leg, 'vpn_subscription_read', observeCall(read));
  const list = observeCall(await find(), ({ items }) =>
    items.some((item) => item.id === id)
      ? undefined
      : 'it does not contain the new subscription under its external_subscription_id',
  );
  noteCall(leg, 'vpn_subscription_list', list);
  notePurchase(leg, 'vpn_subscription', seenThrough(leg, subscription, read.ok ? read.value : undefined));
  const ageMs = now() - sentAtMs;
  noteRepeat(leg, 'VPN order', ageMs, await client.createVpnOrder(request), (again) => again.id === id);
  if (subscription.status === 'active') await cancelTwice(leg, id);
}

function seenThrough(leg: Leg, subscription: VpnSubscription, read: VpnSubscription | undefined): CallObservation {
  const { status } = subscription;
  if (status !== 'active') return { kind: 'unclear', detail: `the one that was bought is ${status}` };
  const given = subscription.access != null || read?.access != null;
  leg
    .step('its access data', 'in the answer to the order or in a read')
    .expect(given, given ? 'given' : 'access is absent from all answers');
  return given
    ? { kind: 'works', detail: 'one became active, and its access data were read' }
    : { kind: 'differs', detail: 'one became active, and no answer contained its access data' };
}

/** Without a key, a second call after a lost answer must report that the subscription has ended. */
async function cancelTwice(leg: Leg, id: string): Promise<void> {
  for (const [call, expected] of [
    ['POST /vpn/subscriptions/{id}/cancel', 'cancelled'],
    ['the same once more, without a key', 'cancelled already'],
  ] as const) {
    const step = leg.step(call, expected);
    const result = await leg.client.cancelVpnSubscription(id);
    if (!result.ok) return step.failed(clause(result.detail));
    if (result.value.kind === 'already_cancelled') {
      step.ok('the answer says that it is cancelled already');
      continue;
    }
    const { status } = await followCancellation(leg, result.value.subscription);
    step.expect(status === 'cancelled', `the subscription is ${status}`);
  }
}

/** The subscription may stay active for some time. */
async function followCancellation(leg: Leg, subscription: VpnSubscription): Promise<VpnSubscription> {
  if (subscription.status === 'cancelled') return subscription;
  const ended = await until(leg, async () => {
    const read = await leg.client.getVpnSubscription(subscription.id);
    if (!read.ok) return subscription;
    return read.value.status === 'cancelled' ? read.value : undefined;
  });
  return ended ?? subscription;
}
