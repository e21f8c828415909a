import {
  type WantedReading,
  databaseTime,
  hasReading,
  knownRows,
  readingSince,
  storeReading,
} from '#db/money/wallet-readings.ts';
import type { WalletReading } from '#domain/money/absence.ts';
import { equalMoney, type Money } from '#domain/money/money.ts';
import type { WorkDependencies } from '#fulfilment/purchase/dependencies.ts';
import type { OptionalResult } from '#upstream/client/calls.ts';
import type { Listing } from '#upstream/client/lists.ts';
import type { WalletTransaction } from '#upstream/contract.ts';
import { CLOCK_SKEW_MS, countsInWallet, isPending, movementOf } from '#upstream/mapping/wallet-movements.ts';

export type UnreadWallet = Exclude<OptionalResult<Listing<WalletTransaction>>, { ok: true }>;

/** As the service sent them. */
interface ReadRows {
  readonly ok: true;
  readonly reading: WalletReading;
  readonly items: readonly WalletTransaction[];
  /** All rows, or all back to a known one and to the time that was asked for. */
  readonly isReached: boolean;
  /** Also where it changed meanwhile; undefined: it could not be read. */
  readonly balance: Money | undefined;
}

interface Bounds {
  /** At least to a row that was known by this reading; undefined: to any known row. */
  readonly backTo?: number;
  /** At least to this time of the service, in Unix milliseconds. */
  readonly since?: number;
  readonly maxPages?: number;
  readonly deadlineMs?: number;
  readonly balanceAfter?: () => Promise<Money | undefined>;
}

/** When the balance changed while the rows were read, all is read again, this often at most. */
const READS = 3;

/**
 * Rows are not filtered: a filter by time fails with the time zone or clock of the service, and its empty answer would
 * look like an absence.
 */
export class WalletReadings {
  readonly #dependencies: Pick<WorkDependencies, 'database' | 'service'>;
  #last: Promise<unknown> = Promise.resolve();
  #hasFirst = false;
  #failedAt = -Infinity;

  constructor(dependencies: Pick<WorkDependencies, 'database' | 'service'>) {
    this.#dependencies = dependencies;
  }

  /** Concurrent callers share a reading. */
  async since(wanted: WantedReading): Promise<WalletReading | UnreadWallet> {
    const { database } = this.#dependencies;
    const find = () => database.run((db) => readingSince(db, wanted));
    const known = await find();
    if (known !== undefined) return known;
    const turn = this.#last.then(async () => {
      const stored = await find();
      if (stored !== undefined) return stored;
      const read = await this.read({ backTo: wanted.backTo });
      return read.ok ? read.reading : read;
    });
    this.#last = turn.catch(() => undefined);
    return turn;
  }

  /**
   * A proof that a purchase cost nothing compares with this reading. Stops no purchase when the wallet cannot be read.
   * A failed reading is not repeated for `pauseMs`.
   */
  async ensureFirst(pauseMs: number): Promise<void> {
    if (this.#hasFirst || performance.now() - this.#failedAt < pauseMs) return;
    if (await this.#dependencies.database.run(hasReading)) {
      this.#hasFirst = true;
      return;
    }
    const read = await this.read({ maxPages: 1 });
    this.#hasFirst = read.ok || read.kind === 'unsupported';
    if (!this.#hasFirst) this.#failedAt = performance.now();
  }

  /** Reads balance, rows, and balance again, and stores them. */
  async read(bounds: Bounds = {}): Promise<ReadRows | UnreadWallet> {
    const { database, service } = this.#dependencies;
    const balanceAfter = bounds.balanceAfter ?? (async () => this.#balance());
    for (let n = 1; ; n += 1) {
      const { beganAt, known } = await database.run(async (db) => ({
        beganAt: await databaseTime(db),
        known: await knownRows(db, bounds.backTo),
      }));
      const before = await this.#balance();
      const reach = reachesBack(known.ids, bounds.since);
      const { rows, isFiltered } = await readRows(service, known, reach, bounds);
      if (!rows.ok) return rows;
      const after = await balanceAfter();
      const isSteady = before !== undefined && after !== undefined && equalMoney(before, after);
      if (!isSteady && before !== undefined && after !== undefined && n < READS) continue;
      const { items, complete, hasGap = false } = rows.value;
      const isReached = complete || reach(items);
      // Whether the balance contains a row that is not final is not known.
      const isOpen = items.some((item) => isPending(item) && !isOlder(item, known.newestAt));
      const read = {
        beganAt,
        balance: isSteady && !isOpen ? after : undefined,
        isWhole: complete && !isFiltered,
        hasNoGap: isReached && !hasGap,
        movements: items.filter(countsInWallet).map(movementOf),
      };
      const reading = await database.transaction((tx) => storeReading(tx, read, CLOCK_SKEW_MS));
      return { ok: true, reading, items, isReached, balance: after ?? before };
    }
  }

  async #balance(): Promise<Money | undefined> {
    const wallet = await this.#dependencies.service.getWallet();
    return wallet.ok ? { amount: wallet.value.balance, currency: wallet.value.currency } : undefined;
  }
}

function isOlder({ created_at: at }: WalletTransaction, newestKnown: Date | null | undefined): boolean {
  return newestKnown != null && Date.parse(at) <= newestKnown.getTime();
}

/** Only where the service refuses that, reads those since the newest known row. */
async function readRows(
  service: WorkDependencies['service'],
  known: Awaited<ReturnType<typeof knownRows>>,
  isEnough: (page: readonly WalletTransaction[]) => boolean,
  { since, maxPages, deadlineMs }: Bounds,
): Promise<{ readonly rows: OptionalResult<Listing<WalletTransaction>>; readonly isFiltered: boolean }> {
  const bounds = { ...(maxPages !== undefined && { maxPages }), ...(deadlineMs !== undefined && { deadlineMs }) };
  const rows = await service.listWalletTransactions({ isEnough }, bounds);
  const isRefused = !rows.ok && rows.kind === 'failure' && rows.failure === 'invalid_request';
  if (!isRefused) return { rows, isFiltered: false };
  const from = Math.min(since ?? Infinity, (known.newestAt?.getTime() ?? 0) - CLOCK_SKEW_MS);
  return { rows: await service.listWalletTransactions({ since: Math.max(0, from) }, bounds), isFiltered: true };
}

/** Ends at a page with a known row. A list in another order than newest first is read to its end. */
function reachesBack(known: ReadonlySet<string>, since = Infinity): (page: readonly WalletTransaction[]) => boolean {
  const seen = new Set<string>();
  let oldest = Infinity;
  let isNewestFirst = true;
  let hasKnown = false;
  return (page) => {
    for (const { id, created_at: at } of page) {
      if (seen.has(id)) continue;
      seen.add(id);
      const time = Date.parse(at);
      if (time > oldest) isNewestFirst = false;
      oldest = Math.min(oldest, time);
      hasKnown ||= known.has(id);
    }
    return isNewestFirst && hasKnown && (since === Infinity || oldest < since);
  };
}
