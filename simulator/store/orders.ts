import * as z from 'zod';
import { ENVIRONMENTS, type Environment } from '#simulator/environment.ts';
import type { Page } from '#simulator/store/page.ts';
import type { Store } from '#simulator/store/store.ts';

const row = z.object({
  sequence: z.number(),
  id: z.string(),
  environment: z.enum(ENVIRONMENTS),
  externalOrderId: z.string(),
  packageId: z.number(),
  status: z.enum(['processing', 'completed', 'failed']),
  price: z.string(),
  currency: z.string(),
  esimId: z.string().nullable(),
  failureCode: z.string().nullable(),
  failureMessage: z.string().nullable(),
  /** From a failure to its credit, in milliseconds; null for no credit. */
  creditAfterMs: z.number().nullable(),
  /** When `dueOutcome` comes about; null when nothing is planned. */
  dueAt: z.number().nullable(),
  dueOutcome: z.enum(['completed', 'failed']).nullable(),
  creditDueAt: z.number().nullable(),
  createdAt: z.number(),
  updatedAt: z.number(),
});

/** An order as the simulator keeps it. */
export type OrderRecord = Readonly<z.output<typeof row>>;

export type NewOrder = Pick<
  OrderRecord,
  | 'id'
  | 'environment'
  | 'externalOrderId'
  | 'packageId'
  | 'price'
  | 'currency'
  | 'creditAfterMs'
  | 'dueAt'
  | 'dueOutcome'
  | 'createdAt'
>;

export interface Failure {
  readonly code: string;
  readonly message: string;
}

export class Orders {
  readonly #insert;
  readonly #get;
  readonly #byReference;
  readonly #newestFirst;
  readonly #oldestFirst;
  readonly #due;
  readonly #creditDue;
  readonly #nextDue;
  readonly #complete;
  readonly #fail;
  readonly #setCreditDue;
  readonly #counts;

  constructor(store: Store) {
    this.#insert = store.command(
      `INSERT INTO orders (id, environment, external_order_id, package_id, status, price, currency, credit_after_ms,
         due_at, due_outcome, created_at, updated_at)
       VALUES (:id, :environment, :externalOrderId, :packageId, 'processing', :price, :currency, :creditAfterMs,
         :dueAt, :dueOutcome, :createdAt, :createdAt)`,
    );
    this.#get = store.query(row, 'SELECT * FROM orders WHERE id = :id');
    this.#byReference = store.query(
      row,
      'SELECT * FROM orders WHERE environment = :environment AND external_order_id = :reference LIMIT 1',
    );
    this.#newestFirst = store.query(
      row,
      `SELECT * FROM orders WHERE environment = :environment AND sequence < :before
         AND (:reference IS NULL OR external_order_id = :reference)
       ORDER BY sequence DESC LIMIT :limit`,
    );
    this.#oldestFirst = store.query(
      row,
      `SELECT * FROM orders WHERE (:environment IS NULL OR environment = :environment) AND sequence > :after
         AND (:reference IS NULL OR external_order_id = :reference)
       ORDER BY sequence LIMIT :limit`,
    );
    this.#due = store.query(row, 'SELECT * FROM orders WHERE due_at <= :now ORDER BY due_at, sequence');
    this.#creditDue = store.query(
      row,
      'SELECT * FROM orders WHERE credit_due_at <= :now ORDER BY credit_due_at, sequence',
    );
    this.#nextDue = store.query(
      z.object({ due: z.number().nullable() }),
      `SELECT min(due) AS due FROM (
         SELECT min(due_at) AS due FROM orders WHERE due_at IS NOT NULL
         UNION ALL SELECT min(credit_due_at) FROM orders WHERE credit_due_at IS NOT NULL)`,
    );
    this.#complete = store.command(
      `UPDATE orders SET status = 'completed', esim_id = :esimId, due_at = NULL, due_outcome = NULL, updated_at = :now
       WHERE id = :id AND status = 'processing'`,
    );
    this.#fail = store.command(
      `UPDATE orders SET status = 'failed', failure_code = :code, failure_message = :message, due_at = NULL,
         due_outcome = NULL, updated_at = :now
       WHERE id = :id AND status = 'processing'`,
    );
    this.#setCreditDue = store.command('UPDATE orders SET credit_due_at = :dueAt WHERE id = :id');
    this.#counts = store.query(
      z.object({ status: z.string(), count: z.number() }),
      'SELECT status, count(*) AS count FROM orders WHERE environment = :environment GROUP BY status',
    );
  }

  insert(order: NewOrder): void {
    this.#insert.run(order);
  }

  /** @returns undefined when there is none, or it belongs to another environment than the given one. */
  get(id: string, environment?: Environment): OrderRecord | undefined {
    const order = this.#get.get({ id });
    return environment === undefined || order?.environment === environment ? order : undefined;
  }

  byReference(environment: Environment, reference: string): OrderRecord | undefined {
    return this.#byReference.get({ environment, reference });
  }

  /** @param page `cursor` is the sequence number that the page before ended with. */
  newestFirst(environment: Environment, reference: string | undefined, page: Page): OrderRecord[] {
    const before = page.cursor ?? Number.MAX_SAFE_INTEGER;
    return this.#newestFirst.all({ environment, reference: reference ?? null, before, limit: page.limit });
  }

  oldestFirst(environment: Environment | undefined, reference: string | undefined, page: Page): OrderRecord[] {
    return this.#oldestFirst.all({
      environment: environment ?? null,
      reference: reference ?? null,
      after: page.cursor ?? 0,
      limit: page.limit,
    });
  }

  due(now: number): OrderRecord[] {
    return this.#due.all({ now });
  }

  creditDue(now: number): OrderRecord[] {
    return this.#creditDue.all({ now });
  }

  /** When the next order or credit is due, in epoch milliseconds. */
  nextDue(): number | undefined {
    return this.#nextDue.get()?.due ?? undefined;
  }

  /** @returns false when the order is no longer processing. */
  complete(id: string, esimId: string, now: number): boolean {
    return this.#complete.run({ id, esimId, now }) === 1;
  }

  /** @returns false when the order is no longer processing. */
  fail(id: string, failure: Failure, now: number): boolean {
    return this.#fail.run({ id, code: failure.code, message: failure.message, now }) === 1;
  }

  setCreditDue(id: string, dueAt: number | null): void {
    this.#setCreditDue.run({ id, dueAt });
  }

  countByStatus(environment: Environment): Record<string, number> {
    return Object.fromEntries(this.#counts.all({ environment }).map(({ status, count }) => [status, count]));
  }
}
