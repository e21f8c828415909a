import type { Executor } from '#db/connection/database.ts';
import { bookedMovements, recordMovement } from '#db/money/journal.ts';
import { movementOf, purchasesNamedBy } from '#db/money/wallet-movements.ts';
import {
  debitDelay,
  databaseTime,
  firstDebitOf,
  firstSends,
  knownRows,
  movementsOf,
  newestRowAt,
  rowsSince,
  steadyReadings,
} from '#db/money/wallet-readings.ts';
import { attemptsThatMayCost, chargedOf, findAttemptById, markSettled, priceAtSend } from '#db/work/attempts.ts';
import { MOVEMENT_NAMES, type AttemptRow } from '#db/work/rows.ts';
import { addTimelineEntry } from '#db/work/timeline.ts';
import {
  evidenceDelayMs,
  judgeAbsence,
  mayBeFor,
  readingText,
  type Absence,
  type WalletReading,
} from '#domain/money/absence.ts';
import { purchaseFinder, type Movement, type Purchase } from '#domain/money/books.ts';
import { equalMoney, plainText, type Money } from '#domain/money/money.ts';
import { isLookUpRetried } from '#domain/policy/purchase-policy.ts';
import { costNothing } from '#domain/purchase/purchase-decision.ts';
import type { AttemptRef, EvidenceResult } from '#domain/purchase/results.ts';
import type { WorkRef } from '#domain/work/kinds.ts';
import type { PurchaseDependencies } from '#fulfilment/purchase/dependencies.ts';
import type { UnreadWallet } from '#fulfilment/purchase/wallet-readings.ts';

/**
 * One reading is judged for all attempts of the work (rules 3 and 7): a debit of an earlier one may have appeared
 * since.
 */
export async function readDebitEvidence(
  { database, purchaseInForce, readings }: PurchaseDependencies,
  { work, attemptId }: AttemptRef,
): Promise<EvidenceResult> {
  const { attempt, sent, lastAt, readyAt, settleDelayMs, now } = await database.run(async (db) => {
    const sent = await attemptsThatMayCost(db, work, attemptId);
    const policy = await purchaseInForce(db);
    const lastAt = Math.max(...sent.flatMap(({ lastSentAt, failedAt }) => [timeOf(lastSentAt), timeOf(failedAt)]));
    return {
      attempt: await findAttemptById(db, attemptId),
      sent,
      lastAt,
      readyAt: lastAt + evidenceDelayMs(policy, await debitDelay(db, work.kind)),
      settleDelayMs: policy.settleDelayMs,
      now: (await databaseTime(db)).getTime(),
    };
  });
  if (now < readyAt) {
    const at = new Date(readyAt).toISOString();
    const detail = `A debit may still appear in the wallet, which is read at ${at} or later.`;
    return { evidence: 'awaited', reason: 'too_early', detail, againInMs: readyAt - now };
  }
  const reading = await readings.since({
    // Judged again, the work gets a newer reading. Work that is judged at the same time shares one.
    beganAt: new Date(Math.max(readyAt, now - settleDelayMs)),
    after: Math.max(0, ...sent.map(({ readingBefore }) => readingBefore ?? 0)),
    backTo: beforeAll(sent) ?? 0,
  });
  if ('ok' in reading) return unread(reading);
  return database.transaction(async (tx) => {
    const costs = new Map<string, Costs>();
    for (const each of sent) costs.set(each.id, await bookCosts(tx, each));
    const result = await judge(tx, { work, attempt, sent }, reading, costs);
    // An unknown attempt is not settled: a request may still be on its way.
    if (costNothing(result.evidence)) for (const each of sent) await markSettled(tx, each.id, new Date(lastAt));
    // While evidence is awaited, the workflow records why.
    if (result.evidence !== 'awaited')
      await addTimelineEntry(tx, work, {
        event: 'attempt.wallet_checked',
        message: result.detail,
        detail: { attempt: attempt.number, evidence: result.evidence, reading: reading.id },
        // One entry for each result. Each proof is an entry: the last one allows the next attempt.
        dedupKey:
          `attempt.wallet_checked:${attempt.number}:${result.evidence}` +
          (result.evidence === 'no_debit' ? `:${reading.id}` : ''),
      });
    return result;
  });
}

