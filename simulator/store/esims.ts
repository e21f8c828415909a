import * as z from 'zod';
import { type Environment, ENVIRONMENTS, type ListOrder, type Page, type Store } from '#simulator/store/store.ts';
import { cancellationStatus, REFUND_CONDITIONS, refundReview, refundStatus } from '#upstream/contract.ts';

const ESIM_STATES = ['available', 'installed', 'active', 'consumed', 'cancelled'] as const;

const esimRow = z.object({
  sequence: z.number(),
  id: z.string(),
  environment: z.enum(ENVIRONMENTS),
  orderId: z.string(),
  packageId: z.number(),
  iccid: z.string(),
  activationCode: z.string(),
  status: z.enum(ESIM_STATES),
  installedAt: z.number().nullable(),
  activatedAt: z.number().nullable(),
  expiresAt: z.number().nullable(),
  /** Until `usedAt`. An active eSIM has used more since. */
  usedMb: z.number(),
  usedAt: z.number().nullable(),
  createdAt: z.number(),
});

export type EsimRecord = Readonly<z.output<typeof esimRow>>;

export type EsimCondition = Pick<
  EsimRecord,
  'status' | 'installedAt' | 'activatedAt' | 'expiresAt' | 'usedMb' | 'usedAt'
>;

type NewEsim = Pick<
  EsimRecord,
  'id' | 'environment' | 'orderId' | 'packageId' | 'iccid' | 'activationCode' | 'createdAt'
>;

export class Esims {
  readonly #store: Store;

  constructor(store: Store) {
    this.#store = store;
  }

  insert(esim: NewEsim): void {
    this.#store.run(
      `INSERT INTO esims (id, environment, order_id, package_id, iccid, activation_code, status, created_at)
       VALUES (:id, :environment, :orderId, :packageId, :iccid, :activationCode, 'available', :createdAt)`,
      esim,
    );
  }

  /** @returns undefined for another environment, too. */
  get(id: string, environment?: Environment): EsimRecord | undefined {
    const esim = this.#store.get(esimRow, 'SELECT * FROM esims WHERE id = :id', { id });
    return environment === undefined || esim?.environment === environment ? esim : undefined;
  }

  change(id: string, { status, installedAt, activatedAt, expiresAt, usedMb, usedAt }: EsimCondition): void {
    this.#store.run(
      `UPDATE esims SET status = :status, installed_at = :installedAt, activated_at = :activatedAt,
         expires_at = :expiresAt, used_mb = :usedMb, used_at = :usedAt
       WHERE id = :id`,
      { id, status, installedAt, activatedAt, expiresAt, usedMb, usedAt },
    );
  }

  list(environment: Environment | undefined, page: Page, order: ListOrder): EsimRecord[] {
    return this.#store.list(esimRow, 'esims', { environment }, page, order);
  }

  count(environment: Environment): number {
    return this.#store.counts('esims', 'environment', { environment })[environment] ?? 0;
  }
}

/** The end of the review, or the payment of the refund. */
const REFUND_STEPS = ['accept', 'refuse', 'review', 'pay', 'fail'] as const;

const unmet = z.array(z.enum(REFUND_CONDITIONS));

const refundRow = z.object({
  sequence: z.number(),
  id: z.string(),
  environment: z.enum(ENVIRONMENTS),
  esimId: z.string(),
  orderId: z.string(),
  cancellation: cancellationStatus,
  status: refundStatus,
  review: refundReview.nullable(),
  amount: z.string(),
  currency: z.string(),
  /** The state when the cancellation was requested. */
  unmet: z.string().transform((text) => unmet.parse(JSON.parse(text))),
  dueAt: z.number().nullable(),
  dueStep: z.enum(REFUND_STEPS).nullable(),
  createdAt: z.number(),
  updatedAt: z.number(),
});

export type RefundRecord = Readonly<z.output<typeof refundRow>>;

export type RefundProgress = Pick<RefundRecord, 'cancellation' | 'status' | 'review' | 'dueAt' | 'dueStep'>;

export class Refunds {
  readonly #store: Store;

  constructor(store: Store) {
    this.#store = store;
  }

  insert(refund: Omit<RefundRecord, 'sequence' | 'updatedAt'>): void {
    this.#store.run(
      `INSERT INTO refunds (id, environment, esim_id, order_id, cancellation, status, review, amount, currency, unmet,
         due_at, due_step, created_at, updated_at)
       VALUES (:id, :environment, :esimId, :orderId, :cancellation, :status, :review, :amount, :currency, :unmet,
         :dueAt, :dueStep, :createdAt, :createdAt)`,
      { ...refund, unmet: JSON.stringify(refund.unmet) },
    );
  }

  get(id: string, environment?: Environment): RefundRecord | undefined {
    const refund = this.#store.get(refundRow, 'SELECT * FROM refunds WHERE id = :id', { id });
    return environment === undefined || refund?.environment === environment ? refund : undefined;
  }

  inFlight(esimId: string): RefundRecord | undefined {
    const sql = `SELECT * FROM refunds WHERE esim_id = :esimId AND cancellation = 'processing'`;
    return this.#store.get(refundRow, sql, { esimId });
  }

  change(id: string, { cancellation, status, review, dueAt, dueStep }: RefundProgress, now: number): void {
    this.#store.run(
      `UPDATE refunds SET cancellation = :cancellation, status = :status, review = :review, due_at = :dueAt,
         due_step = :dueStep, updated_at = :now
       WHERE id = :id`,
      { id, cancellation, status, review, dueAt, dueStep, now },
    );
  }

  due(now: number): RefundRecord[] {
    return this.#store.all(refundRow, 'SELECT * FROM refunds WHERE due_at <= :now ORDER BY due_at, sequence', { now });
  }

  nextDue(): number | undefined {
    return this.#store.least('due_at', 'refunds WHERE due_at IS NOT NULL');
  }

  list(
    filter: { readonly environment?: Environment | undefined; readonly esim_id?: string | undefined },
    page: Page,
    order: ListOrder,
  ): RefundRecord[] {
    return this.#store.list(refundRow, 'refunds', filter, page, order);
  }

  countByStatus(environment: Environment): Record<string, number> {
    return this.#store.counts('refunds', 'status', { environment });
  }
}
