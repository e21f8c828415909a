import { noteShownCharges } from '#activities/upkeep/charges.ts';
import type { BooksActivities } from '#activities/upkeep/upkeep-types.ts';
import { WalletReader } from '#activities/upkeep/wallet-reader.ts';
import type { WorkDependencies } from '#activities/work/work-dependencies.ts';
import type { Executor } from '#db/connection/database.ts';
import { newId } from '#db/connection/ids.ts';
import { bookEntries, isBooked } from '#db/money/journal.ts';
import {
  addReconciliation,
  findReportOfRun,
  forgetReconciliations,
  lockBooks,
  unreadSince,
  type ReconciliationRow,
} from '#db/money/reconciliations.ts';
import {
  awaitedEntries,
  journalSums,
  movementsWithoutCause,
  placedMovements,
  placeMovements,
  purchasesKept,
  purchasesNamedBy,
  storeMovements,
  type ReadMovement,
} from '#db/money/wallet-movements.ts';
import { openCase, openCaseOnce } from '#db/work/cases.ts';
import { addTimelineEntry } from '#db/work/timeline.ts';
import {
  expectedBalance,
  findingKinds,
  OPENING,
  sumsOf,
  type FindingKind,
  type ReconciliationStatus,
} from '#domain/money/books.ts';
import type { Finding } from '#domain/money/findings.ts';
import { equalMoney, negateMoney, paddedAmount, plainText, subtractMoney, type Money } from '#domain/money/money.ts';
import { reconcile, type Judgement, type Knowledge } from '#domain/money/reconciliation.ts';
import type { BooksPolicy, RunwayPolicy } from '#domain/policy/upkeep-policy.ts';
import type { AttentionReason } from '#domain/work/attention.ts';
import { noteRunway } from '#fulfilment/upkeep/runway.ts';
import { settlePaidRefunds } from '#fulfilment/work/refunds.ts';
import type { Logger } from '#telemetry/logger.ts';
import type { ServiceClient } from '#upstream/client.ts';
import { CLOCK_SKEW_MS, movementOf } from '#upstream/observations/wallet-movements.ts';
import type { BooksResult } from '#workflows/messages.ts';

export interface BooksDependencies extends Pick<WorkDependencies, 'database' | 'service' | 'gate' | 'onGate' | 'now'> {
  readonly books: BooksPolicy;
  readonly runway: RunwayPolicy;
  readonly logger: Logger;
}

/** Makes the activity that compares our books with the service's wallet (rule 7). */
export function createBooksActivities(dependencies: BooksDependencies): BooksActivities {
  const { database, service, books, runway, logger, gate, onGate, now } = dependencies;
  const reader = new WalletReader({
    database,
    service,
    policy: gate,
    now,
    onCrossing: onGate?.balanceCrossed.bind(onGate),
  });
  return {
    async watchRunway() {
      const { runway: found, change } = await database.transaction((tx) => noteRunway(tx, runway, now()));
      if (change === 'low')
        logger.error({ runway: found }, 'the wallet lasts shorter than POLICY_RUNWAY_LOW at the pace of recent sales');
      if (change === 'restored') logger.info({ runway: found }, 'the wallet lasts longer than POLICY_RUNWAY_LOW again');
      return { kind: found.kind };
    },

    async reconcileBooks({ runId }) {
      const known = await database.run((db) => findReportOfRun(db, runId));
      if (known !== undefined) return resultOf(known);
      const startedAt = new Date(now());
      const since = await database.run((db) => unreadSince(db, { overlapMs: books.overlapMs, skewMs: CLOCK_SKEW_MS }));
      const wallet = await readWallet(service, () => reader.read(), since, books);
      const report = await database.transaction(async (tx) => {
        await lockBooks(tx);
        const made = await findReportOfRun(tx, runId);
        return made ?? (await writeBooks(tx, wallet, { books, runId, startedAt, now: now() }));
      });
      tell(logger, report);
      return resultOf(report);
    },
  };
}

function resultOf({ id, status, counts }: ReconciliationRow): BooksResult {
  return { id, status, findings: counts.findings };
}

/** The service's wallet as it was read. */
interface Wallet {
  readonly status: ReconciliationStatus;
  readonly detail: string;
  readonly movements: readonly ReadMovement[];
  readonly since: number;
  /** Undefined where it could not be read. */
  readonly balance: Money | undefined;
  /** False when the wallet moved while it was read: then its balance is not that of the movements. */
  readonly atRest: boolean;
}

/** Balance and movements are two calls: a wallet that moved in between is read again, so often. */
const READS = 3;

async function readWallet(
  service: ServiceClient,
  readForGate: () => Promise<Money | undefined>,
  since: number,
  { pages, readDeadlineMs }: BooksPolicy,
): Promise<Wallet> {
  for (let read = 1; ; read += 1) {
    const before = await balanceOf(service);
    const answer = await service.listWalletTransactions({ since }, { maxPages: pages, deadlineMs: readDeadlineMs });
    if (!answer.ok) {
      const wallet = { movements: [], since, balance: (await readForGate()) ?? before, atRest: false };
      if (answer.kind === 'failure') return { ...wallet, status: 'unavailable', detail: answer.detail };
      return {
        ...wallet,
        status: 'unsupported',
        detail: 'This service shows no wallet transactions: nothing can be compared.',
      };
    }
    const { items, complete } = answer.value;
    // What is read here counts for the purchase gate as well, and tells when the balance is low.
    const after = await readForGate();
    const atRest = before !== undefined && after !== undefined && equalMoney(before, after);
    if (!atRest && complete && before !== undefined && read < READS) continue;
    const detail = complete
      ? 'All movements were read.'
      : `The wallet has more movements since ${new Date(since).toISOString()} than the ${items.length} that were read.`;
    // A service that ignores the filter shows what was before our time, too.
    const movements = items.map(movementOf).filter(({ occurredAt }) => occurredAt >= since);
    return { status: complete ? 'complete' : 'incomplete', detail, movements, since, balance: after ?? before, atRest };
  }
}

