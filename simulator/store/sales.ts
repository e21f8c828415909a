import * as z from 'zod';
import { ENVIRONMENTS, type Environment } from '#simulator/environment.ts';
import type { Page } from '#simulator/store/page.ts';
import type { Store } from '#simulator/store/store.ts';

/** The kinds of purchase: an eSIM package, a recharge of an eSIM, a VPN subscription. */
export const SALE_KINDS = ['order', 'topup', 'vpn'] as const;
export type SaleKind = (typeof SALE_KINDS)[number];

const row = z.object({
  sequence: z.number(),
  id: z.string(),
  environment: z.enum(ENVIRONMENTS),
  kind: z.enum(SALE_KINDS),
  /** The reference of the reseller; a top-up has none. */
  reference: z.string().nullable(),
  /** Id of the package or VPN plan. */
  itemId: z.number(),
  status: z.enum(['processing', 'completed', 'failed']),
  price: z.string(),
  currency: z.string(),
  /** The eSIM that an order delivered, or that a top-up recharges. */
  esimId: z.string().nullable(),
  failureCode: z.string().nullable(),
  failureMessage: z.string().nullable(),
  /** Milliseconds from a failure to its credit; null for no credit. */
  creditAfterMs: z.number().nullable(),
  /** Time of `dueOutcome`; null when nothing is planned. */
  dueAt: z.number().nullable(),
  dueOutcome: z.enum(['completed', 'failed']).nullable(),
  creditDueAt: z.number().nullable(),
  createdAt: z.number(),
  updatedAt: z.number(),
});

/** A stored purchase. */
export type SaleRecord = Readonly<z.output<typeof row>>;

export type NewSale = Pick<
  SaleRecord,
  | 'id'
  | 'environment'
  | 'kind'
  | 'reference'
  | 'itemId'
  | 'esimId'
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

/** Filter of a list of sales. */
export interface SaleFilter {
  readonly kind: SaleKind;
  readonly environment?: Environment | undefined;
  readonly reference?: string | undefined;
  readonly esimId?: string | undefined;
}

const FILTERED = `kind = :kind AND (:environment IS NULL OR environment = :environment)
  AND (:reference IS NULL OR reference = :reference) AND (:esimId IS NULL OR esim_id = :esimId)`;

