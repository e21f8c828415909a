import { and, eq, inArray, isNull, sql } from 'drizzle-orm';
import type { Executor } from '#db/connection/database.ts';
import { newId } from '#db/connection/ids.ts';
import {
  advanceCheckpoint,
  bookEntries,
  forgetMatched,
  isBooked,
  journalSums,
  outstandingEntries,
} from '#db/money/journal.ts';
import {
  addReconciliation,
  forgetReconciliations,
  newestReconciliation,
  type ReconciliationRow,
} from '#db/money/reconciliations.ts';
import {
  countReadSince,
  movementsWithoutCause,
  placedMovements,
  placeMovements,
  purchasesKept,
  purchasesNamedBy,
} from '#db/money/wallet-movements.ts';
import { requestWake } from '#db/queues/outbox.ts';
import { attempts, cases, walletReadings } from '#db/schema.ts';
import { openCase } from '#db/work/cases.ts';
import { workTable } from '#db/work/rows.ts';
import { addTimelineEntry } from '#db/work/timeline.ts';
import {
  expectedBalance,
  FINDING_CASES,
  findingKinds,
  isFindingCase,
  OPENING,
  sumsOf,
  type CauseKind,
  type Direction,
  type FindingKind,
  type ReconciliationStatus,
} from '#domain/money/books.ts';
import type { Finding } from '#domain/money/findings.ts';
import { equalMoney, negateMoney, paddedAmount, plainText, subtractMoney, type Money } from '#domain/money/money.ts';
import { reconcile, type Judgement, type Knowledge } from '#domain/money/reconciliation.ts';
import type { BooksPolicy } from '#domain/policy/upkeep-policy.ts';
import { noteShownCharges, reportAmount } from '#fulfilment/books/charges.ts';
import { announceDoubt } from '#fulfilment/work/events.ts';
import { settlePaidRefunds } from '#fulfilment/work/refunds.ts';

export interface Wallet {
  readonly status: ReconciliationStatus;
  readonly detail: string;
  readonly read: number;
  readonly since: number;
  readonly balance: Money | undefined;
  /** Of the oldest pending credit, in epoch milliseconds. */
  readonly pendingSince: number | undefined;
  /** False when the balance changed during the read: it then does not belong to these movements. */
  readonly atRest: boolean;
}

/** Limit for memory, of the oldest and of the newest; with more, the report is incomplete and says so. */
const MOVEMENTS_AT_ONCE = 20_000;
const TOO_MANY =
  `${2 * MOVEMENTS_AT_ONCE} or more movements have no cause. The oldest and the newest of them were judged; ` +
  'the balance is not compared. Explain movements without a cause: npx reseller wallet transactions --cause none.';
const LISTED_FINDINGS = 200;

export async function writeBooks(
  tx: Executor,
  wallet: Wallet,
  run: Pick<ReconciliationRow, 'runId' | 'startedAt'> & { readonly books: BooksPolicy; readonly now: number },
): Promise<ReconciliationRow> {
  const { books, now } = run;
  const at = new Date(now);
  await advanceCheckpoint(tx);
  const isNew = await countReadSince(tx, (await newestReconciliation(tx))?.startedAt);
  const { movements, isWhole: areAll } = await movementsWithoutCause(tx, MOVEMENTS_AT_ONCE);
  const isWhole = wallet.status === 'complete' && areAll;
  const judgement = reconcile(await knowledgeOf(tx, movements, { complete: isWhole, now }), books);
  const matched = judgement.places.filter((place) => place.kind === 'booked');
  await placeMovements(tx, matched);
  await forgetMatched(tx);
  let booked = await bookEntries(tx, judgement.entries);
  const shown = (kind: CauseKind, direction: Direction) =>
    matched
      .filter(({ cause, movement }) => cause.kind === kind && movement.direction === direction)
      .map(({ cause, movement }) => ({ id: cause.id, movementId: movement.id, money: movement.money }));
  await noteShownCharges(tx, shown('attempt', 'debit'), at);
  await judgeAgain(
    tx,
    shown('attempt', 'credit').map(({ id }) => id),
    at,
  );
  const refunds = shown('refund', 'credit').map(({ id: orderId, ...credit }) => ({ orderId, ...credit }));
  await settlePaidRefunds(tx, refunds, at);

  const unmatched = judgement.places.filter((place) => place.kind !== 'booked').map(({ movement }) => movement);
  const sums = async () => sumsOf(await journalSums(tx), judgement.outstanding, unmatched);
  const { balance } = wallet;
  // Whether a balance contains pending credits is not known.
  const comparable = isWhole && wallet.atRest && wallet.pendingSince === undefined ? balance : undefined;
  if (comparable !== undefined && !(await isBooked(tx, OPENING))) {
    const before = subtractMoney(comparable, expectedBalance(await sums(), comparable.currency));
    booked += await bookEntries(tx, [openingEntry(before)]);
  }
  const finalSums = await sums();
  const expected = comparable === undefined ? undefined : expectedBalance(finalSums, comparable.currency);
  const findings = [...judgement.findings, ...balanceFindings(comparable, expected)];
  await openCases(tx, findings, at);

  const isLeftOver = wallet.status === 'complete' && !isWhole;
  const report: ReconciliationRow = {
    id: newId('reconciliation'),
    runId: run.runId,
    status: isLeftOver ? 'incomplete' : wallet.status,
    detail: isLeftOver ? TOO_MANY : wallet.detail,
    startedAt: run.startedAt,
    finishedAt: at,
    readSince: new Date(wallet.since),
    pendingSince: wallet.pendingSince === undefined ? null : new Date(wallet.pendingSince),
    balance: balance?.amount ?? null,
    balanceCurrency: balance?.currency ?? null,
    expectedBalance: expected?.amount ?? null,
    counts: {
      read: wallet.read,
      new: isNew,
      matched: matched.length,
      booked,
      pending: judgement.places.filter(({ kind }) => kind === 'pending').length,
      unmatched: judgement.places.filter(({ kind }) => kind === 'orphan').length,
      outstanding: judgement.outstanding.length,
      findings: findings.length,
    },
    sums: finalSums,
    findings: findings.toSorted((one, other) => rank(one) - rank(other)).slice(0, LISTED_FINDINGS),
    findingCounts: countsOf(findings),
  };
  await addReconciliation(tx, report);
  const keptSince = new Date(now - books.reportsKeptMs);
  await forgetReconciliations(tx, keptSince);
  await forgetReadings(tx, keptSince);
  return report;
}

