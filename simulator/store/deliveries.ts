import * as z from 'zod';
import { type Environment, ENVIRONMENTS, type ListOrder, type Page, type Store } from '#simulator/store/store.ts';

export const DELIVERY_STATUSES = ['pending', 'delivered', 'exhausted', 'lost', 'no_target'] as const;
export type DeliveryStatus = (typeof DELIVERY_STATUSES)[number];

const row = z.object({
  sequence: z.number(),
  id: z.string(),
  environment: z.enum(ENVIRONMENTS),
  event: z.string(),
  /** Deliveries of one subject are sent one after the other. */
  subject: z.string().nullable(),
  headerEvent: z.string(),
  body: z.custom<Uint8Array>((value) => value instanceof Uint8Array),
  /** Intended defects, as JSON. */
  fault: z.string().nullable(),
  status: z.enum(DELIVERY_STATUSES),
  attempts: z.number(),
  /** First signature, by the machine's clock, epoch milliseconds. */
  signedAt: z.number().nullable(),
  nextAttemptAt: z.number().nullable(),
  createdAt: z.number(),
});

export type DeliveryRecord = Readonly<z.output<typeof row>>;

const attemptRow = z.object({
  sentAt: z.number(),
  timestamp: z.string(),
  status: z.number().nullable(),
  error: z.string().nullable(),
  durationMs: z.number(),
});
export type DeliveryAttempt = Readonly<z.output<typeof attemptRow>>;

export type NewDelivery = Omit<DeliveryRecord, 'sequence' | 'attempts' | 'signedAt'> & { readonly held: 0 | 1 };

export class Deliveries {
  readonly #store: Store;

  constructor(store: Store) {
    this.#store = store;
  }

  insert(delivery: NewDelivery): void {
    this.#store.run(
      `INSERT INTO deliveries (id, environment, event, subject, header_event, body, fault, status, held,
         next_attempt_at, created_at)
       VALUES (:id, :environment, :event, :subject, :headerEvent, :body, :fault, :status, :held, :nextAttemptAt,
         :createdAt)`,
      delivery,
    );
  }

  get(id: string): DeliveryRecord | undefined {
    return this.#store.get(row, 'SELECT * FROM deliveries WHERE id = :id', { id });
  }

  /** Leaves out those whose subject has another one under way. */
  due(now: number, limit: number): DeliveryRecord[] {
    return this.#store.all(
      row,
      `SELECT * FROM deliveries AS due
       WHERE status = 'pending' AND sending = 0 AND next_attempt_at <= :now
         AND NOT EXISTS (SELECT 1 FROM deliveries AS other WHERE other.sending = 1 AND other.subject = due.subject)
       ORDER BY next_attempt_at, sequence LIMIT :limit`,
      { now, limit },
    );
  }

  nextDue(now: number): number | undefined {
    const later = `deliveries WHERE status = 'pending' AND sending = 0 AND next_attempt_at > :now`;
    return this.#store.least('next_attempt_at', later, { now });
  }

  claim(id: string, signedAt: number): void {
    this.#store.run(
      'UPDATE deliveries SET sending = 1, held = 0, attempts = attempts + 1, signed_at = :signedAt WHERE id = :id',
      { id, signedAt },
    );
  }

  settle(id: string, status: DeliveryStatus, nextAttemptAt: number | null): void {
    this.#store.run(
      'UPDATE deliveries SET sending = 0, status = :status, next_attempt_at = :nextAttemptAt WHERE id = :id',
      { id, status, nextAttemptAt },
    );
  }

  logAttempt(deliveryId: string, attempt: DeliveryAttempt): void {
    this.#store.run(
      `INSERT INTO delivery_attempts (delivery_id, sent_at, timestamp, status, error, duration_ms)
       VALUES (:deliveryId, :sentAt, :timestamp, :status, :error, :durationMs)`,
      { deliveryId, ...attempt },
    );
  }

  attempts(id: string): DeliveryAttempt[] {
    const sql = 'SELECT * FROM delivery_attempts WHERE delivery_id = :id ORDER BY sequence';
    return this.#store.all(attemptRow, sql, { id });
  }

  /** They were held back until another event of their subject was delivered. */
  releaseHeld(subject: string, now: number): void {
    const sql = 'UPDATE deliveries SET held = 0, next_attempt_at = :now WHERE held = 1 AND subject = :subject';
    this.#store.run(sql, { subject, now });
  }

  /** They were being sent when the process ended; now they are due again. */
  releaseClaims(): void {
    this.#store.run('UPDATE deliveries SET sending = 0 WHERE sending = 1');
  }

  /** Without its defects: same id, same body. @returns false while it is being sent. */
  replay(id: string, now: number): boolean {
    const changed = this.#store.run(
      `UPDATE deliveries SET status = 'pending', attempts = 0, held = 0, fault = NULL, header_event = event,
         signed_at = NULL, next_attempt_at = :now
       WHERE id = :id AND sending = 0`,
      { id, now },
    );
    return changed === 1;
  }

  list(
    filter: {
      readonly environment?: Environment | undefined;
      readonly event?: string | undefined;
      readonly status?: DeliveryStatus | undefined;
      readonly subject?: string | undefined;
    },
    page: Page,
    order: ListOrder,
  ): DeliveryRecord[] {
    return this.#store.list(row, 'deliveries', filter, page, order);
  }

  countByStatus(environment: Environment): Record<string, number> {
    return this.#store.counts('deliveries', 'status', { environment });
  }
}
