import { and, desc, eq, inArray, ne, sql, type SQL } from 'drizzle-orm';
import type { Executor } from '#db/connection/database.ts';
import { newId } from '#db/connection/ids.ts';
import { recordMovement } from '#db/money/journal.ts';
import { requeueUnmatched } from '#db/queues/inbox.ts';
import { attempts } from '#db/schema.ts';
import { openCase } from '#db/work/cases.ts';
import type { AttemptRow } from '#db/work/rows.ts';
import { cancellationOutcome, mergeReports } from '#domain/cancellation/refund.ts';
import { equalMoney, type Money } from '#domain/money/money.ts';
import type { PriceLimit } from '#domain/purchase/price-limit.ts';
import { ATTEMPT_DECISIONS, type AttemptState, type ObservedOutcome } from '#domain/relay/observation.ts';
import { attemptStateAfter } from '#domain/work/attempt-lifecycle.ts';
import type { WorkRef } from '#domain/work/work.ts';
import { knownReports, storeCancellationFacts, type CancellationFacts } from '#fulfilment/work/refunds.ts';
import { storeSubscriptionFacts, type SubscriptionFacts } from '#fulfilment/work/vpn-subscriptions.ts';
import { RowMissingError } from '#fulfilment/work/work.ts';

/** The additional authenticated data of the request body of an attempt. */
export function requestBodyAad(attemptId: string): string {
  return `attempts.encrypted_request_body/${attemptId}`;
}

/**
 * The attempt that counts: the newest; or an earlier one that the service sold after all, as a person found, when
 * nothing came of those after it.
 */
export async function currentAttempt(db: Executor, work: WorkRef): Promise<AttemptRow | undefined> {
  const all = await attemptsOf(db, work);
  return all.find(({ state }) => MAY_BE_BOUGHT.has(state)) ?? all[0];
}

/** Nothing says of these that they came to nothing. */
const MAY_BE_BOUGHT: ReadonlySet<AttemptState> = new Set(['sending', 'unknown', 'processing', 'completed']);

/** All attempts of a piece of work, newest first. */
export async function attemptsOf(db: Executor, work: WorkRef): Promise<AttemptRow[]> {
  return db.select().from(attempts).where(ofWork(work)).orderBy(desc(attempts.number));
}

/** One attempt of a piece of work by its number. */
export async function findAttempt(db: Executor, work: WorkRef, number: number): Promise<AttemptRow | undefined> {
  const rows = await db
    .select()
    .from(attempts)
    .where(and(ofWork(work), eq(attempts.number, number)));
  return rows[0];
}

function ofWork({ kind, id }: WorkRef): SQL | undefined {
  return and(eq(attempts.subjectKind, kind), eq(attempts.subjectId, id));
}

/** What an attempt is made for. */
export function workOf({ subjectKind: kind, subjectId: id }: AttemptRow): WorkRef {
  return { kind, id };
}

/**
 * Stores an attempt before its first send: its key, its exact body and its reference (rule 1). One that exists stays
 * as it is, so that a step that runs twice sends the same bytes.
 *
 * @param attempt.idempotencyKey that follows from the work and the number: were the row lost, it would be opened again
 *   with this key.
 * @param attempt.reference undefined where the interface takes none.
 * @param attempt.serviceEsimId of the eSIM that it is for, where there is one before it is bought.
 * @param attempt.encryptedBody builds and encrypts the request body for the new attempt's id.
 */
export async function openAttempt(
  tx: Executor,
  attempt: {
    readonly work: WorkRef;
    readonly number: number;
    readonly idempotencyKey: string;
    readonly reference: string | undefined;
    readonly serviceEsimId?: string | undefined;
    readonly encryptedBody: (attemptId: string) => Buffer;
  },
): Promise<AttemptRow> {
  const id = newId('attempt');
  const { work, number, reference } = attempt;
  await tx
    .insert(attempts)
    .values({
      id,
      subjectKind: work.kind,
      subjectId: work.id,
      number,
      idempotencyKey: attempt.idempotencyKey,
      reference: reference ?? null,
      serviceEsimId: attempt.serviceEsimId ?? null,
      encryptedRequestBody: attempt.encryptedBody(id),
    })
    .onConflictDoNothing({ target: [attempts.subjectKind, attempts.subjectId, attempts.number] });
  const row = await findAttempt(tx, work, number);
  if (row === undefined) throw new Error(`attempt ${number} of ${work.id} cannot be read back`);
  if (row.id === id) await requeueUnmatched(tx, work.kind, { reference, serviceEsimId: attempt.serviceEsimId });
  return row;
}

