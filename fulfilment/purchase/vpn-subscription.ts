import type { KeyRing } from '#crypto/key-ring.ts';
import type { Executor } from '#db/connection/database.ts';
import { accessAad, customerReferenceAad } from '#db/encryption-aads.ts';
import { chargedOf, currentAttempt } from '#db/work/attempts.ts';
import {
  vpnSubscriptionRow,
  WorkFinishedError,
  type AttemptRow,
  type VpnSubscriptionRow,
  type WorkRow,
  lockUnfinishedWork,
  lockWork,
} from '#db/work/rows.ts';
import { addTimelineEntry } from '#db/work/timeline.ts';
import { readVpnSubscription } from '#db/work/vpn-subscriptions.ts';
import { isSoldAtLoss } from '#domain/pricing/suggested-price.ts';
import type {
  CompletionResult,
  SubscriptionSnapshot,
  CancellationResult,
  SubscriptionLookUp,
} from '#domain/purchase/results.ts';
import type { ObservedOutcome, Report } from '#domain/relay/observation.ts';
import type { FailureClass } from '#domain/work/failure.ts';
import { attemptReference } from '#domain/work/identifiers.ts';
import type { WorkRef } from '#domain/work/kinds.ts';
import { isFinal } from '#domain/work/lifecycle.ts';
import { reportCharge } from '#fulfilment/books/charges.ts';
import type { WorkDependencies } from '#fulfilment/purchase/dependencies.ts';
import {
  resultsByReference,
  resultById,
  resultOfList,
  filledResult,
  notYet,
  notYetShown,
  ownReference,
  purchaseReport,
  sinceFirstSend,
  storeLookUp,
  type Found,
  type LookUpResult,
} from '#fulfilment/purchase/listing.ts';
import { notListed, refusal, unreadOffer, type Offer, failureNote } from '#fulfilment/purchase/offer.ts';
import { completeWork, recordStep } from '#fulfilment/work/record-step.ts';
import { noteCancelAccepted, storeSubscriptionReport } from '#fulfilment/work/subscription.ts';
import type { ServiceResult, ServiceFailure } from '#upstream/client/error-mapping.ts';
import { vpnOrderRequestBytes } from '#upstream/client/request-bytes.ts';
import { givesAccess, type VpnSubscription } from '#upstream/contract.ts';

export async function prepare({ keyRing }: WorkDependencies, _db: Executor, row: WorkRow, number: number) {
  const { id, vpnPlanId, customerPrice, ...stored } = vpnSubscriptionRow(row);
  const reference = attemptReference(stored.externalSubscriptionId, stored.referenceUse, number);
  const aad = customerReferenceAad('vpn_subscription', id);
  const customerReference = keyRing.decryptText(stored.encryptedCustomerReference, aad);
  const body = vpnOrderRequestBytes({ vpnPlanId, reference, customerReference, customerPrice });
  return Promise.resolve({ reference, body });
}

export async function examine({ service }: WorkDependencies, row: WorkRow): Promise<Offer> {
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
}

export async function send(
  { service, keyRing }: WorkDependencies,
  attempt: AttemptRow,
  row: WorkRow,
  body: Buffer,
  leaseLeftMs: () => number,
): Promise<ServiceResult<Report>> {
  const { idempotencyKey, subjectId } = attempt;
  const { vpnPlanId } = vpnSubscriptionRow(row);
  const reference = ownReference(attempt);
  const answer = await service.createVpnOrder({ idempotencyKey, reference, vpnPlanId, body, leaseLeftMs });
  return answer.ok ? { ...answer, value: subscriptionReport(keyRing, subjectId, answer.value) } : answer;
}

export async function lookUp(
  { service, keyRing }: WorkDependencies,
  attempt: AttemptRow,
): Promise<LookUpResult<VpnSubscription>> {
  const { serviceId, subjectId } = attempt;
  const found = (subscription: VpnSubscription) => foundAs(keyRing, subjectId, subscription);
  const byId = serviceId === null ? undefined : resultById(await service.getVpnSubscription(serviceId), found);
  const isFilled = ({ status, access }: VpnSubscription) => (status === 'active' ? givesAccess(access) : undefined);
  return filledResult(byId, isFilled, async () =>
    resultOfList(await service.findVpnSubscriptionsByReference(ownReference(attempt)), {
      found,
      noun: 'subscriptions',
    }),
  );
}

