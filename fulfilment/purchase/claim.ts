import { randomUUID } from 'node:crypto';
import { performance } from 'node:perf_hooks';
import { eq, sql } from 'drizzle-orm';
import { type Executor, sendTogether } from '#db/connection/database.ts';
import { lockEsim } from '#db/esims/esim-queries.ts';
import { attempts, walletReadings } from '#db/schema.ts';
import { currentAttempt, limitOf, lockAttempt, type LockedAttempt } from '#db/work/attempts.ts';
import { type WorkRow, type AttemptRow, lockUnfinishedWork } from '#db/work/rows.ts';
import type { GateStop } from '#domain/gate/purchase-gate.ts';
import type { Money } from '#domain/money/money.ts';
import { hasLostRecords } from '#domain/purchase/recovery.ts';
import type { PurchaseActivities, SendResult } from '#domain/purchase/results.ts';
import {
  isOutcomeUnknown,
  resendWindowInForce,
  decideSendClaim,
  looserLimit,
  type PriceLimit,
} from '#domain/purchase/send-claim.ts';
import { givesUpAt, type RetryRule } from '#domain/retry/retry-rules.ts';
import { isKnownToService, attemptStateAfter } from '#domain/work/attempt-lifecycle.ts';
import { isSuperseded } from '#domain/work/lifecycle.ts';
import { abandonIfCancelled } from '#fulfilment/accept/batch.ts';
import type { Reserved } from '#fulfilment/gate/account.ts';
import { recordSend } from '#fulfilment/purchase/answer.ts';
import type { WorkDependencies } from '#fulfilment/purchase/dependencies.ts';
import { passGate, reservePrice } from '#fulfilment/purchase/gate.ts';
import { priceLimit, priceObjection, type Offer } from '#fulfilment/purchase/offer.ts';
import { readClaimConditions } from '#fulfilment/work/buying-block.ts';
import { startSend } from '#fulfilment/work/change.ts';
import type { ServiceFailure } from '#upstream/client/error-mapping.ts';

export type SendRequest = Parameters<PurchaseActivities['sendPurchase']>[0];

/** The right to send once. */
export interface ClaimedSend {
  readonly kind: 'claimed';
  /** As it was when the send was claimed. */
  readonly row: WorkRow;
  readonly attempt: AttemptRow;
  /** Undefined for work that costs nothing. */
  readonly reserved: Reserved | undefined;
  readonly lease: RunningLease;
}

export type Claim =
  | ClaimedSend
  | { readonly kind: 'gated'; readonly stop: GateStop }
  /** Its batch was cancelled, and it has bought nothing: it is abandoned now. */
  | { readonly kind: 'cancelled' }
  /** This worker was frozen, or cut off from Temporal: a later workflow task has decided newer steps. */
  | { readonly kind: 'superseded' }
  /** The offer does not allow it. That is stored already, as the result of a send. */
  | { readonly kind: 'objected'; readonly result: SendResult; readonly objection: ServiceFailure }
  /** `attempt` as it was under its lock; absent: it is not known yet. */
  | { readonly kind: 'unsent'; readonly outcome: SendResult['outcome']; readonly attempt?: AttemptRow };

/** What the service offers, as `examine` has read it. */
export interface Examined {
  readonly offer: Offer;
  /** The price was read for this send. */
  readonly isPriceFresh: boolean;
}

/** Locks the work, then the attempt, then the account. */
export async function claim(dependencies: WorkDependencies, request: SendRequest, examined: Examined): Promise<Claim> {
  const attemptTo = async (reservesLast: boolean) => {
    // Measured from before the transaction: the lease that PostgreSQL grants in it ends later than this one.
    const lease = startLease(dependencies);
    return dependencies.database.transaction(async (tx) => {
      const row = await lockUnfinishedWork(tx, request.work);
      return claimLocked(tx, dependencies, request, { ...examined, lease, reservesLast, row });
    });
  };
  try {
    return await attemptTo(true);
  } catch (error) {
    if (!(error instanceof StoppedByAccount)) throw error;
    return attemptTo(false);
  }
}

/** The account stops a claim that `reservesLast`. Its lease is rolled back with the transaction. */
export class StoppedByAccount extends Error {}

interface LockedForClaim extends Examined {
  readonly lease: RunningLease;
  /**
   * All claims wait for the lock of the account. Mostly it stops nothing, so it is taken right before the commit. When
   * it does, the claim is to begin again without this.
   */
  readonly reservesLast: boolean;
  /** Locked in this transaction. */
  readonly row: WorkRow;
  /**
   * `prepared`, so it has no lease; the lock of the work is enough to change it. Absent: the attempt is locked and read
   * here.
   */
  readonly preparedAttempt?: AttemptRow;
}