/** What the service says of an attempt, from an answer, a read or an event. */
export interface ServiceFacts {
  readonly outcome: ObservedOutcome;
  /** The service's id of what it made for the attempt; a cancellation has none until a refund is named. */
  readonly serviceId: string | undefined;
  readonly serviceEsimId?: string | undefined;
  /** What it says was bought: the id of the package or of the VPN plan. */
  readonly productId?: number | undefined;
  readonly charged?: Money | undefined;
  /** Why the service says it failed. */
  readonly failureDetail?: string | undefined;
  /** Of a cancellation, what else is said of it. */
  readonly cancellation?: CancellationFacts | undefined;
  /** Of a VPN subscription, the same. */
  readonly subscription?: SubscriptionFacts | undefined;
}

/**
 * Stores what the service says of an attempt, and the debit in our books. Progress only goes forward: an attempt that
 * completed does not return to processing. A second id of the service for the same attempt opens a case.
 *
 * @param now of what is said of a cancellation; that the attempt was heard of is dated by the clock of the database.
 * @returns the attempt as it now is.
 */
export async function recordFacts(tx: Executor, attemptId: string, told: ServiceFacts, now: Date): Promise<AttemptRow> {
  return (await recordFactsOver(tx, attemptId, told, now)).after;
}

/** As {@link recordFacts}. @returns the attempt as it was and as it now is. */
export async function recordFactsOver(
  tx: Executor,
  attemptId: string,
  told: ServiceFacts,
  now: Date,
): Promise<{ readonly before: AttemptRow; readonly after: AttemptRow }> {
  const [known] = await tx.select().from(attempts).where(eq(attempts.id, attemptId)).for('update');
  if (known === undefined) throw new RowMissingError(`attempt ${attemptId} does not exist in this database`);
  const facts = await beside(tx, known, told);
  if (known.serviceId !== null && facts.serviceId !== undefined && known.serviceId !== facts.serviceId) {
    const detail = `The service gives one attempt two ids: ${known.serviceId} and ${facts.serviceId}.`;
    await openCase(tx, workOf(known), 'contradiction', detail, known.id);
    return { before: known, after: known };
  }
  await reportDisagreement(tx, known, facts);
  const state = attemptStateAfter(known.state, facts.outcome);
  const failed = facts.outcome === 'failed';
  const isCancellation = known.subjectKind === 'cancellation';
  const [row] = await tx
    .update(attempts)
    .set({
      serviceId: facts.serviceId ?? known.serviceId,
      serviceEsimId: facts.serviceEsimId ?? known.serviceEsimId,
      chargedAmount: known.chargedAmount ?? facts.charged?.amount ?? null,
      chargedCurrency: known.chargedAmount === null ? (facts.charged?.currency ?? null) : known.chargedCurrency,
      lastHeardAt: sql`clock_timestamp()`,
      ...(state !== known.state && {
        state,
        failureClass: failed ? (isCancellation ? 'cancellation_refused' : 'supplier_failed') : null,
        failureDetail: failed ? (facts.failureDetail ?? 'The service gave no reason.') : null,
        // A refused cancellation cost nothing and changed nothing: there is no money to wait for.
        ...(failed && isCancellation && { busyEsimId: null }),
        leaseToken: null,
        leaseUntil: null,
      }),
    })
    .where(eq(attempts.id, attemptId))
    .returning();
  if (row === undefined) throw new Error(`attempt ${attemptId} vanished while it was locked`);

  if (facts.cancellation !== undefined) await storeCancellationFacts(tx, workOf(known), facts.cancellation, now);
  if (facts.subscription !== undefined) await storeSubscriptionFacts(tx, known.subjectId, facts.subscription);
  if (known.serviceId === null && facts.serviceId !== undefined) {
    await requeueUnmatched(tx, known.subjectKind, { serviceId: facts.serviceId });
  }
  if (!failed && row.chargedAmount !== null && row.chargedCurrency !== null) {
    const money = { amount: row.chargedAmount, currency: row.chargedCurrency };
    await recordMovement(tx, { direction: 'debit', attemptId, money });
  }
  return { before: known, after: row };
}

