import * as z from 'zod';
import { type Environment, ENVIRONMENTS, type ListOrder, type Page, type Store } from '#simulator/store/store.ts';

const row = z.object({
  sequence: z.number(),
  id: z.string(),
  environment: z.enum(ENVIRONMENTS),
  type: z.enum(['debit', 'credit']),
  amount: z.string(),
  currency: z.string(),
  balanceAfter: z.string(),
  reason: z.string(),
  orderId: z.string().nullable(),
  externalOrderId: z.string().nullable(),
  esimId: z.string().nullable(),
  topupId: z.string().nullable(),
  refundId: z.string().nullable(),
  vpnSubscriptionId: z.string().nullable(),
  externalSubscriptionId: z.string().nullable(),
  createdAt: z.number(),
});

const EVER = Number.MAX_SAFE_INTEGER;

export type LedgerEntry = Readonly<z.output<typeof row>>;

export type MovementSubject = Partial<
  Pick<
    LedgerEntry,
    'orderId' | 'externalOrderId' | 'esimId' | 'topupId' | 'refundId' | 'vpnSubscriptionId' | 'externalSubscriptionId'
  >
>;

export interface LedgerFilter {
  readonly reference?: string | undefined;
  /** Inclusive; epoch milliseconds. */
  readonly since?: number | undefined;
  /** Later movements are omitted; epoch milliseconds. */
  readonly until?: number | undefined;
  /** Later debits are omitted; epoch milliseconds. */
  readonly debitsUntil?: number | undefined;
  /** Limits the other movements to the newest. */
  readonly newest?: number | undefined;
  /** Limits the other movements to the oldest. */
  readonly oldest?: number | undefined;
}

const FILTERED = `FROM ledger WHERE environment = :environment
  AND (:reference IS NULL OR external_order_id = :reference)
  AND created_at BETWEEN :since AND :until AND (type = 'credit' OR created_at <= :debitsUntil)`;
const SORTED = { newestFirst: 'ORDER BY sequence DESC', oldestFirst: 'ORDER BY sequence' } as const;

/** Append-only: the database refuses changes. */
export class Ledger {
  readonly #store: Store;

  constructor(store: Store) {
    this.#store = store;
  }

  append(entry: Omit<LedgerEntry, 'sequence'>): void {
    this.#store.run(
      `INSERT INTO ledger (id, environment, type, amount, currency, balance_after, reason, order_id, external_order_id,
         esim_id, topup_id, refund_id, vpn_subscription_id, external_subscription_id, created_at)
       VALUES (:id, :environment, :type, :amount, :currency, :balanceAfter, :reason, :orderId, :externalOrderId,
         :esimId, :topupId, :refundId, :vpnSubscriptionId, :externalSubscriptionId, :createdAt)`,
      entry,
    );
  }

  lastBalance(environment: Environment, currency: string): string | undefined {
    const sql =
      'SELECT * FROM ledger WHERE environment = :environment AND currency = :currency ORDER BY sequence DESC LIMIT 1';
    return this.#store.get(row, sql, { environment, currency })?.balanceAfter;
  }

  lastTimeOf(environment: Environment, reason: string): number | undefined {
    const sql =
      'SELECT * FROM ledger WHERE environment = :environment AND reason = :reason ORDER BY sequence DESC LIMIT 1';
    return this.#store.get(row, sql, { environment, reason })?.createdAt;
  }

  ofOrder(orderId: string): LedgerEntry[] {
    const sql = `SELECT * FROM ledger WHERE order_id = :orderId AND reason IN ('order', 'refund') ORDER BY sequence`;
    return this.#store.all(row, sql, { orderId });
  }

  shown(
    environment: Environment,
    { reference, since = 0, until = EVER, debitsUntil = EVER, newest, oldest }: LedgerFilter,
    order: ListOrder,
    { cursor, limit }: Page,
  ): LedgerEntry[] {
    const filter = { environment, reference: reference ?? null, since, until, debitsUntil };
    const edge = (by: ListOrder, count: number) =>
      this.#store.get(row, `SELECT * ${FILTERED} ${SORTED[by]} LIMIT 1 OFFSET :count - 1`, { ...filter, count });
    let first = order === 'oldestFirst' && cursor !== undefined ? cursor + 1 : 0;
    let last = order === 'newestFirst' && cursor !== undefined ? cursor - 1 : EVER;
    if (newest !== undefined) first = Math.max(first, edge('newestFirst', newest)?.sequence ?? 0);
    if (oldest !== undefined) last = Math.min(last, edge('oldestFirst', oldest)?.sequence ?? EVER);
    const sql = `SELECT * ${FILTERED} AND sequence BETWEEN :first AND :last ${SORTED[order]} LIMIT :limit`;
    return this.#store.all(row, sql, { ...filter, first, last, limit });
  }

  list(
    filter: { readonly environment?: Environment | undefined; readonly external_order_id?: string | undefined },
    page: Page,
    order: ListOrder,
  ): LedgerEntry[] {
    return this.#store.list(row, 'ledger', filter, page, order);
  }

  debitsAfter(environment: Environment, currency: string, debitsUntil: number): LedgerEntry[] {
    return this.#store.all(
      row,
      `SELECT * FROM ledger WHERE environment = :environment AND currency = :currency AND type = 'debit'
         AND created_at > :debitsUntil`,
      { environment, currency, debitsUntil },
    );
  }

  countByType(environment: Environment): { debits: number; credits: number } {
    const { debit = 0, credit = 0 } = this.#store.counts('ledger', 'type', { environment });
    return { debits: debit, credits: credit };
  }
}
