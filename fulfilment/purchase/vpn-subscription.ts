import { accessAad, customerReferenceAad } from '#db/encryption-aads.ts';
import { chargedOf } from '#db/work/attempts.ts';
import {
  vpnSubscriptionRow,
  type AttemptRow,
  type VpnSubscriptionRow,
  lockUnfinishedWork,
  lockWork,
} from '#db/work/rows.ts';
import { readVpnSubscription } from '#db/work/vpn-subscriptions.ts';
import { isSoldAtLoss } from '#domain/pricing/suggested-price.ts';
import type { SubscriptionSnapshot } from '#domain/purchase/results.ts';
import type { ObservedOutcome } from '#domain/relay/observation.ts';
import { attemptReference } from '#domain/work/identifiers.ts';
import type { AttemptReport } from '#fulfilment/attempts/report.ts';
import { reportCharge } from '#fulfilment/books/charges.ts';
import { NotYetError } from '#fulfilment/purchase/deliver.ts';
import type { Found, LookUpResult, WorkHandler, WorkDependencies } from '#fulfilment/purchase/handler.ts';
import {
  resultsByReference,
  resultById,
  resultOfList,
  ownReference,
  purchaseReport,
  sinceFirstSend,
} from '#fulfilment/purchase/listing.ts';
import { lookUpAndStore } from '#fulfilment/purchase/look-up.ts';
import { notListed, refusal, unreadOffer } from '#fulfilment/purchase/offer.ts';
import { completeWork, recordStep } from '#fulfilment/work/record-step.ts';
import type { SubscriptionReport } from '#fulfilment/work/subscription.ts';
import { vpnOrderRequestBytes } from '#upstream/client/request-bytes.ts';
import { givesAccess, type VpnAccess, type VpnSubscription } from '#upstream/contract.ts';

export function vpnSubscriptionHandler(dependencies: WorkDependencies): WorkHandler {
  const { database, keyRing, service, now } = dependencies;

  const lookUp = async (attempt: AttemptRow): Promise<LookUpResult<VpnSubscription>> => {
    const { serviceId, subjectId } = attempt;
    const found = (subscription: VpnSubscription) => foundAs(subscription, encrypt(subjectId));
    const byId = serviceId === null ? undefined : resultById(await service.getVpnSubscription(serviceId), found);
    if (byId !== undefined && !isUnfilled(byId)) return byId;
    // Some services give the access data in their list only.
    const list = await service.findVpnSubscriptionsByReference(ownReference(attempt));
    const listed = resultOfList(list, { found, noun: 'subscriptions' });
    return byId === undefined || isSameFilled(byId, listed) ? listed : byId;
  };

  const lookUpMany: WorkHandler['lookUpMany'] = async (attempts, { maxPages }) => {
    const since = Math.min(...attempts.map(sinceFirstSend));
    return resultsByReference(await service.listRecentVpnSubscriptions({ since, maxPages }), attempts, {
      found: (subscription, { subjectId }) => foundAs(subscription, encrypt(subjectId)),
      noun: 'subscriptions',
      namesOf: ({ id, external_subscription_id: reference }) => ({ id, reference }),
    });
  };

  /** @throws NotYetError while the service does not answer, or gives no access data. */
  const fill = async (known: AttemptRow): Promise<AttemptRow | { readonly drift: string; readonly isOurs?: false }> => {
    const isFilled = async () => {
      const { encryptedAccess, endedAs } = await database.run((db) => readVpnSubscription(db, known.subjectId));
      // A subscription that has ended gives nobody access any more.
      return encryptedAccess !== null || endedAs !== null;
    };
    // The answer to the order may contain everything.
    if (known.chargedAmount !== null && (await isFilled())) return known;
    const { attempt, lookedUp } = await lookUpAndStore(dependencies, lookUp, known);
    if (lookedUp.kind === 'not_ours') return { drift: lookedUp.detail, isOurs: false };
    // Without the price it can still be completed; the books get the price from the wallet.
    if (await isFilled()) return attempt;
    switch (lookedUp.kind) {
      case 'not_found':
        throw new NotYetError('not_listed', 'The service does not list the subscription (yet).');
      case 'unavailable':
        throw new NotYetError(lookedUp.failure.class, lookedUp.failure.detail);
      case 'found':
        if (lookedUp.record.misstated?.includes('access') === true)
          return { drift: 'The service gives the access data in a form that cannot be read.' };
        throw new NotYetError('not_filled', 'The service gives no access data (yet).');
    }
  };

  return {
    async prepare(_db, row, number) {
      const { id, vpnPlanId, customerPrice, ...stored } = vpnSubscriptionRow(row);
      const reference = attemptReference(stored.externalSubscriptionId, stored.referenceUse, number);
      const customerReference = keyRing.decryptText(
        stored.encryptedCustomerReference,
        customerReferenceAad('vpn_subscription', id),
      );
      const body = vpnOrderRequestBytes({ vpnPlanId, reference, customerReference, customerPrice });
      return Promise.resolve({ reference, body });
    },

    async examine(row) {
      const { vpnPlanId, customerPrice, customerPriceCurrency } = vpnSubscriptionRow(row);
      const plans = await service.listVpnPlans();
      if (!plans.ok) return { objection: unreadOffer(plans, 'The plans') };
      const plan = plans.value.items.find((each) => each.id === vpnPlanId);
      const notSold = 'The service does not sell this plan.';
      if (plan === undefined) return { objection: notListed(plans.value, 'package_unavailable', notSold) };
      if (!plan.available) return { objection: refusal('package_unavailable', notSold) };
      const price = { amount: plan.price_for_reseller, currency: plan.currency };
      const paid = { amount: customerPrice, currency: customerPriceCurrency };
      if (paid.currency !== price.currency) {
        const detail = `The price is in ${price.currency}, and what the customer pays in ${paid.currency}.`;
        return { objection: refusal('margin_too_low', detail) };
      }
      if (isSoldAtLoss(price, paid)) {
        const detail = `The price is ${price.amount} ${price.currency}, above what the customer pays.`;
        return { objection: refusal('margin_too_low', detail) };
      }
      return { price };
    },

    async send(attempt, row, body, leaseLeftMs) {
      const { idempotencyKey, subjectId } = attempt;
      const { vpnPlanId } = vpnSubscriptionRow(row);
      const reference = ownReference(attempt);
      const answer = await service.createVpnOrder({ idempotencyKey, reference, vpnPlanId, body, leaseLeftMs });
      return answer.ok ? { ...answer, value: summaryColumns(answer.value, encrypt(subjectId)) } : answer;
    },

    lookUp,
    lookUpMany,

    async complete(known, applied) {
      const { subjectId: id } = known;
      const attempt = await fill(known);
      if ('drift' in attempt) {
        const { drift: detail, ...whose } = attempt;
        return { kind: 'unreadable', detail, ...whose };
      }
      const work = { kind: 'vpn_subscription', id } as const;
      const charged = chargedOf(attempt);
      await database.transaction(async (tx) => {
        const row = await lockWork(tx, work);
        // A run that starts again finds an earlier purchase.
        if (row.completedAt !== null) {
          // The result of the completion was lost, and the workflow has set the work back to `processing` since.
          const event = 'vpn_subscription.active_again';
          const message = 'The VPN subscription is active; this was already stored.';
          if (row.status === 'processing')
            await recordStep(tx, { work, status: 'active', event, message, applied }, new Date(now()));
          return;
        }
        // The access data came with the answer to the order or with the look-up above.
        const hasAccess = (await readVpnSubscription(tx, id)).encryptedAccess !== null;
        const message =
          'The VPN subscription is ' +
          `active${hasAccess ? '; its access data are stored.' : '. It has ended, without access data.'}`;
        const completion = { attemptId: attempt.id, status: 'active', charged, entry: { message }, applied } as const;
        await completeWork(tx, work, await lockUnfinishedWork(tx, work), completion, new Date(now()));
        await reportCharge(tx, attempt, charged, new Date(now()));
      });
      return { kind: 'completed' };
    },

    subscription: async (db, id) => subscriptionSnapshot(await readVpnSubscription(db, id)),
  };

  function encrypt(id: string) {
    return (access: VpnAccess) => keyRing.encrypt(JSON.stringify(access), accessAad(id));
  }
}