/** All purchases. */
export class Sales {
  readonly #insert;
  readonly #get;
  readonly #byReference;
  readonly #completedTopups;
  readonly #topupInFlight;
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
      `INSERT INTO sales (id, environment, kind, reference, item_id, esim_id, status, price, currency, credit_after_ms,
         due_at, due_outcome, created_at, updated_at)
       VALUES (:id, :environment, :kind, :reference, :itemId, :esimId, 'processing', :price, :currency, :creditAfterMs,
         :dueAt, :dueOutcome, :createdAt, :createdAt)`,
    );
    this.#get = store.query(row, 'SELECT * FROM sales WHERE id = :id');
    this.#byReference = store.query(
      row,
      'SELECT * FROM sales WHERE environment = :environment AND kind = :kind AND reference = :reference LIMIT 1',
    );
    this.#completedTopups = store.query(
      row,
      `SELECT * FROM sales WHERE esim_id = :esimId AND kind = 'topup' AND status = 'completed' ORDER BY sequence`,
    );
    this.#topupInFlight = store.query(
      row,
      `SELECT * FROM sales WHERE esim_id = :esimId AND kind = 'topup' AND status = 'processing'`,
    );
    this.#newestFirst = store.query(
      row,
      `SELECT * FROM sales WHERE ${FILTERED} AND sequence < :before ORDER BY sequence DESC LIMIT :limit`,
    );
    this.#oldestFirst = store.query(
      row,
      `SELECT * FROM sales WHERE ${FILTERED} AND sequence > :after ORDER BY sequence LIMIT :limit`,
    );
    this.#due = store.query(row, 'SELECT * FROM sales WHERE due_at <= :now ORDER BY due_at, sequence');
    this.#creditDue = store.query(
      row,
      'SELECT * FROM sales WHERE credit_due_at <= :now ORDER BY credit_due_at, sequence',
    );
    this.#nextDue = store.query(
      z.object({ due: z.number().nullable() }),
      `SELECT min(due) AS due FROM (
         SELECT min(due_at) AS due FROM sales WHERE due_at IS NOT NULL
         UNION ALL SELECT min(credit_due_at) FROM sales WHERE credit_due_at IS NOT NULL)`,
    );
    this.#complete = store.command(
      `UPDATE sales SET status = 'completed', esim_id = coalesce(:esimId, esim_id), due_at = NULL, due_outcome = NULL,
         updated_at = :now
       WHERE id = :id AND status = 'processing'`,
    );
    this.#fail = store.command(
      `UPDATE sales SET status = 'failed', failure_code = :code, failure_message = :message, due_at = NULL,
         due_outcome = NULL, updated_at = :now
       WHERE id = :id AND status = 'processing'`,
    );
    this.#setCreditDue = store.command('UPDATE sales SET credit_due_at = :dueAt WHERE id = :id');
    this.#counts = store.query(
      z.object({ status: z.string(), count: z.number() }),
      `SELECT status, count(*) AS count FROM sales WHERE environment = :environment AND kind = :kind GROUP BY status`,
    );
  }

  insert(sale: NewSale): void {
    this.#insert.run(sale);
  }

  /** @returns undefined when it does not exist, or is of another kind or environment. */
  get(kind: SaleKind, id: string, environment?: Environment): SaleRecord | undefined {
    const sale = this.#get.get({ id });
    if (sale?.kind !== kind) return undefined;
    return environment === undefined || sale.environment === environment ? sale : undefined;
  }

  byReference(environment: Environment, kind: SaleKind, reference: string): SaleRecord | undefined {
    return this.#byReference.get({ environment, kind, reference });
  }

  /** Completed top-ups of an eSIM, oldest first. */
  completedTopups(esimId: string): SaleRecord[] {
    return this.#completedTopups.all({ esimId });
  }

  /** The top-up of an eSIM that is processing. */
  topupInFlight(esimId: string): SaleRecord | undefined {
    return this.#topupInFlight.get({ esimId });
  }

  /** @param page `cursor` is the sequence number of the last item of the previous page. */
  newestFirst(filter: SaleFilter, page: Page): SaleRecord[] {
    const before = page.cursor ?? Number.MAX_SAFE_INTEGER;
    return this.#newestFirst.all({ ...filtered(filter), before, limit: page.limit });
  }

  oldestFirst(filter: SaleFilter, page: Page): SaleRecord[] {
    return this.#oldestFirst.all({ ...filtered(filter), after: page.cursor ?? 0, limit: page.limit });
  }

  due(now: number): SaleRecord[] {
    return this.#due.all({ now });
  }

  creditDue(now: number): SaleRecord[] {
    return this.#creditDue.all({ now });
  }

  /** Time of the next due sale or credit, in epoch milliseconds. */
  nextDue(): number | undefined {
    return this.#nextDue.get()?.due ?? undefined;
  }

  /** @param esimId the eSIM that was created for the sale. @returns false when the sale is no longer processing. */
  complete(id: string, esimId: string | undefined, now: number): boolean {
    return this.#complete.run({ id, esimId: esimId ?? null, now }) === 1;
  }

  /** @returns false when the sale is no longer processing. */
  fail(id: string, failure: Failure, now: number): boolean {
    return this.#fail.run({ id, code: failure.code, message: failure.message, now }) === 1;
  }

  setCreditDue(id: string, dueAt: number | null): void {
    this.#setCreditDue.run({ id, dueAt });
  }

  countByStatus(environment: Environment, kind: SaleKind): Record<string, number> {
    return Object.fromEntries(this.#counts.all({ environment, kind }).map(({ status, count }) => [status, count]));
  }
}

function filtered({ kind, environment, reference, esimId }: SaleFilter) {
  return { kind, environment: environment ?? null, reference: reference ?? null, esimId: esimId ?? null };
}
