/**
 * Claims the sole right to send an attempt. All times are those of the database's clock, so workers with different
 * clocks never send at once.
 */
import { randomUUID } from 'node:crypto';
import { eq, sql } from 'drizzle-orm';
import { limitOf } from '#db/attempts/attempts.ts';
import { alongside, type Write } from '#db/connection/alongside.ts';
import type { Executor } from '#db/connection/database.ts';
import { lockEsim } from '#db/esims/esim-queries.ts';
import { attempts, walletReadings } from '#db/schema.ts';
import type { AttemptRow } from '#db/work/rows.ts';
import { RowMissingError } from '#db/work/work-rows.ts';
import type { Money } from '#domain/money/money.ts';
import { looserLimit, type PriceLimit } from '#domain/purchase/price-limit.ts';
import { decideSendClaim, mayHaveBought } from '#domain/purchase/send-claim.ts';
import type { ObservedOutcome } from '#domain/relay/observation.ts';
import { attemptStateAfter, isSettledByService } from '#domain/work/attempt-lifecycle.ts';

/** A locked attempt, with durations by the database's clock. */
export interface LockedAttempt {
  readonly attempt: AttemptRow;
  /** Milliseconds until the lease of its last send ends; zero or less: it has ended. Null: there is no lease. */
  readonly leaseLeftMs: number | null;
  /** Milliseconds since its first send that was not definitely refused; null: there was none. */
  readonly unrefusedForMs: number | null;
}

/**
 * Reads and locks an attempt before a claim. The caller holds the lock of its work, so this lock does not wait and the
 * durations are current.
 * @throws RowMissingError when it does not exist.
 */
export async function lockAttempt(tx: Executor, attemptId: string): Promise<LockedAttempt> {
  const [locked] = await tx
    .select({
      attempt: attempts,
      leaseLeftMs: milliseconds(sql`${attempts.leaseUntil} - clock_timestamp()`),
      unrefusedForMs: milliseconds(sql`clock_timestamp() - ${attempts.firstUnrefusedSendAt}`),
    })
    .from(attempts)
    .where(eq(attempts.id, attemptId))
    .for('update');
  if (locked === undefined) throw new RowMissingError(`attempt ${attemptId} does not exist in this database`);
  return locked;
}

function milliseconds(interval: ReturnType<typeof sql>) {
  return sql<number | null>`(extract(epoch from ${interval}) * 1000)::double precision`;
}

/** The result of a claim. */
export type SendClaim =
  | { readonly kind: 'claimed'; readonly leaseToken: string; readonly attempt: AttemptRow }
  /** Another send may be under way. */
  | { readonly kind: 'leased'; readonly leaseLeftMs: number }
  /** Another attempt for the same eSIM is not settled. */
  | { readonly kind: 'esim_busy' }
  /** It may have been bought, and no attempt may be resent at this moment. */
  | { readonly kind: 'resend_not_allowed' }
  /** It may have been bought, and the resend window is over, or a resend would show nothing new. */
  | { readonly kind: 'too_late' }
  /** The service has it already: nothing is sent. */
  | { readonly kind: 'settled'; readonly outcome: ObservedOutcome; readonly attempt: AttemptRow };

/**
 * Takes the sole right to send an attempt (rule 1), as `decideSendClaim` decides. A send whose lease ended without a
 * result counts as unknown from here on.
 *
 * @param locked read in this transaction.
 * @param claim.leaseMs length of the lease.
 * @param claim.resendWindowMs window from the first send that was not refused; undefined: an attempt that may have
 *   bought is not resent.
 * @param claim.esimId our id of its eSIM: no other attempt is sent for that eSIM until this one is settled (rule 6).
 * @param claim.limit the price limit of this send, null: none. It is stored because a charge is compared with the limit
 *   at the time of its send. Undefined: nothing will be sent.
 * @param claim.price as listed at this moment; undefined: not known. After a send that may have bought, the known price
 *   stays.
 * @param claim.writes are run in the statement that takes the lease; without a claim they are not run.
 */
export async function claimSend(
  tx: Executor,
  { attempt, leaseLeftMs, unrefusedForMs }: LockedAttempt,
  {
    leaseMs,
    resendWindowMs,
    esimId = null,
    limit,
    price,
    writes = [],
  }: {
    readonly leaseMs: number;
    readonly resendWindowMs: number | undefined;
    readonly esimId?: string | null;
    readonly limit?: PriceLimit | undefined;
    readonly price?: Money | undefined;
    readonly writes?: readonly Write[];
  },
): Promise<SendClaim> {
  const { id, state } = attempt;
  if (isSettledByService(state)) return { kind: 'settled', outcome: state, attempt };
  const decision = decideSendClaim({ ...attempt, leaseLeftMs, unrefusedForMs }, resendWindowMs);
  if (decision === 'leased') return { kind: 'leased', leaseLeftMs: leaseLeftMs ?? 0 };
  if (decision === 'resend_not_allowed' || decision === 'too_late') return { kind: decision };
  if (decision === 'settled') throw new Error(`attempt ${id} is settled and ${state}`);

  if (esimId !== null && (await isBusy(tx, esimId, id))) return { kind: 'esim_busy' };

  const leaseToken = randomUUID();
  const [claimed] = await tx
    .with(...alongside(writes))
    .update(attempts)
    .set({
      state: attemptStateAfter(state, 'claimed'),
      sends: attempt.sends + 1,
      anyUnknown: attempt.anyUnknown || state === 'sending',
      firstSentAt: sql`coalesce(${attempts.firstSentAt}, clock_timestamp())`,
      lastSentAt: sql`clock_timestamp()`,
      readingBefore: READING_BEFORE,
      firstUnrefusedSendAt: sql`coalesce(${attempts.firstUnrefusedSendAt}, clock_timestamp())`,
      busyEsimId: esimId,
      leaseToken,
      leaseUntil: sql`clock_timestamp() + ${leaseMs}::double precision * interval '1 ms'`,
      ...(limit !== undefined && limitColumns(mayHaveBought(attempt) ? looserLimit(limitOf(attempt), limit) : limit)),
      ...(price !== undefined &&
        !(mayHaveBought(attempt) && attempt.priceAmount !== null) && {
          priceAmount: price.amount,
          priceCurrency: price.currency,
        }),
    })
    .where(eq(attempts.id, id))
    .returning();
  if (claimed === undefined) throw new Error(`attempt ${id} vanished while it was locked`);
  return { kind: 'claimed', leaseToken, attempt: claimed };
}

/**
 * The last reading of the wallet that is stored now. After the first send that may have bought, it stays; where that
 * send is known only from a workflow, no reading is known to be from before it.
 */
const READING_BEFORE = sql`coalesce(${attempts.readingBefore}, case when ${attempts.firstUnrefusedSendAt} is null
  then coalesce((select max(${walletReadings.id}) from ${walletReadings}), 0) else 0 end)`;

function limitColumns(limit: PriceLimit): Pick<AttemptRow, 'limitAmount' | 'limitCurrency'> {
  return { limitAmount: limit?.amount ?? null, limitCurrency: limit?.currency ?? null };
}

/** The lock on the eSIM serialises concurrent claims. */
async function isBusy(tx: Executor, esimId: string, attemptId: string): Promise<boolean> {
  await lockEsim(tx, esimId);
  const [holder] = await tx.select({ id: attempts.id }).from(attempts).where(eq(attempts.busyEsimId, esimId));
  return holder !== undefined && holder.id !== attemptId;
}
