import { findReportOfRun, lockBooks, unreadSince, type ReconciliationRow } from '#db/money/reconciliations.ts';
import type { Money } from '#domain/money/money.ts';
import type { Runway } from '#domain/money/runway.ts';
import type { BooksPolicy, RunwayPolicy } from '#domain/policy/upkeep-policy.ts';
import { counted } from '#domain/text.ts';
import { type Wallet, writeBooks } from '#fulfilment/books/reconcile-books.ts';
import { BalanceReader } from '#fulfilment/purchase/balance-reader.ts';
import type { WorkDependencies } from '#fulfilment/purchase/dependencies.ts';
import { WalletReadings } from '#fulfilment/purchase/wallet-readings.ts';
import { noteRunway } from '#fulfilment/upkeep/runway.ts';
import type { Logger } from '#telemetry/logger.ts';
import type { WalletTransaction } from '#upstream/contract.ts';
import { CLOCK_SKEW_MS, isPending } from '#upstream/mapping/wallet-movements.ts';
import type { BooksResult } from '#workflows/messages.ts';

type BooksDependencies = Pick<WorkDependencies, 'database' | 'service' | 'gate' | 'onGate' | 'now' | 'readings'> & {
  readonly books: BooksPolicy;
  readonly runway: RunwayPolicy;
  readonly logger: Logger;
};

export function createBooksActivities(dependencies: BooksDependencies) {
  const { database, books, runway, logger, now } = dependencies;
  const readings = dependencies.readings ?? new WalletReadings(dependencies);
  const reader = new BalanceReader(dependencies);
  return {
    /** Announces once when the runway falls below the threshold, and once when it recovers. */
    async watchRunway(): Promise<{ kind: Runway['kind'] }> {
      const { runway: found, change } = await database.transaction((tx) => noteRunway(tx, runway, now()));
      const facts = { runway: found };
      if (change === 'low')
        logger.error(facts, 'at the rate of recent sales, the wallet lasts for less than wallet.runway_low');
      if (change === 'restored')
        logger.info(facts, 'at the rate of recent sales, the wallet lasts for wallet.runway_low or longer again');
      return { kind: found.kind };
    },

    /** Compares the journal with the wallet and adds missing journal rows. The same `runId` makes one report. */
    async reconcileBooks({ runId }: { runId: string }): Promise<BooksResult> {
      const known = await database.run((db) => findReportOfRun(db, runId));
      if (known !== undefined) return resultOf(known);
      const startedAt = new Date(now());
      const since = await database.run((db) => unreadSince(db, { ...books, skewMs: CLOCK_SKEW_MS, now: now() }));
      // Not since the last comparison: a service may state times without a zone, hours off.
      const pendingFrom = now() - books.reportsKeptMs;
      const wallet = await readWallet(readings, () => reader.read(), since, books, pendingFrom);
      const report = await database.transaction(async (tx) => {
        await lockBooks(tx);
        const made = await findReportOfRun(tx, runId);
        return made ?? (await writeBooks(tx, wallet, { books, runId, startedAt, now: now() }));
      });
      logReport(logger, report);
      return resultOf(report);
    },
  };
}

function resultOf({ id, status, counts }: ReconciliationRow): BooksResult {
  return { id, status, findings: counts.findings };
}

async function readWallet(
  readings: WalletReadings,
  // The balance also counts for the purchase gate, which announces a low balance.
  readForGate: () => Promise<Money | undefined>,
  since: number,
  { pages, readDeadlineMs }: BooksPolicy,
  pendingFrom: number,
): Promise<Wallet> {
  const read = await readings.read({
    since,
    maxPages: pages,
    deadlineMs: readDeadlineMs,
    balanceAfter: readForGate,
  });
  if (!read.ok) {
    const wallet = { read: 0, since, balance: await readForGate(), atRest: false, pendingSince: undefined };
    if (read.kind === 'failure') return { ...wallet, status: 'unavailable', detail: read.detail };
    return {
      ...wallet,
      status: 'unsupported',
      detail: 'This service shows no wallet transactions, so the books cannot be compared.',
    };
  }
  const { reading, items, balance, isReached } = read;
  const recent = items.filter(({ created_at: at }) => Date.parse(at) >= since);
  const detail = isReached
    ? 'All movements were read.'
    : `The wallet has more than the ${counted(items.length, 'movement')} read since ${new Date(since).toISOString()}.`;
  return {
    status: isReached ? 'complete' : 'incomplete',
    detail,
    read: recent.length,
    since,
    balance,
    atRest: reading.balance !== undefined,
    pendingSince: oldestPending(items.filter(({ created_at: at }) => Date.parse(at) >= pendingFrom)),
  };
}

/** Epoch milliseconds of the oldest credit that is not final. */
function oldestPending(items: readonly WalletTransaction[]): number | undefined {
  const times = items
    .filter((each) => each.type === 'credit' && isPending(each))
    .map(({ created_at: at }) => Date.parse(at));
  return times.length === 0 ? undefined : times.reduce((one, other) => Math.min(one, other));
}

function logReport(logger: Logger, { id, status, counts, findingCounts }: ReconciliationRow): void {
  const found = { reconciliation: id, status, ...counts, kinds: findingCounts };
  if (counts.findings > 0) {
    logger.warn(found, `the books do not match the wallet at the service: ${Object.keys(findingCounts).join(', ')}`);
  } else logger.info(found, 'the books were compared with the wallet at the service');
}
