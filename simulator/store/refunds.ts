import * as z from 'zod';
import { ENVIRONMENTS, type Environment } from '#simulator/environment.ts';
import type { Page } from '#simulator/store/page.ts';
import type { Store } from '#simulator/store/store.ts';
import { REFUND_CONDITIONS, refundReview, refundStatus, cancellationStatus } from '#upstream/contract.ts';

/**
 * The next planned step: the end of the review (planned, or by the conditions at that time), or the payment of the
 * refund.
 */
const REFUND_STEPS = ['accept', 'refuse', 'review', 'pay', 'fail'] as const;

const unmet = z.array(z.enum(REFUND_CONDITIONS));

const row = z.object({
  sequence: z.number(),
  id: z.string(),
  environment: z.enum(ENVIRONMENTS),
  esimId: z.string(),
  orderId: z.string(),
  /** Result for the eSIM. */
  cancellation: cancellationStatus,
  /** Result for the money. */
  status: refundStatus,
  review: refundReview.nullable(),
  amount: z.string(),
  currency: z.string(),
  /** Conditions that were not met when the cancellation was requested. */
  unmet: z.string().transform((text) => unmet.parse(JSON.parse(text))),
  dueAt: z.number().nullable(),
  dueStep: z.enum(REFUND_STEPS).nullable(),
  createdAt: z.number(),
  updatedAt: z.number(),
});

/** A stored cancellation with its refund. */
export type RefundRecord = Readonly<z.output<typeof row>>;

/** The state of a cancellation and its refund, and the planned step. */
export type RefundProgress = Pick<RefundRecord, 'cancellation' | 'status' | 'review' | 'dueAt' | 'dueStep'>;

export interface RefundFilter {
  readonly environment?: Environment | undefined;
  readonly esimId?: string | undefined;
}

/** All requested cancellations, each with its refund. */
export class Refunds {
  readonly #insert;
  readonly #get;
  readonly #inFlight;
  readonly #change;
  readonly #due;
  readonly #nextDue;
  readonly #newestFirst;
  readonly #oldestFirst;
  readonly #counts;

  constructor(store: Store) {
    this.#insert = store.command(
      `INSERT INTO refunds (id, environment, esim_id, order_id, cancellation, status, review, amount, currency, unmet,
         due_at, due_step, created_at, updated_at)
       VALUES (:id, :environment, :esimId, :orderId, :cancellation, :status, :review, :amount, :currency, :unmet,
         :dueAt, :dueStep, :createdAt, :createdAt)`,
    );
    this.#get = store.query(row, 'SELECT * FROM refunds WHERE id = :id');
    this.#inFlight = store.query(row, `SELECT * FROM refunds WHERE esim_id = :esimId AND cancellation = 'processing'`);
    this.#change = store.command(
      `UPDATE refunds SET cancellation = :cancellation, status = :status, review = :review, due_at = :dueAt,
         due_step = :dueStep, updated_at = :now
       WHERE id = :id`,
    );
    this.#due = store.query(row, 'SELECT * FROM refunds WHERE due_at <= :now ORDER BY due_at, sequence');
    this.#nextDue = store.query(
      z.object({ due: z.number().nullable() }),
      'SELECT min(due_at) AS due FROM refunds WHERE due_at IS NOT NULL',
    );
    const filtered = `(:environment IS NULL OR environment = :environment) AND (:esimId IS NULL OR esim_id = :esimId)`;
    this.#newestFirst = store.query(
      row,
      `SELECT * FROM refunds WHERE ${filtered} AND sequence < :before ORDER BY sequence DESC LIMIT :limit`,
    );
    this.#oldestFirst = store.query(
      row,
      `SELECT * FROM refunds WHERE ${filtered} AND sequence > :after ORDER BY sequence LIMIT :limit`,
    );
    this.#counts = store.query(
      z.object({ status: z.string(), count: z.number() }),
      'SELECT status, count(*) AS count FROM refunds WHERE environment = :environment GROUP BY status',
    );
  }

  insert(refund: Omit<RefundRecord, 'sequence' | 'updatedAt'>): void {
    this.#insert.run({ ...refund, unmet: JSON.stringify(refund.unmet) });
  }

  /** @returns undefined when it does not exist, or belongs to another environment than the given one. */
  get(id: string, environment?: Environment): RefundRecord | undefined {
    const refund = this.#get.get({ id });
    return environment === undefined || refund?.environment === environment ? refund : undefined;
  }

  /** The undecided cancellation of an eSIM. */
  inFlight(esimId: string): RefundRecord | undefined {
    return this.#inFlight.get({ esimId });
  }

  change(id: string, { cancellation, status, review, dueAt, dueStep }: RefundProgress, now: number): void {
    this.#change.run({ id, cancellation, status, review, dueAt, dueStep, now });
  }

  due(now: number): RefundRecord[] {
    return this.#due.all({ now });
  }

  nextDue(): number | undefined {
    return this.#nextDue.get()?.due ?? undefined;
  }

  newestFirst({ environment, esimId }: RefundFilter, page: Page): RefundRecord[] {
    const before = page.cursor ?? Number.MAX_SAFE_INTEGER;
    return this.#newestFirst.all({
      environment: environment ?? null,
      esimId: esimId ?? null,
      before,
      limit: page.limit,
    });
  }

  oldestFirst({ environment, esimId }: RefundFilter, page: Page): RefundRecord[] {
    const after = page.cursor ?? 0;
    return this.#oldestFirst.all({
      environment: environment ?? null,
      esimId: esimId ?? null,
      after,
      limit: page.limit,
    });
  }

  countByStatus(environment: Environment): Record<string, number> {
    return Object.fromEntries(this.#counts.all({ environment }).map(({ status, count }) => [status, count]));
  }
}