const timeOf = (date: Date | null) => date?.getTime() ?? 0;

/** The last reading before the first send of all; undefined: not known. */
function beforeAll(sent: readonly AttemptRow[]): number | undefined {
  const before = Math.min(...sent.map(({ readingBefore }) => readingBefore ?? 0));
  return before > 0 && Number.isFinite(before) ? before : undefined;
}

interface Costs {
  readonly debits: readonly Money[];
  readonly credits: readonly Money[];
}

interface Question {
  readonly work: WorkRef;
  readonly attempt: AttemptRow;
  /** Those of the work that may have cost something. */
  readonly sent: readonly AttemptRow[];
}

async function judge(
  tx: Executor,
  { work, attempt, sent }: Question,
  reading: WalletReading,
  own: ReadonlyMap<string, Costs>,
): Promise<EvidenceResult> {
  const { debits: ownDebits = [] } = own.get(attempt.id) ?? {};
  const uncredited = [...own.values()].find(({ debits, credits }) => !areCredited(debits, credits));
  if (uncredited !== undefined) {
    const seen = `a debit of ${textOf(uncredited.debits)} and no credit for it`;
    return { evidence: 'debited', detail: `The wallet shows ${seen}, in ${readingText(reading)}.` };
  }
  for (const each of sent) {
    const booked = await bookedMovements(tx, each.id);
    // A booked debit was real: a wallet that does not show it is not trusted.
    if (booked.debit && !booked.credit && own.get(each.id)?.debits.length === 0)
      return awaited('vanished', DEBIT_VANISHED);
  }
  const without = sent.filter(({ id }) => own.get(id)?.debits.length === 0);
  const absence = await absenceOf(tx, work, without, reading);
  if (ownDebits.length > 0) {
    // Settled attempts were judged before; a debit that may be theirs has appeared since.
    const isJudged = without.every(({ settled }) => settled);
    const isOpen = !absence.isProven && (absence.reason === 'suspect' || !isJudged);
    if (isOpen) return awaited(absence.reason, absence.detail);
    const detail = `The wallet shows the debit of ${textOf(ownDebits)} and its credit, in ${readingText(reading)}.`;
    return { evidence: 'credited', detail };
  }
  return absence.isProven ? { evidence: 'no_debit', detail: absence.detail } : awaited(absence.reason, absence.detail);
}

const DEBIT_VANISHED = 'Our journal has a debit for this attempt, but the wallet shows none. This proves nothing.';

/** Books the first debit and the first credit. */
async function bookCosts(tx: Executor, attempt: AttemptRow): Promise<Costs> {
  const movements = await movementsOf(tx, attempt);
  const of = (direction: Movement['direction']) =>
    movements.filter((each) => each.direction === direction).map(({ money }) => money);
  const [debits, credits] = [of('debit'), of('credit')];
  const attemptId = attempt.id;
  const [debit] = debits;
  const [credit] = credits;
  if (debit !== undefined) await recordMovement(tx, { direction: 'debit', attemptId, money: debit });
  if (credit !== undefined) await recordMovement(tx, { direction: 'credit', attemptId, money: credit });
  return { debits, credits };
}

function areCredited(debits: readonly Money[], credits: readonly Money[]): boolean {
  const left = [...credits];
  return debits.every((debit) => {
    const index = left.findIndex((credit) => equalMoney(credit, debit));
    if (index >= 0) left.splice(index, 1);
    return index >= 0;
  });
}

function textOf([first]: readonly Money[]): string {
  return first === undefined ? 'nothing' : plainText(first);
}