/** Never the first, with which the books begin, nor the newest. */
async function forgetReadings(tx: Executor, before: Date): Promise<void> {
  await tx.execute(sql`
    delete from ${walletReadings} where ${walletReadings.beganAt} < ${before} and ${walletReadings.id} not in (
      select min(id) from ${walletReadings} union all select max(id) from ${walletReadings})`);
}

/** The case waits for the credit of a failed attempt: its workflow reads the wallet and judges again. */
async function judgeAgain(tx: Executor, attemptIds: readonly string[], at: Date): Promise<void> {
  if (attemptIds.length === 0) return;
  const isOfSame = and(eq(cases.subjectKind, attempts.subjectKind), eq(cases.subjectId, attempts.subjectId));
  const waiting = await tx
    .selectDistinct({ kind: attempts.subjectKind, id: attempts.subjectId, attemptId: attempts.id })
    .from(attempts)
    .innerJoin(cases, and(isOfSame, eq(cases.reason, 'failed_but_charged'), isNull(cases.closedAt)))
    .where(inArray(attempts.id, [...attemptIds]));
  for (const { kind, id, attemptId } of waiting) {
    const message = 'The wallet shows a credit for the failed attempt; it is judged again.';
    await addTimelineEntry(
      tx,
      { kind, id },
      { event: 'books.credited', message, dedupKey: `books.credited:${attemptId}`, at },
    );
    // Without it, a run that has yet to be compared with the restarted database would take the wake as that comparison.
    const table = workTable(kind);
    await tx
      .update(table)
      .set({ nextStepAt: at })
      .where(and(eq(table.id, id), eq(table.status, 'needs_attention')));
    await requestWake(tx, { kind, id });
  }
}

async function knowledgeOf(
  tx: Executor,
  movements: Knowledge['movements'],
  rest: Pick<Knowledge, 'complete' | 'now'>,
): Promise<Knowledge> {
  const named = [...(await purchasesNamedBy(tx, movements)), ...(await purchasesKept(tx))];
  const purchases = [...new Map(named.map((purchase) => [purchase.attemptId, purchase])).values()];
  const placed = await placedMovements(
    tx,
    purchases.map(({ attemptId }) => attemptId),
  );
  return { movements, placed, purchases, outstanding: await outstandingEntries(tx), ...rest };
}

function openingEntry(before: Money) {
  const isDebt = before.amount.startsWith('-');
  return {
    direction: isDebt ? 'debit' : 'credit',
    money: isDebt ? negateMoney(before) : before,
    cause: OPENING,
  } as const;
}

function balanceFindings(balance: Money | undefined, expected: Money | undefined): Finding[] {
  if (balance === undefined || expected === undefined || equalMoney(balance, expected)) return [];
  const sum = plainText(expected);
  const detail = `The balance is ${plainText(balance)}; the sum of the movements is ${sum}.`;
  return [
    {
      kind: 'balance_differs',
      detail,
      money: { ...balance, amount: paddedAmount(subtractMoney(balance, expected).amount) },
    },
  ];
}

async function openCases(tx: Executor, findings: Judgement['findings'], at: Date): Promise<void> {
  for (const { kind, work, detail, attemptId, movementId, direction, comparison } of findings) {
    if (work === undefined || !isFindingCase(kind)) continue;
    if (comparison !== undefined && direction === 'debit' && attemptId !== undefined) {
      await reportAmount(tx, { work, attemptId, comparison, detail }, at);
    } else {
      const isNew = await openCase(tx, work, kind, detail, attemptId, FINDING_CASES[kind]);
      if (isNew && kind === 'charge_not_refunded') await announceDoubt(tx, work, 'charge_not_refunded', at);
    }
    await addTimelineEntry(tx, work, {
      event: `books.${kind}`,
      message: detail,
      ...(movementId !== undefined && { detail: { service_transaction_id: movementId } }),
      dedupKey: `books.${kind}:${movementId ?? attemptId ?? ''}`,
      at,
    });
  }
}

function countsOf(findings: readonly Finding[]): Partial<Record<FindingKind, number>> {
  return Object.fromEntries([...Map.groupBy(findings, ({ kind }) => kind)].map(([kind, all]) => [kind, all.length]));
}

function rank({ kind }: Finding): number {
  return findingKinds.indexOf(kind);
}
