import * as z from 'zod';
import { type Environment, ENVIRONMENTS, type ListOrder, type Page, type Store } from '#simulator/store/store.ts';

export const SALE_KINDS = ['order', 'topup', 'vpn'] as const;
export type SaleKind = (typeof SALE_KINDS)[number];

const saleRow = z.object({
  sequence: z.number(),
  id: z.string(),
  environment: z.enum(ENVIRONMENTS),
  kind: z.enum(SALE_KINDS),
  /** A top-up has none. */
  reference: z.string().nullable(),
  itemId: z.number(),
  status: z.enum(['processing', 'completed', 'failed']),
  price: z.string(),
  currency: z.string(),
  /** Delivered by an order, or recharged by a top-up. */
  esimId: z.string().nullable(),
  failureCode: z.string().nullable(),
  failureMessage: z.string().nullable(),
  /** Counts from the failure; null for no credit. */
  creditAfterMs: z.number().nullable(),
  dueAt: z.number().nullable(),
  dueOutcome: z.enum(['completed', 'failed']).nullable(),
  creditDueAt: z.number().nullable(),
  createdAt: z.number(),
  updatedAt: z.number(),
});

export type SaleRecord = Readonly<z.output<typeof saleRow>>;

type NewSale = Omit<SaleRecord, 'sequence' | 'status' | 'failureCode' | 'failureMessage' | 'creditDueAt' | 'updatedAt'>;

export interface Failure {
  readonly code: string;
  readonly message: string;
}

export class Sales {
  readonly #store: Store;

  constructor(store: Store) {
    this.#store = store;
  }

  insert(sale: NewSale): void {
    this.#store.run(
      `INSERT INTO sales (id, environment, kind, reference, item_id, esim_id, status, price, currency, credit_after_ms,
         due_at, due_outcome, created_at, updated_at)
       VALUES (:id, :environment, :kind, :reference, :itemId, :esimId, 'processing', :price, :currency, :creditAfterMs,
         :dueAt, :dueOutcome, :createdAt, :createdAt)`,
      sale,
    );
  }

  get(kind: SaleKind, id: string, environment?: Environment): SaleRecord | undefined {
    const sale = this.#store.get(saleRow, 'SELECT * FROM sales WHERE id = :id', { id });
    if (sale?.kind !== kind) return undefined;
    return environment === undefined || sale.environment === environment ? sale : undefined;
  }

  byReference(environment: Environment, kind: SaleKind, reference: string): SaleRecord | undefined {
    const sql =
      'SELECT * FROM sales WHERE environment = :environment AND kind = :kind AND reference = :reference LIMIT 1';
    return this.#store.get(saleRow, sql, { environment, kind, reference });
  }

  topups(esimId: string, status: SaleRecord['status']): SaleRecord[] {
    const sql = `SELECT * FROM sales WHERE esim_id = :esimId AND kind = 'topup' AND status = :status ORDER BY sequence`;
    return this.#store.all(saleRow, sql, { esimId, status });
  }

  list(
    filter: {
      readonly kind: SaleKind;
      readonly environment?: Environment | undefined;
      readonly reference?: string | undefined;
      readonly esim_id?: string | undefined;
    },
    page: Page,
    order: ListOrder,
  ): SaleRecord[] {
    return this.#store.list(saleRow, 'sales', filter, page, order);
  }

  due(now: number): SaleRecord[] {
    return this.#store.all(saleRow, 'SELECT * FROM sales WHERE due_at <= :now ORDER BY due_at, sequence', { now });
  }

  creditDue(now: number): SaleRecord[] {
    const sql = 'SELECT * FROM sales WHERE credit_due_at <= :now ORDER BY credit_due_at, sequence';
    return this.#store.all(saleRow, sql, { now });
  }

  /** Epoch milliseconds; includes credits. */
  nextDue(): number | undefined {
    return this.#store.least(
      'due',
      `(SELECT min(due_at) AS due FROM sales WHERE due_at IS NOT NULL
        UNION ALL SELECT min(credit_due_at) FROM sales WHERE credit_due_at IS NOT NULL)`,
    );
  }

  complete(id: string, esimId: string | undefined, now: number): boolean {
    const changed = this.#store.run(
      `UPDATE sales SET status = 'completed', esim_id = coalesce(:esimId, esim_id), due_at = NULL, due_outcome = NULL,
         updated_at = :now
       WHERE id = :id AND status = 'processing'`,
      { id, esimId: esimId ?? null, now },
    );
    return changed === 1;
  }

  fail(id: string, { code, message }: Failure, now: number): boolean {
    const changed = this.#store.run(
      `UPDATE sales SET status = 'failed', failure_code = :code, failure_message = :message, due_at = NULL,
         due_outcome = NULL, updated_at = :now
       WHERE id = :id AND status = 'processing'`,
      { id, code, message, now },
    );
    return changed === 1;
  }

  setCreditDue(id: string, dueAt: number | null): void {
    this.#store.run('UPDATE sales SET credit_due_at = :dueAt WHERE id = :id', { id, dueAt });
  }

  countByStatus(environment: Environment, kind: SaleKind): Record<string, number> {
    return this.#store.counts('sales', 'status', { environment, kind });
  }
}