/** With the work locked. @throws StoppedByAccount */
export async function claimLocked(
  tx: Executor,
  dependencies: WorkDependencies,
  { work, attemptId, resendWindowMs, retryRule, witness, task }: SendRequest,
  { offer, isPriceFresh, lease, reservesLast, row, preparedAttempt }: LockedForClaim,
): Promise<Claim> {
  const { sendLeaseMs, purchaseInForce, now } = dependencies;
  const unsent = (outcome: SendResult['outcome']) => ({ kind: 'unsent', outcome }) as const;
  if (task !== undefined && row.recordedIn !== null && isSuperseded(task, row.recordedIn))
    return { kind: 'superseded' };
  const cancelled = await abandonIfCancelled(tx, work, row, new Date(now()));
  if (cancelled === 'abandoned') return { kind: 'cancelled' };
  if (cancelled === 'not_compared') return unsent({ kind: 'not_current' });
  const { block, isGateClear } = await readClaimConditions(tx, work);
  if (block !== undefined) return unsent({ kind: 'barred', by: block });
  const limit = priceLimit(row);
  const objection = offer.objection ?? (await offer.recheck?.(tx)) ?? priceObjection(limit, offer.price, isPriceFresh);
  const locked =
    preparedAttempt === undefined
      ? await lockAttempt(tx, attemptId)
      : { ...preparedAttempt, leaseLeftMs: null, unrefusedForMs: null };

  // May it buy?
  if (hasLostRecords(witness, locked)) return unsent({ kind: 'records_lost' });
  // Since this attempt was opened, an operator may have found that an earlier one was bought.
  if (locked.number > 1 && (await currentAttempt(tx, work))?.id !== locked.id) return unsent({ kind: 'not_current' });
  // The workflow has checked it, too. But the activity may have waited for a worker since.
  if (isLate(row, retryRule, now()) && cannotHaveBought(locked))
    return unsent({ kind: 'failure', failure: 'deadline_passed' });
  // Read here, not from the workflow's input: an operator may have revoked resending since.
  const window = isOutcomeUnknown(locked) ? resendWindowInForce(resendWindowMs, await purchaseInForce(tx)) : undefined;
  const refusal = refusalOf(locked, window);
  if (refusal !== undefined) return { kind: 'unsent', outcome: refusal, attempt: locked };
  if (row.esimId !== null && (await isBusy(tx, row.esimId, attemptId)))
    return unsent({ kind: 'failure', failure: 'esim_busy' });

  // Reserve, and take the lease.
  const price = objection === undefined ? offer.price : 'refused';
  const early =
    reservesLast && isGateClear ? undefined : await passGate(tx, dependencies, work, row, locked, isGateClear, price);
  if (early?.kind === 'stopped') return { kind: 'gated', stop: early.stop };
  const terms = objection === undefined ? { limit, price: offer.price } : {};
  const [attempt] = await sendTogether([
    () => takeLease(tx, locked, { leaseMs: sendLeaseMs, esimId: row.esimId, ...terms }),
    () => startSend(tx, work, { isNew: isGateClear && row.status === 'accepted', retryRule }, new Date(now())),
  ]);
  const admission = early ?? (await reservePrice(tx, dependencies, work, row, locked, price));
  if (admission.kind === 'stopped') throw new StoppedByAccount();

  const claimed = { kind: 'claimed', row, attempt, reserved: admission.reservation, lease } as const;
  if (objection === undefined) return claimed;
  // Recorded in this transaction: a worker that dies here must not leave a send behind whose outcome is unknown.
  const { result } = await recordSend(tx, dependencies, work, row, claimed, objection);
  return { kind: 'objected', result, objection };
}

function isLate({ createdAt, deadlineAt, retryOverrides }: WorkRow, rule: RetryRule | undefined, now: number): boolean {
  const accepted = { acceptedAt: createdAt.getTime(), deadlineAt: deadlineAt?.getTime() };
  return now >= givesUpAt(accepted, rule ?? { totalMs: Infinity }, retryOverrides ?? {});
}

function cannotHaveBought(attempt: AttemptRow): boolean {
  return !isKnownToService(attempt.state) && !isOutcomeUnknown(attempt);
}

