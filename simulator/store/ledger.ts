import * as z from 'zod';
import { ENVIRONMENTS, type Environment } from '#simulator/environment.ts';
import type { Page } from '#simulator/store/page.ts';
import type { Store } from '#simulator/store/store.ts';

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

/** One movement of one wallet. */
export type LedgerEntry = Readonly<z.output<typeof row>>;

/** The records that a movement belongs to. */
export type MovementSubject = Partial<
  Pick<
    LedgerEntry,
    'orderId' | 'externalOrderId' | 'esimId' | 'topupId' | 'refundId' | 'vpnSubscriptionId' | 'externalSubscriptionId'
  >
>;

export interface LedgerFilter {
  readonly reference?: string | undefined;
  /** Movements from this time on; epoch milliseconds. */
  readonly since?: number | undefined;
  /** Movements after this time are omitted; epoch milliseconds. */
  readonly until?: number | undefined;
  /** Debits after this time are omitted; epoch milliseconds. */
  readonly debitsUntil?: number | undefined;
  /** Of the other movements, only the newest, this many. */
  readonly newest?: number | undefined;
  /** Of the other movements, only the oldest, this many. */
  readonly oldest?: number | undefined;
}

const FILTERED = `FROM ledger WHERE environment = :environment
  AND (:reference IS NULL OR external_order_id = :reference)
  AND created_at BETWEEN :since AND :until AND (type = 'credit' OR created_at <= :debitsUntil)`;
const sequenceOnly = z.object({ sequence: z.number() });

/** The movements of both wallets. They are append-only: the database refuses changes. */
export class Ledger {
  readonly #insert;
  readonly #last;
  readonly #ofOrder;
  readonly #listed;
  readonly #limitOf;
  readonly #oldestFirst;
  readonly #newest;
  readonly #hidden;
  readonly #lastOfReason;
  readonly #counts;

  constructor(store: Store) {
    this.#insert = store.command(
      `INSERT INTO ledger (id, environment, type, amount, currency, balance_after, reason, order_id, external_order_id,
         esim_id, topup_id, refund_id, vpn_subscription_id, external_subscription_id, created_at)
       VALUES (:id, :environment, :type, :amount, :currency, :balanceAfter, :reason, :orderId, :externalOrderId,
         :esimId, :topupId, :refundId, :vpnSubscriptionId, :externalSubscriptionId, :createdAt)`,
    );
    this.#last = store.query(
      z.object({ balanceAfter: z.string() }),
      `SELECT balance_after FROM ledger WHERE environment = :environment AND currency = :currency
       ORDER BY sequence DESC LIMIT 1`,
    );
    this.#ofOrder = store.query(
      row,
      `SELECT * FROM ledger WHERE order_id = :orderId AND reason IN ('order', 'refund') ORDER BY sequence`,
    );
    const listed = (order: 'ASC' | 'DESC') =>
      store.query(
        row,
        `SELECT * ${FILTERED} AND sequence BETWEEN :first AND :last ORDER BY sequence ${order} LIMIT :limit`,
      );
    this.#listed = { newestFirst: listed('DESC'), oldestFirst: listed('ASC') };
    const limitOf = (order: 'ASC' | 'DESC') =>
      store.query(sequenceOnly, `SELECT sequence ${FILTERED} ORDER BY sequence ${order} LIMIT 1 OFFSET :count - 1`);
    this.#limitOf = { newest: limitOf('DESC'), oldest: limitOf('ASC') };
    this.#newest = store.query(row, 'SELECT * FROM ledger ORDER BY sequence DESC LIMIT :limit');
    this.#oldestFirst = store.query(
      row,
      `SELECT * FROM ledger WHERE (:environment IS NULL OR environment = :environment) AND sequence > :after
         AND (:reference IS NULL OR external_order_id = :reference)
       ORDER BY sequence LIMIT :limit`,
    );
    this.#hidden = store.query(
      z.object({ amount: z.string() }),
      `SELECT amount FROM ledger WHERE environment = :environment AND currency = :currency AND type = 'debit'
         AND created_at > :debitsUntil`,
    );
    this.#lastOfReason = store.query(
      z.object({ createdAt: z.number() }),
      `SELECT created_at FROM ledger WHERE environment = :environment AND reason = :reason
       ORDER BY sequence DESC LIMIT 1`,
    );
    this.#counts = store.query(
      z.object({ type: z.string(), count: z.number() }),
      'SELECT type, count(*) AS count FROM ledger WHERE environment = :environment GROUP BY type',
    );
  }

  append(entry: Omit<LedgerEntry, 'sequence'>): void {
    this.#insert.run(entry);
  }

  /** @returns undefined when the wallet has no movement in this currency. */
  lastBalance(environment: Environment, currency: string): string | undefined {
    return this.#last.get({ environment, currency })?.balanceAfter;
  }

  /** Time of the newest movement with this reason, epoch milliseconds. */
  lastTimeOf(environment: Environment, reason: string): number | undefined {
    return this.#lastOfReason.get({ environment, reason })?.createdAt;
  }

  /** The debit of an order, and its credits. */
  ofOrder(orderId: string): LedgerEntry[] {
    return this.#ofOrder.all({ orderId });
  }

  /** A page of the movements that match the filter. */
  list(
    environment: Environment,
    { reference, since = 0, until = EVER, debitsUntil = EVER, newest, oldest }: LedgerFilter,
    order: 'newestFirst' | 'oldestFirst',
    { cursor, limit }: Page,
  ): LedgerEntry[] {
    const filter = { environment, reference: reference ?? null, since, until, debitsUntil };
    let first = order === 'oldestFirst' && cursor !== undefined ? cursor + 1 : 0;
    let last = order === 'newestFirst' && cursor !== undefined ? cursor - 1 : EVER;
    if (newest !== undefined)
      first = Math.max(first, this.#limitOf.newest.get({ ...filter, count: newest })?.sequence ?? 0);
    if (oldest !== undefined)
      last = Math.min(last, this.#limitOf.oldest.get({ ...filter, count: oldest })?.sequence ?? EVER);
    return this.#listed[order].all({ ...filter, first, last, limit });
  }

  /** The newest movements of both environments. */
  newest(limit: number): LedgerEntry[] {
    return this.#newest.all({ limit });
  }

  oldestFirst(environment: Environment | undefined, reference: string | undefined, page: Page): LedgerEntry[] {
    return this.#oldestFirst.all({
      environment: environment ?? null,
      reference: reference ?? null,
      after: page.cursor ?? 0,
      limit: page.limit,
    });
  }

  /** Amounts of the debits in a currency after `debitsUntil`, epoch milliseconds. */
  debitsAfter(environment: Environment, currency: string, debitsUntil: number): string[] {
    return this.#hidden.all({ environment, currency, debitsUntil }).map(({ amount }) => amount);
  }

  countByType(environment: Environment): { debits: number; credits: number } {
    const counts = new Map(this.#counts.all({ environment }).map(({ type, count }) => [type, count]));
    return { debits: counts.get('debit') ?? 0, credits: counts.get('credit') ?? 0 };
  }
}