export function subscriptionReport(
  { status, started_at: startedAt, expires_at: expiresAt, access }: VpnSubscription,
  encrypt: (access: VpnAccess) => Buffer,
): SubscriptionReport {
  return {
    startedAt: startedAt == null ? undefined : new Date(startedAt),
    expiresAt: expiresAt == null ? undefined : new Date(expiresAt),
    endedAs: status === 'cancelled' || status === 'expired' ? status : undefined,
    encryptedAccess: givesAccess(access) ? encrypt(access) : undefined,
  };
}

function subscriptionSnapshot(row: VpnSubscriptionRow): SubscriptionSnapshot {
  return {
    isActive: row.completedAt !== null,
    cancelRequested: row.cancelRequestedAt !== null,
    ...(row.endedAs !== null && { endedAs: row.endedAs }),
    ...(row.cancelAcceptedAt !== null && { cancelAcceptedAt: row.cancelAcceptedAt.getTime() }),
    ...(row.expiresAt !== null && { expiresAt: row.expiresAt.getTime() }),
  };
}

function isUnfilled(result: LookUpResult<VpnSubscription>): boolean {
  return result.kind === 'found' && result.record.status === 'active' && !givesAccess(result.record.access);
}

function isSameFilled(byId: LookUpResult<VpnSubscription>, listed: LookUpResult<VpnSubscription>): boolean {
  if (byId.kind !== 'found' || listed.kind !== 'found') return false;
  return listed.record.id === byId.record.id && listed.record.status === 'active' && !isUnfilled(listed);
}

/** A subscription that has ended was bought before. */
const OUTCOMES = {
  processing: 'processing',
  active: 'completed',
  cancelled: 'completed',
  expired: 'completed',
  failed: 'failed',
} as const satisfies Record<VpnSubscription['status'], ObservedOutcome>;

type Encrypt = (access: VpnAccess) => Buffer;

function summaryColumns(subscription: VpnSubscription, encrypt: Encrypt): AttemptReport {
  return {
    // The request has the reference of the customer.
    ...purchaseReport(subscription, OUTCOMES[subscription.status], true),
    subscription: subscriptionReport(subscription, encrypt),
  };
}

function foundAs(subscription: VpnSubscription, encrypt: Encrypt): Found<VpnSubscription> {
  return {
    kind: 'found',
    facts: summaryColumns(subscription, encrypt),
    record: subscription,
    event: `vpn.subscription.${subscription.status}`,
  };
}