async function absenceOf(
  tx: Executor,
  work: WorkRef,
  sent: readonly AttemptRow[],
  reading: WalletReading,
): Promise<Absence> {
  const before = beforeAll(sent) ?? 0;
  const { base, rows } = await ledgerSince(tx, before, reading.id);
  const debits = rows.filter(({ direction }) => direction === 'debit');
  const failedAt = Math.max(...sent.map((each) => Math.max(timeOf(each.lastSentAt), timeOf(each.failedAt))));
  const currencies = [...new Set(sent.flatMap((each) => (chargedOf(each) ?? priceAtSend(each))?.currency ?? []))];
  const later = debits.find(
    ({ send, money, occurredAt }) =>
      timeOf(send?.sentAt ?? null) > failedAt &&
      // An earlier reading may have shown it first; this one is as new.
      occurredAt <= (reading.newestRowAt ?? -Infinity) &&
      currencies.every((currency) => currency === money.currency),
  );
  const fields = MOVEMENT_NAMES[work.kind];
  const suspects = debits.filter(
    ({ names, firstReading, isExplained }) =>
      firstReading > before && !isExplained && sent.some((each) => mayBeFor({ ...each, fields }, names)),
  );
  const suspect = await firstAsync(suspects, async (row) => !(await isOfAnother(tx, row, work)));
  return judgeAbsence({
    reading,
    before: before > 0 ? before : undefined,
    currencies,
    hadRows: (await knownRows(tx, before)).ids.size > 0,
    base,
    since: rows,
    suspect: suspect && `${suspect.id} over ${plainText(suspect.money)}`,
    laterDebit: later?.id,
  });
}

/** A further debit that names only the eSIM of a top-up, or its order, may be for the top-up. */
async function isOfAnother(tx: Executor, { id, purchase }: NamedRow, work: WorkRef): Promise<boolean> {
  if (purchase === undefined || purchase.work.id === work.id) return false;
  if (work.kind !== 'topup' || purchase.work.kind !== 'order') return true;
  return (await firstDebitOf(tx, purchase)) === id;
}

async function firstAsync<Item>(items: readonly Item[], fits: (item: Item) => Promise<boolean>) {
  for (const item of items) if (await fits(item)) return item;
  return undefined;
}

interface NamedRow extends Movement {
  readonly firstReading: number;
  /** By an operator, or by the service. */
  readonly isExplained: boolean;
  readonly purchase: Purchase | undefined;
  readonly send: { readonly sentAt: Date | null; readonly readingBefore: number | null } | undefined;
}

/**
 * From the newest steady reading, whose balance contains none of the rows since. A row older than the newest row of
 * that reading, or for a purchase sent before it, may have come late. Without such a reading: the rows since `before`.
 */
async function ledgerSince(
  tx: Executor,
  before: number,
  upTo: number,
): Promise<{ readonly base: WalletReading | undefined; readonly rows: readonly NamedRow[] }> {
  for (const base of await steadyReadings(tx, before)) {
    const rows = await namedRows(tx, base.id, upTo);
    const newestAt = (await newestRowAt(tx, base.id)) ?? -Infinity;
    const isLate = async (row: NamedRow) => {
      if (row.occurredAt < newestAt) return true;
      // A credit or a renewal of an older purchase is a new row; its first debit may have come late.
      const { direction, purchase, send } = row;
      if (direction !== 'debit' || purchase === undefined || (send?.readingBefore ?? 0) >= base.id) return false;
      return (await firstDebitOf(tx, purchase)) === row.id;
    };
    if ((await firstAsync(rows, isLate)) === undefined) return { base, rows };
  }
  return { base: undefined, rows: await namedRows(tx, before, upTo) };
}

async function namedRows(tx: Executor, after: number, upTo: number): Promise<readonly NamedRow[]> {
  const stored = await rowsSince(tx, after, upTo);
  const purchases = await purchasesNamedBy(tx, stored.map(movementOf));
  const find = purchaseFinder(purchases);
  const sends = await firstSends(
    tx,
    purchases.map(({ attemptId }) => attemptId),
  );
  return stored.map((row) => {
    const movement = movementOf(row);
    const found = find(movement.names);
    const purchase = typeof found === 'string' ? undefined : found;
    return {
      ...movement,
      firstReading: row.firstReading ?? 0,
      isExplained: row.causeKind === 'adjustment',
      purchase,
      send: purchase && sends.get(purchase.attemptId),
    };
  });
}

function awaited(reason: string, detail: string): EvidenceResult {
  return { evidence: 'awaited', reason, detail };
}

function unread(answer: UnreadWallet): EvidenceResult {
  if (answer.kind === 'unsupported')
    return { evidence: 'unavailable', detail: 'This service shows no wallet transactions.' };
  return { evidence: 'unavailable', detail: answer.detail, mayPass: isLookUpRetried(answer.failure) };
}
