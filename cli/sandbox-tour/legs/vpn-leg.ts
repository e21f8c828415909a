import { until, type TourContext } from '#cli/sandbox-tour/context.ts';
import type { LegNotes } from '#cli/sandbox-tour/finding.ts';
import { noteCall, notePrice, notePurchase, noteRepeat } from '#cli/sandbox-tour/noting.ts';
import { clause, observeCall, type CallObservation, type OpenObservations } from '#cli/sandbox-tour/observations.ts';
import { follow, observeRepeat } from '#cli/sandbox-tour/purchases.ts';
import { vpnOrderRequestBytes } from '#upstream/client/request-bytes.ts';
import type { VpnPlan, VpnSubscription } from '#upstream/contract.ts';

/**
 * Orders a VPN subscription, looks at it, and cancels it, twice. @param planId the plan; without it the first for sale.
 */
export async function vpnLeg(
  context: TourContext,
  notes: LegNotes,
  observations: OpenObservations,
  plans: readonly VpnPlan[],
  planId: number | undefined,
): Promise<void> {
  const { client, now, newId } = context;
  const [step, expected] = ['POST /vpn/orders', 'a subscription that becomes active'];
  const plan = plans.find(({ id, available }) => (planId === undefined ? available : id === planId));
  if (plan === undefined) return notes.failed(step, expected, 'there is no such plan for sale');

  const reference = newId();
  const customerPrice = plan.price_for_reseller;
  const body = vpnOrderRequestBytes({ vpnPlanId: plan.id, reference, customerReference: newId(), customerPrice });
  const request = { idempotencyKey: newId(), body, reference, vpnPlanId: plan.id };
  const sentAtMs = now();
  const begun = await client.createVpnOrder(request);
  if (!begun.ok) {
    notePurchase(observations, 'vpn_subscription', observeCall(begun));
    return notes.failed(step, expected, `plan ${plan.id}: ${clause(begun.detail)}`);
  }
  const { id } = begun.value;
  const find = async () => await client.findVpnSubscriptionsByReference(reference);
  const subscription = await follow(context, begun.value, () => client.getVpnSubscription(id), find);
  if (subscription.status === 'active') notes.ok(step, expected, `plan ${plan.id}: active`);
  else notes.failed(step, expected, `plan ${plan.id}: ${subscription.status}`);
  notePrice(notes, plan, subscription);

  const read = await client.getVpnSubscription(id);
  noteCall(context, notes, observations, 'vpn_subscription_read', observeCall(read));
  const list = observeCall(await find(), ({ items }) =>
    items.some((item) => item.id === id)
      ? undefined
      : 'the subscription that was just bought is not in it under its external_subscription_id',
  );
  noteCall(context, notes, observations, 'vpn_subscription_list', list);
  notePurchase(observations, 'vpn_subscription', seenThrough(notes, subscription, read.ok ? read.value : undefined));
  const ageMs = now() - sentAtMs;
  noteRepeat(context, notes, observations, observeRepeat('VPN order', id, ageMs, await client.createVpnOrder(request)));
  if (subscription.status === 'active') await cancelTwice(context, notes, id);
}

function seenThrough(
  notes: LegNotes,
  subscription: VpnSubscription,
  read: VpnSubscription | undefined,
): CallObservation {
  const { status } = subscription;
  if (status !== 'active') return { kind: 'unclear', detail: `the one that was bought is ${status}` };
  return noteAccess(notes, [subscription, ...(read === undefined ? [] : [read])])
    ? { kind: 'works', detail: 'one became active, and its access data were read' }
    : { kind: 'differs', detail: 'one became active, and its access data are given nowhere' };
}

function noteAccess(notes: LegNotes, views: readonly VpnSubscription[]): boolean {
  const given = views.some(({ access }) => access != null);
  return notes.expect(
    given,
    'its access data',
    'given with the order or by a read',
    given ? 'given' : 'given nowhere: access is absent',
  );
}

/** Without a key, so a call after a lost answer must find that the subscription has ended. */
async function cancelTwice(context: TourContext, notes: LegNotes, id: string): Promise<void> {
  for (const [step, expected] of [
    ['POST /vpn/subscriptions/{id}/cancel', 'cancelled'],
    ['the same once more, without a key', 'cancelled already'],
  ] as const) {
    const result = await context.client.cancelVpnSubscription(id);
    if (!result.ok) return notes.failed(step, expected, clause(result.detail));
    if (result.value.kind === 'already_cancelled') {
      notes.ok(step, expected, 'it says that it is cancelled already');
      continue;
    }
    const { status } = await followCancellation(context, result.value.subscription);
    notes.expect(status === 'cancelled', step, expected, `the subscription is ${status}`);
  }
}

/** A cancellation may take its time, and the subscription is active until it has come through. */
async function followCancellation(context: TourContext, subscription: VpnSubscription): Promise<VpnSubscription> {
  if (subscription.status === 'cancelled') return subscription;
  const ended = await until(context, async () => {
    const read = await context.client.getVpnSubscription(subscription.id);
    if (!read.ok) return subscription;
    return read.value.status === 'cancelled' ? read.value : undefined;
  });
  return ended ?? subscription;
}