/** What a word about a cancellation comes to beside earlier ones. */
async function beside(tx: Executor, known: AttemptRow, told: ServiceFacts): Promise<ServiceFacts> {
  if (told.cancellation === undefined) return told;
  return {
    ...told,
    outcome: cancellationOutcome(mergeReports(await knownReports(tx, known.subjectId), told.cancellation)),
  };
}

/** Whoever brings the facts, an answer, a read or an event: what cannot be true beside what is known opens a case. */
async function reportDisagreement(tx: Executor, known: AttemptRow, facts: ServiceFacts): Promise<void> {
  if (ATTEMPT_DECISIONS[known.state][facts.outcome] === 'contradiction') {
    const detail = `The service says ${facts.outcome} of attempt ${known.number}, which it had called ${known.state}.`;
    await openCase(tx, workOf(known), 'contradiction', detail, known.id);
  }
  await reportOtherPrice(tx, known, facts.charged);
}

/** Opens a case when the service names another price for an attempt than it did before. The known one stays. */
export async function reportOtherPrice(tx: Executor, known: AttemptRow, charged: Money | undefined): Promise<void> {
  const { chargedAmount, chargedCurrency } = known;
  if (chargedAmount === null || chargedCurrency === null || charged === undefined) return;
  if (equalMoney(charged, { amount: chargedAmount, currency: chargedCurrency })) return;
  const detail = `The service names two prices for attempt ${known.number}.`;
  await openCase(tx, workOf(known), 'contradiction', detail, known.id);
}

/** Notes that a failed attempt cost nothing: the wallet says so. */
export async function markSettled(tx: Executor, attemptId: string): Promise<void> {
  await tx.update(attempts).set({ settled: true, busyEsimId: null }).where(eq(attempts.id, attemptId));
}

/** Which of these ids of the service belong to other attempts of the same kind. */
export async function serviceIdsOfOthers(
  db: Executor,
  { id, subjectKind }: Pick<AttemptRow, 'id' | 'subjectKind'>,
  serviceIds: readonly string[],
): Promise<ReadonlySet<string>> {
  if (serviceIds.length === 0) return new Set();
  const rows = await db
    .select({ serviceId: attempts.serviceId })
    .from(attempts)
    .where(
      and(eq(attempts.subjectKind, subjectKind), inArray(attempts.serviceId, [...serviceIds]), ne(attempts.id, id)),
    );
  return new Set(rows.flatMap(({ serviceId }) => serviceId ?? []));
}

/** @throws RowMissingError when the attempt does not exist: attempts are never deleted, so its row is lost. */
export async function findAttemptById(db: Executor, attemptId: string): Promise<AttemptRow> {
  const [row] = await db.select().from(attempts).where(eq(attempts.id, attemptId));
  if (row === undefined) throw new RowMissingError(`attempt ${attemptId} does not exist in this database`);
  return row;
}

/** What the caller allowed the service to charge for an attempt; null: anything. */
export function limitOf({
  limitAmount: amount,
  limitCurrency: currency,
}: Pick<AttemptRow, 'limitAmount' | 'limitCurrency'>): PriceLimit {
  return amount === null || currency === null ? null : { amount, currency };
}

/** What an attempt was charged; undefined while it is not known. */
export function chargedOf({ chargedAmount: amount, chargedCurrency: currency }: AttemptRow): Money | undefined {
  return amount === null || currency === null ? undefined : { amount, currency };
}
