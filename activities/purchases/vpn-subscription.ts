import { ApplicationFailure } from '@temporalio/common';
import { isDefinite } from '#domain/failure.ts';
import { attemptReference } from '#domain/identifiers.ts';
import { compareMoney } from '#domain/money.ts';
import type { ObservedOutcome } from '#domain/observation.ts';
import { chargedOf, type AttemptRow, type ServiceFacts } from '#db/attempts.ts';
import { openCase } from '#db/cases.ts';
import { completeWork, lockWork } from '#db/work.ts';
import {
  accessPlace,
  customerReferencePlace,
  readVpnSubscription,
  storeSubscriptionFacts,
  type SubscriptionFacts,
  type VpnSubscriptionRow,
} from '#db/vpn-subscriptions.ts';
import type { VpnSubscription } from '#upstream/contract.ts';
import { chargeOf } from '#upstream/event-parsing.ts';
import { vpnOrderRequestBytes } from '#upstream/request-bytes.ts';
import { noteOf, type WorkDependencies } from '#activities/work-context.ts';
import { inquiryOf } from '#activities/purchases/inquiry.ts';
import type { Inquiry, PurchaseKind } from '#activities/purchases/kind.ts';
import { learn } from '#activities/purchases/learn.ts';
import { exceedsLimit, priceAboveLimit, priceLimit, refusal } from '#activities/purchases/price.ts';
import { namesNothing } from '#activities/purchases/wallet.ts';
import type { SubscriptionView } from '#activities/work-types.ts';

/** How a VPN subscription is bought: the plans are read, then `POST /vpn/orders`, found again by our reference. */
export function vpnSubscriptionPurchases(dependencies: WorkDependencies): PurchaseKind {
  const { database, keyRing, service, now } = dependencies;

  const ask = async ({ serviceId, reference }: AttemptRow): Promise<Inquiry<VpnSubscription>> => {
    if (serviceId !== null) {
      const read = await service.getVpnSubscription(serviceId);
      if (read.ok) return found(read.value);
      if (read.kind === 'failure' && read.status !== 404) return { kind: 'unavailable', failure: noteOf(read) };
    }
    return inquiryOf(await service.findVpnSubscriptionsByReference(ownReference(reference)), { found, noun: 'subscriptions' });
  };

  return {
    async prepare(db, id, number) {
      const row = await readVpnSubscription(db, id);
      const reference = attemptReference(row.externalSubscriptionId, number);
      const customerReference = keyRing.openText(row.sealedCustomerReference, customerReferencePlace(id));
      const { vpnPlanId, customerPrice } = row;
      return { reference, body: vpnOrderRequestBytes({ vpnPlanId, reference, customerReference, customerPrice }) };
    },

    async examine(id) {
      const row = await database.run((db) => readVpnSubscription(db, id));
      const plans = await service.listVpnPlans();
      if (!plans.ok) {
        return isDefinite(plans.failure) ? plans : refusal('not_sent', 'The plans could not be read, so nothing was sent.');
      }
      const plan = plans.value.items.find((each) => each.id === row.vpnPlanId);
      if (plan === undefined || !plan.available) return refusal('package_unavailable', 'The service does not sell this plan.');
      const price = { amount: plan.price_for_reseller, currency: plan.currency };
      if (compareMoney(price, { amount: row.customerPrice, currency: price.currency }) > 0) {
        return refusal('margin_too_low', `The price is ${price.amount} ${price.currency}, above what the customer pays.`);
      }
      return priceAboveLimit(priceLimit(row), price);
    },

    async send({ idempotencyKey, reference }, body) {
      const answer = await service.createVpnOrder({ idempotencyKey, reference: ownReference(reference), body });
      return answer.ok ? { ...answer, value: factsOf(answer.value) } : answer;
    },

    ask,

    owns: ({ serviceId, reference }, { vpn_subscription_id: id, external_subscription_id: named }) =>
      (id != null && id === serviceId) || (named != null && named === reference),

    isAnonymous: namesNothing,

    async complete(known, applied) {
      const { attempt, inquiry } = await learn(dependencies, ask, known);
      if (inquiry.kind === 'not_found') {
        throw ApplicationFailure.retryable('The service does not list the subscription (yet).', 'NotListed');
      }
      // Where it cannot be read at all, its access data come with no answer; it is active all the same.
      if (inquiry.kind === 'unavailable' && inquiry.failure.class !== 'contract_drift') {
        throw ApplicationFailure.retryable(inquiry.failure.detail, inquiry.failure.class);
      }
      const { subjectId: id } = attempt;
      const work = { kind: 'vpn_subscription', id } as const;
      const facts = inquiry.kind === 'found' ? subscriptionFacts(inquiry.record, seal(id)) : {};
      const charged = chargedOf(attempt);
      await database.transaction(async (tx) => {
        const row = await lockWork(tx, work);
        await storeSubscriptionFacts(tx, id, facts);
        // A run that begins anew finds what was bought before.
        if (row.completedAt !== null) return;
        const hasAccess = facts.sealedAccess !== undefined;
        const message = `The VPN subscription is active${hasAccess ? '; its access data are stored.' : '. The service gave no access data.'}`;
        const completion = { attemptId: attempt.id, status: 'active', charged, entry: { message }, applied } as const;
        await completeWork(tx, work, completion, new Date(now()));
        if (charged !== undefined && exceedsLimit(priceLimit(row), charged)) {
          await openCase(tx, work, 'charged_above_limit', `The service charged ${charged.amount} ${charged.currency}.`);
        }
      });
      return { kind: 'completed' };
    },

    subscription: async (db, id) => subscriptionView(await readVpnSubscription(db, id)),
  };

  function seal(id: string) {
    return (access: NonNullable<VpnSubscription['access']>) => keyRing.seal(JSON.stringify(access), accessPlace(id));
  }
}

