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
import { follow, observeRepeat } from '#cli/sandbox-tour/purchases.ts';
import { vpnOrderRequestBytes } from '#upstream/client/request-bytes.ts';
import type { VpnPlan, VpnSubscription } from '#upstream/contract.ts';

export async function vpnLeg(leg: Leg, plans: readonly VpnPlan[], planId: number | undefined): Promise<void> {
  const { client, now, newId } = leg;
  const [step, expected] = ['POST /vpn/orders', 'a subscription that becomes active'];
  const plan = plans.find(({ id, available }) => (planId === undefined ? available : id === planId));
  if (plan === undefined) return leg.failed(step, expected, 'no such plan is for sale');

  const reference = newId();
  const customerPrice = plan.price_for_reseller;
  const body = vpnOrderRequestBytes({ vpnPlanId: plan.id, reference, customerReference: newId(), customerPrice });
  const request = { idempotencyKey: newId(), body, reference, vpnPlanId: plan.id };
  const sentAtMs = now();
  const begun = await client.createVpnOrder(request);
  if (!begun.ok) {
    notePurchase(leg, 'vpn_subscription', observeCall(begun));
    return leg.failed(step, expected, `plan ${plan.id}: ${clause(begun.detail)}`);
  }
  const { id } = begun.value;
  const find = async () => await client.findVpnSubscriptionsByReference(reference);
  const subscription = await follow(leg, begun.value, () => client.getVpnSubscription(id), find);
  if (subscription.status === 'active') leg.ok(step, expected, `plan ${plan.id}: active`);
  else leg.failed(step, expected, `plan ${plan.id}: ${subscription.status}`);
  const price = notePrice(leg, 'vpn_subscription', plan, subscription);
  await noteDebit(
    leg,
    'vpn_subscription',
    price,
    ({ vpn_subscription_id: named, external_subscription_id: namedReference }) =>
      named === id || namedReference === reference,
  );

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
  noteRepeat(leg, observeRepeat('VPN order', id, ageMs, await client.createVpnOrder(request)));
  if (subscription.status === 'active') await cancelTwice(leg, id);
}

function seenThrough(leg: Leg, subscription: VpnSubscription, read: VpnSubscription | undefined): CallObservation {
  const { status } = subscription;
  if (status !== 'active') return { kind: 'unclear', detail: `the one that was bought is ${status}` };
  return noteAccess(leg, [subscription, ...(read === undefined ? [] : [read])])
    ? { kind: 'works', detail: 'one became active, and its access data were read' }
    : { kind: 'differs', detail: 'one became active, and no answer contained its access data' };
}

function noteAccess(leg: Leg, answers: readonly VpnSubscription[]): boolean {
  const given = answers.some(({ access }) => access != null);
  return leg.expect(
    given,
    'its access data',
    'in the answer to the order or in a read',
    given ? 'given' : 'access is absent from all answers',
  );
}

/** Without a key, a second call after a lost answer must report that the subscription has ended. */
async function cancelTwice(leg: Leg, id: string): Promise<void> {
  for (const [step, expected] of [
    ['POST /vpn/subscriptions/{id}/cancel', 'cancelled'],
    ['the same once more, without a key', 'cancelled already'],
  ] as const) {
    const result = await leg.client.cancelVpnSubscription(id);
    if (!result.ok) return leg.failed(step, expected, clause(result.detail));
    if (result.value.kind === 'already_cancelled') {
      leg.ok(step, expected, 'the answer says that it is cancelled already');
      continue;
    }
    const { status } = await followCancellation(leg, result.value.subscription);
    leg.expect(status === 'cancelled', step, expected, `the subscription is ${status}`);
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