/** Undefined when the attempt may be sent. Without `resendWindowMs` one that may have bought is not resent. */
function refusalOf(attempt: LockedAttempt, resendWindowMs: number | undefined): SendResult['outcome'] | undefined {
  if (isKnownToService(attempt.state)) return { kind: 'accepted', outcome: attempt.state };
  const decision = decideSendClaim(attempt, resendWindowMs);
  switch (decision) {
    case 'claim':
      return undefined;
    case 'leased':
      return { kind: 'lease_held', retryAfterMs: Math.max(1, Math.ceil(attempt.leaseLeftMs ?? 0)) };
    case 'resend_not_allowed':
    case 'too_late':
      return { kind: decision };
    case 'known_to_service':
      throw new Error(`attempt ${attempt.id} is known to the service and ${attempt.state}`);
  }
}

/** The lock on the eSIM serialises concurrent claims. */
async function isBusy(tx: Executor, esimId: string, attemptId: string): Promise<boolean> {
  await lockEsim(tx, esimId);
  const [holder] = await tx.select({ id: attempts.id }).from(attempts).where(eq(attempts.busyEsimId, esimId));
  return holder !== undefined && holder.id !== attemptId;
}

interface LeaseTerms {
  readonly leaseMs: number;
  /** No other attempt is sent for it until this one is settled (rule 6 of docs/reference/rules.md). */
  readonly esimId?: string | null;
  /** A charge is compared with the limit at its send. Null: no limit; absent: nothing will be sent. */
  readonly limit?: PriceLimit | undefined;
  /** After a send that may have bought, the known price stays. */
  readonly price?: Money | undefined;
}

/** Takes the sole right to send (rule 1). A send whose lease ended without a result is unknown from here on. */
export async function takeLease(
  tx: Executor,
  attempt: AttemptRow,
  { leaseMs, esimId = null, limit, price }: LeaseTerms,
): Promise<AttemptRow> {
  const { id, state, sends, anyUnknown } = attempt;
  const isResend = isOutcomeUnknown(attempt);
  const highest = limit !== undefined && isResend ? looserLimit(limitOf(attempt), limit) : limit;
  const isPriced = price !== undefined && !(isResend && attempt.priceAmount !== null);
  const [leased] = await tx
    .update(attempts)
    .set({
      state: attemptStateAfter(state, 'claimed'),
      sends: sends + 1,
      anyUnknown: anyUnknown || state === 'sending',
      firstSentAt: sql`coalesce(${attempts.firstSentAt}, clock_timestamp())`,
      lastSentAt: sql`clock_timestamp()`,
      readingBefore: READING_BEFORE,
      firstUnrefusedSendAt: sql`coalesce(${attempts.firstUnrefusedSendAt}, clock_timestamp())`,
      busyEsimId: esimId,
      leaseToken: randomUUID(),
      leaseUntil: sql`clock_timestamp() + ${leaseMs}::double precision * interval '1 ms'`,
      ...(highest !== undefined && {
        limitAmount: highest?.amount ?? null,
        limitCurrency: highest?.currency ?? null,
      }),
      ...(isPriced && { priceAmount: price.amount, priceCurrency: price.currency }),
    })
    .where(eq(attempts.id, id))
    .returning();
  if (leased === undefined) throw new Error(`attempt ${id} vanished while it was locked`);
  return leased;
}

/**
 * After the first send that may have bought, the reading stays. Where only a workflow knows of that send, no reading
 * is known to be from before it.
 */
const READING_BEFORE = sql`coalesce(${attempts.readingBefore}, case when ${attempts.firstUnrefusedSendAt} is null
  then coalesce((select max(${walletReadings.id}) from ${walletReadings}), 0) else 0 end)`;

/** The clock of the process that holds it is compared with no other. */
export interface RunningLease {
  readonly elapsedMs: () => number;
  /** Zero or less: another process may hold it. */
  readonly leftMs: () => number;
}

/**
 * Call it before the transaction that takes the lease: it then never ends here later than in the database. The larger
 * time of two clocks is taken: the monotonic one stops while the machine sleeps, the wall clock may be set back.
 */
export function startLease({
  sendLeaseMs,
  now,
  monotonicNow = () => performance.now(),
}: Pick<WorkDependencies, 'sendLeaseMs' | 'now' | 'monotonicNow'>): RunningLease {
  const began = { monotonic: monotonicNow(), wall: now() };
  const elapsedMs = () => Math.max(monotonicNow() - began.monotonic, now() - began.wall);
  return { elapsedMs, leftMs: () => sendLeaseMs - elapsedMs() };
}