/** What a record of the service says beyond the purchase. */
export function subscriptionFacts(
  { status, started_at: startedAt, expires_at: expiresAt, access }: VpnSubscription,
  seal: (access: NonNullable<VpnSubscription['access']>) => Buffer,
): SubscriptionFacts {
  return {
    startedAt: startedAt == null ? undefined : new Date(startedAt),
    expiresAt: expiresAt == null ? undefined : new Date(expiresAt),
    endedAs: status === 'cancelled' || status === 'expired' ? status : undefined,
    sealedAccess: access == null ? undefined : seal(access),
  };
}

function subscriptionView(row: VpnSubscriptionRow): SubscriptionView {
  return {
    isActive: row.completedAt !== null,
    cancelRequested: row.cancelRequestedAt !== null,
    cancelAccepted: row.cancelAcceptedAt !== null,
    ...(row.endedAs !== null && { endedAs: row.endedAs }),
    ...(row.expiresAt !== null && { expiresAt: row.expiresAt.getTime() }),
  };
}

/** What has ended was bought before. */
const OUTCOMES = {
  processing: 'processing',
  active: 'completed',
  cancelled: 'completed',
  expired: 'completed',
  failed: 'failed',
} as const satisfies Record<VpnSubscription['status'], ObservedOutcome>;

function found(subscription: VpnSubscription): Extract<Inquiry<VpnSubscription>, { kind: 'found' }> {
  const { status } = subscription;
  return { kind: 'found', facts: factsOf(subscription), record: subscription, event: `vpn.subscription.${status}` };
}

function factsOf(subscription: VpnSubscription): ServiceFacts {
  const { id, status, failure } = subscription;
  return {
    outcome: OUTCOMES[status],
    serviceId: id,
    charged: chargeOf(subscription),
    failureDetail: failure == null ? undefined : `The service reports: ${failure.code}.`,
  };
}

function ownReference(reference: AttemptRow['reference']): string {
  if (reference === null) throw new Error('an attempt of a VPN subscription has no reference');
  return reference;
}