async function balanceOf(service: ServiceClient): Promise<Money | undefined> {
  const wallet = await service.getWallet();
  return wallet.ok ? { amount: wallet.value.balance, currency: wallet.value.currency } : undefined;
}

interface Run {
  readonly books: BooksPolicy;
  readonly runId: string;
  readonly startedAt: Date;
  /** Epoch milliseconds. */
  readonly now: number;
}

/** More at a time would fill the memory; what is left over is taken next time, and the report says so. */
const MOVEMENTS_AT_ONCE = 20_000;
/** A report is read by a person. */
const LISTED_FINDINGS = 200;

async function writeBooks(tx: Executor, wallet: Wallet, run: Run): Promise<ReconciliationRow> {
  const { books, now } = run;
  const at = new Date(now);
  const isNew = await storeMovements(tx, wallet.movements, at);
  const movements = await movementsWithoutCause(tx, MOVEMENTS_AT_ONCE);
  const isWhole = wallet.status === 'complete' && movements.length < MOVEMENTS_AT_ONCE;
  const judgement = reconcile(await knowledgeOf(tx, movements, { complete: isWhole, now }), books);
  const matched = judgement.places.filter((place) => place.kind === 'booked');
  await placeMovements(tx, matched);
  let booked = await bookEntries(tx, judgement.entries);
  const debits = matched.flatMap(({ cause, movement, attemptId }) =>
    cause.kind === 'attempt' && movement.direction === 'debit' && attemptId !== null
      ? [{ attemptId, money: movement.money }]
      : [],
  );
  await noteShownCharges(tx, debits, at);
  const refunded = matched.filter(({ cause, movement }) => cause.kind === 'refund' && movement.direction === 'credit');
  await settlePaidRefunds(
    tx,
    refunded.map(({ cause, movement }) => ({ orderId: cause.id, movementId: movement.id, money: movement.money })),
    at,
  );

  const unmatched = judgement.places.filter((place) => place.kind !== 'booked').map(({ movement }) => movement);
  const sums = async () => sumsOf(await journalSums(tx), judgement.awaited, unmatched);
  const { balance } = wallet;
  const comparable = isWhole && wallet.atRest ? balance : undefined;
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
    detail: isLeftOver ? `More than ${MOVEMENTS_AT_ONCE} movements have no cause yet.` : wallet.detail,
    startedAt: run.startedAt,
    finishedAt: at,
    readSince: new Date(wallet.since),
    balance: balance?.amount ?? null,
    balanceCurrency: balance?.currency ?? null,
    expectedBalance: expected?.amount ?? null,
    counts: {
      read: wallet.movements.length,
      new: isNew,
      matched: matched.length,
      booked,
      pending: judgement.places.filter(({ kind }) => kind === 'pending').length,
      orphans: judgement.places.filter(({ kind }) => kind === 'orphan').length,
      awaited: judgement.awaited.length,
      findings: findings.length,
    },
    sums: finalSums,
    findings: findings.toSorted((one, other) => rank(one) - rank(other)).slice(0, LISTED_FINDINGS),
    findingCounts: countsOf(findings),
  };
  await addReconciliation(tx, report);
  await forgetReconciliations(tx, new Date(now - books.reportsKeptMs));
  return report;
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
  return { movements, placed, purchases, awaited: await awaitedEntries(tx), ...rest };
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
  const detail = `The balance is ${plainText(balance)}; the movements that the service shows come to ${plainText(expected)}.`;
  return [
    {
      kind: 'balance_differs',
      detail,
      money: { ...balance, amount: paddedAmount(subtractMoney(balance, expected).amount) },
    },
  ];
}

/** Findings about work that wait for a person. `once`: what is so until somebody changes it is told once. */
const CASES = {
  debited_twice: { once: false },
  amount_differs: { once: false },
  debited_for_nothing: { once: true },
  movement_missing: { once: true },
} as const satisfies Partial<Record<FindingKind & AttentionReason, { readonly once: boolean }>>;

async function openCases(tx: Executor, findings: Judgement['findings'], at: Date): Promise<void> {
  for (const { kind, work, detail, attemptId, movementId } of findings) {
    if (work === undefined || !isCase(kind)) continue;
    const open = CASES[kind].once ? openCaseOnce : openCase;
    await open(tx, work, kind, detail, attemptId);
    await addTimelineEntry(tx, work, {
      event: `books.${kind}`,
      message: detail,
      dedupKey: `books.${kind}:${movementId ?? attemptId ?? ''}`,
      at,
    });
  }
}

function isCase(kind: FindingKind): kind is keyof typeof CASES {
  return kind in CASES;
}

function countsOf(findings: readonly Finding[]): Partial<Record<FindingKind, number>> {
  return Object.fromEntries([...Map.groupBy(findings, ({ kind }) => kind)].map(([kind, all]) => [kind, all.length]));
}

function rank({ kind }: Finding): number {
  return findingKinds.indexOf(kind);
}

function tell(logger: Logger, { id, status, counts, findingCounts }: ReconciliationRow): void {
  const found = { reconciliation: id, status, ...counts, kinds: findingCounts };
  if (counts.findings > 0) {
    logger.warn(found, `the books do not match the wallet at the service: ${Object.keys(findingCounts).join(', ')}`);
  } else logger.info(found, 'the books were compared with the wallet at the service');
}
