/**
 * Claiming the sole right to send an attempt. All times are of the clock of the database: workers whose clocks differ by
 * any amount never send at once.
 */
import { randomUUID } from 'node:crypto';
import { eq, sql } from 'drizzle-orm';
import { limitOf } from '#db/attempts/attempts.ts';
import type { Executor } from '#db/connection/database.ts';
import { lockEsim } from '#db/esims/esim-queries.ts';
import { attempts } from '#db/schema.ts';
import type { AttemptRow } from '#db/work/rows.ts';
import { RowMissingError } from '#db/work/work-rows.ts';
import { looserLimit, type PriceLimit } from '#domain/purchase/price-limit.ts';
import { decideSendClaim, mayHaveBought } from '#domain/purchase/send-claim.ts';
import type { ObservedOutcome } from '#domain/relay/observation.ts';
import { attemptStateAfter, isSettledByService } from '#domain/work/attempt-lifecycle.ts';

/** An attempt with its row locked, and how it stands by the clock of the database. */
export interface LockedAttempt {
  readonly attempt: AttemptRow;
  /** Milliseconds until the lease of its last send ends; zero or less: it has ended. Null: there is none. */
  readonly leaseLeftMs: number | null;
  /** Milliseconds since its first send that was not definitely refused; null: there was none. */
  readonly unrefusedForMs: number | null;
}

/**
 * Reads and locks an attempt, to decide whether it may be sent. The lock of its work, which the caller holds, keeps
 * others from claiming it, so that this does not wait and its times are those of this moment.
 *
 * @throws Error when it does not exist.
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

/** What became of the wish to send. */
export type SendClaim =
  | { readonly kind: 'claimed'; readonly leaseToken: string; readonly attempt: AttemptRow }
  /** Another send may be under way. */
  | { readonly kind: 'leased'; readonly leaseLeftMs: number }
  /** Another attempt for the same eSIM is not settled yet. */
  | { readonly kind: 'esim_busy' }
  /** It may have been bought, and nothing may be sent twice at this moment. */
  | { readonly kind: 'resend_not_allowed' }
  /** It may have been bought, and the same bytes may not be sent again: not any more, or never. */
  | { readonly kind: 'too_late' }
  /** The service has it already: nothing is to be sent. */
  | { readonly kind: 'settled'; readonly outcome: ObservedOutcome; readonly attempt: AttemptRow };

/**
 * Takes the sole right to send an attempt (rule 1: one send at a time), by `decideSendClaim`. A send whose lease ran
 * out without a result counts as unknown from here on.
 *
 * @param locked in this transaction.
 * @param claim.leaseMs how long the right lasts.
 * @param claim.resendWindowMs since the first send that was not refused; undefined: what may have been bought is not
 *   sent again.
 * @param claim.esimId ours, of the eSIM that it is for: until the attempt is settled no other one is sent for it (rule
 *   6).
 * @param claim.limit what the service may charge for this send, null: anything. Kept, since a charge is held against
 *   what was allowed when it was sent, however often that is changed later. Undefined: it is not going to be sent.
 */
export async function claimSend(
  tx: Executor,
  { attempt, leaseLeftMs, unrefusedForMs }: LockedAttempt,
  {
    leaseMs,
    resendWindowMs,
    esimId = null,
    limit,
  }: {
    readonly leaseMs: number;
    readonly resendWindowMs: number | undefined;
    readonly esimId?: string | null;
    readonly limit?: PriceLimit | undefined;
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
    .update(attempts)
    .set({
      state: attemptStateAfter(state, 'claimed'),
      sends: attempt.sends + 1,
      anyUnknown: attempt.anyUnknown || state === 'sending',
      firstSentAt: sql`coalesce(${attempts.firstSentAt}, clock_timestamp())`,
      firstUnrefusedSendAt: sql`coalesce(${attempts.firstUnrefusedSendAt}, clock_timestamp())`,
      busyEsimId: esimId,
      leaseToken,
      leaseUntil: sql`clock_timestamp() + ${leaseMs}::double precision * interval '1 ms'`,
      ...(limit !== undefined && limitColumns(mayHaveBought(attempt) ? looserLimit(limitOf(attempt), limit) : limit)),
    })
    .where(eq(attempts.id, id))
    .returning();
  if (claimed === undefined) throw new Error(`attempt ${id} vanished while it was locked`);
  return { kind: 'claimed', leaseToken, attempt: claimed };
}

function limitColumns(limit: PriceLimit): Pick<AttemptRow, 'limitAmount' | 'limitCurrency'> {
  return { limitAmount: limit?.amount ?? null, limitCurrency: limit?.currency ?? null };
}

/** The lock on the eSIM makes those who ask at the same moment ask one after the other. */
async function isBusy(tx: Executor, esimId: string, attemptId: string): Promise<boolean> {
  await lockEsim(tx, esimId);
  const [holder] = await tx.select({ id: attempts.id }).from(attempts).where(eq(attempts.busyEsimId, esimId));
  return holder !== undefined && holder.id !== attemptId;
}