export async function lookUpMany(
  { service, keyRing }: WorkDependencies,
  attempts: readonly AttemptRow[],
  maxPages: number,
): Promise<ReadonlyMap<string, Found> | undefined> {
  const since = Math.min(...attempts.map(sinceFirstSend));
  return resultsByReference(
    await service.listRecentVpnSubscriptions({ since, maxPages }),
    attempts,
    (subscription, { subjectId }) => foundAs(keyRing, subjectId, subscription),
    ({ id, external_subscription_id: reference }) => ({ id, reference }),
  );
}

function foundAs(keyRing: KeyRing, workId: string, subscription: VpnSubscription): Found<VpnSubscription> {
  const report = subscriptionReport(keyRing, workId, subscription);
  return { kind: 'found', report, record: subscription, event: `vpn.subscription.${subscription.status}` };
}

/** A subscription that has ended was bought before. */
const OUTCOMES = {
  processing: 'processing',
  active: 'completed',
  cancelled: 'completed',
  expired: 'completed',
  failed: 'failed',
} as const satisfies Record<VpnSubscription['status'], ObservedOutcome>;

function subscriptionReport(keyRing: KeyRing, workId: string, subscription: VpnSubscription): Report {
  const { status, started_at: startedAt, expires_at: expiresAt, access } = subscription;
  return {
    ...purchaseReport(subscription, OUTCOMES[status]),
    startedAt: startedAt ?? undefined,
    expiresAt: expiresAt ?? undefined,
    endedAs: status === 'cancelled' || status === 'expired' ? status : undefined,
    encryptedAccess: givesAccess(access) ? keyRing.encrypt(JSON.stringify(access), accessAad(workId)) : undefined,
  };
}

export async function complete(
  dependencies: WorkDependencies,
  known: AttemptRow,
  applied: readonly string[],
): Promise<CompletionResult> {
  const { database } = dependencies;
  const { id: attemptId, subjectId: id } = known;
  const isFilled = async () => {
    const { encryptedAccess, endedAs } = await database.run((db) => readVpnSubscription(db, id));
    // A subscription that has ended gives nobody access any more.
    return encryptedAccess !== null || endedAs !== null;
  };
  // The answer to the order may contain everything.
  const isWhole = known.chargedAmount !== null && (await isFilled());
  const { attempt, lookedUp } = isWhole
    ? { attempt: known }
    : await storeLookUp(dependencies, known, await lookUp(dependencies, known));
  if (lookedUp?.kind === 'not_ours') return { kind: 'unreadable', isOurs: false, detail: lookedUp.detail };
  // Without the price it can still be completed; the books get the price from the wallet.
  if (lookedUp !== undefined && !(await isFilled())) {
    if (lookedUp.kind !== 'found') return notYetShown(lookedUp, 'The service does not list the subscription (yet).');
    return lookedUp.record.misstated?.includes('access') === true
      ? { kind: 'unreadable', detail: 'The service gives the access data in a form that cannot be read.' }
      : notYet('not_filled', 'The service gives no access data (yet).');
  }

  const work = { kind: 'vpn_subscription', id } as const;
  const charged = chargedOf(attempt);
  const now = new Date(dependencies.now());
  await database.transaction(async (tx) => {
    const row = await lockWork(tx, work);
    // A run that starts again finds an earlier purchase.
    if (row.completedAt !== null) {
      // The result of the completion was lost, and the workflow has set the work back to `processing` since.
      const event = 'vpn_subscription.active_again';
      const message = 'The VPN subscription is active; this was already stored.';
      if (row.status === 'processing') await recordStep(tx, { work, status: 'active', event, message, applied }, now);
      return;
    }
    if (isFinal(row.status)) throw new WorkFinishedError(work, row.status);
    // The access data came with the answer to the order or with the look-up above.
    const hasAccess = vpnSubscriptionRow(row).encryptedAccess !== null;
    const message =
      'The VPN subscription is ' +
      `active${hasAccess ? '; its access data are stored.' : '. It has ended, without access data.'}`;
    const completion = { attemptId, status: 'active', charged, entry: { message }, applied } as const;
    await completeWork(tx, work, row, completion, now);
    await reportCharge(tx, attempt, charged, now);
  });
  return { kind: 'completed' };
}