const subscriptionRow = z.object({
  id: z.string(),
  status: z.enum(['active', 'cancelled', 'expired']),
  username: z.string(),
  password: z.string(),
  server: z.string(),
  startedAt: z.number(),
  expiresAt: z.number(),
  cancelledAt: z.number().nullable(),
  /** When an accepted cancellation takes effect. */
  cancelDueAt: z.number().nullable(),
});

/** Before it is active, only its sale exists. */
export type SubscriptionRecord = Readonly<z.output<typeof subscriptionRow>>;

export class Subscriptions {
  readonly #store: Store;

  constructor(store: Store) {
    this.#store = store;
  }

  insert(subscription: Omit<SubscriptionRecord, 'status' | 'cancelledAt' | 'cancelDueAt'>): void {
    this.#store.run(
      `INSERT INTO vpn_subscriptions (id, status, username, password, server, started_at, expires_at)
       VALUES (:id, 'active', :username, :password, :server, :startedAt, :expiresAt)`,
      subscription,
    );
  }

  get(id: string): SubscriptionRecord | undefined {
    return this.#store.get(subscriptionRow, 'SELECT * FROM vpn_subscriptions WHERE id = :id', { id });
  }

  end(id: string, status: 'cancelled' | 'expired', now: number): boolean {
    const changed = this.#store.run(
      `UPDATE vpn_subscriptions SET status = :status, cancelled_at = :cancelledAt, cancel_due_at = NULL
       WHERE id = :id AND status = 'active'`,
      { id, status, cancelledAt: status === 'cancelled' ? now : null },
    );
    return changed === 1;
  }

  setCancelDue(id: string, dueAt: number): void {
    const sql = `UPDATE vpn_subscriptions SET cancel_due_at = :dueAt WHERE id = :id AND status = 'active'`;
    this.#store.run(sql, { id, dueAt });
  }

  due(now: number): SubscriptionRecord[] {
    return this.#store.all(
      subscriptionRow,
      `SELECT * FROM vpn_subscriptions
       WHERE status = 'active' AND (expires_at <= :now OR cancel_due_at <= :now) ORDER BY expires_at, id`,
      { now },
    );
  }

  nextDue(): number | undefined {
    return this.#store.least(
      'due',
      `(SELECT min(expires_at) AS due FROM vpn_subscriptions WHERE status = 'active'
        UNION ALL SELECT min(cancel_due_at) FROM vpn_subscriptions WHERE cancel_due_at IS NOT NULL)`,
    );
  }

  /** A sale that is no subscription yet counts with its own status. */
  countByStatus(environment: Environment): Record<string, number> {
    const from = 'sales LEFT JOIN vpn_subscriptions AS s ON s.id = sales.id';
    return this.#store.counts(from, 'coalesce(s.status, sales.status)', { environment, kind: 'vpn' });
  }
}