export function subscriptionSnapshot(row: VpnSubscriptionRow): SubscriptionSnapshot {
  return {
    isActive: row.completedAt !== null,
    cancelRequested: row.cancelRequestedAt !== null,
    endedAs: row.endedAs ?? undefined,
    cancelAcceptedAt: row.cancelAcceptedAt?.getTime(),
    expiresAt: row.expiresAt?.getTime(),
  };
}

/** Failures that a repeated call would give again. */
const REFUSALS: ReadonlySet<FailureClass> = new Set(['cancellation_refused', 'invalid_request']);

export async function cancelSubscription(
  dependencies: WorkDependencies,
  { work }: { readonly work: WorkRef },
): Promise<CancellationResult> {
  const { database, service, now } = dependencies;
  const answer = await service.cancelVpnSubscription(await serviceIdOf(dependencies, work));
  if (!answer.ok) {
    const isRefused = answer.status !== undefined && REFUSALS.has(answer.failure);
    return isRefused ? { kind: 'refused', detail: answer.detail } : unavailable(answer);
  }
  const { value } = answer;
  await database.transaction(async (tx) => {
    const row = vpnSubscriptionRow(await lockUnfinishedWork(tx, work));
    const endedAs = value.kind === 'already_cancelled' ? 'cancelled' : undefined;
    await noteCancelAccepted(tx, row, endedAs, new Date(now()));
    const event = 'vpn_subscription.cancel_accepted';
    const message = 'The service has accepted the cancellation.';
    await addTimelineEntry(tx, work, { event, message, dedupKey: event });
  });
  if (value.kind === 'accepted') await store(dependencies, work, value.subscription);
  return { kind: 'accepted' };
}

export async function lookUpSubscription(
  dependencies: WorkDependencies,
  { work }: { readonly work: WorkRef },
): Promise<SubscriptionLookUp> {
  const read = await dependencies.service.getVpnSubscription(await serviceIdOf(dependencies, work));
  if (read.ok) {
    await store(dependencies, work, read.value);
    return { kind: 'found' };
  }
  if (read.kind === 'unsupported')
    return { kind: 'not_known', detail: 'This service has no call that reads a subscription.' };
  // A proxy or a wrong address may answer 404, too: only the service's own code proves it.
  if (read.status === 404 && read.code === 'not_found')
    return { kind: 'not_known', detail: 'The service no longer knows this subscription.' };
  return unavailable(read);
}

/** @throws Error when nothing was bought; no workflow calls it then. */
async function serviceIdOf({ database }: WorkDependencies, work: WorkRef): Promise<string> {
  const attempt = await database.run((db) => currentAttempt(db, work));
  if (attempt?.serviceId == null) throw new Error(`${work.id} has no id of the service`);
  return attempt.serviceId;
}

async function store({ database, keyRing, now }: WorkDependencies, work: WorkRef, subscription: VpnSubscription) {
  const report = subscriptionReport(keyRing, work.id, subscription);
  await database.transaction(async (tx) => {
    await lockUnfinishedWork(tx, work);
    await storeSubscriptionReport(tx, work.id, report, new Date(now()));
  });
}

/** Proves nothing about the subscription: the workflow waits and tries again. */
function unavailable(failed: ServiceFailure) {
  const { retryAfterMs } = failed;
  return {
    kind: 'unavailable',
    failure: failureNote(failed),
    ...(retryAfterMs !== undefined && { retryAfterMs }),
  } as const;
}
