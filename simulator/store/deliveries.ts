import * as z from 'zod';
import { ENVIRONMENTS, type Environment } from '#simulator/environment.ts';
import type { Page } from '#simulator/store/page.ts';
import type { Store } from '#simulator/store/store.ts';

export const DELIVERY_STATUSES = ['pending', 'delivered', 'exhausted', 'lost', 'no_target'] as const;
export type DeliveryStatus = (typeof DELIVERY_STATUSES)[number];

const row = z.object({
  sequence: z.number(),
  id: z.string(),
  environment: z.enum(ENVIRONMENTS),
  event: z.string(),
  /** Id of its subject. Deliveries of one subject are sent one after the other. */
  subject: z.string().nullable(),
  headerEvent: z.string(),
  body: z.custom<Uint8Array>((value) => value instanceof Uint8Array),
  /** Its intended defects, as JSON. */
  fault: z.string().nullable(),
  status: z.enum(DELIVERY_STATUSES),
  attempts: z.number(),
  /** Time of the first signature by the machine's clock, epoch milliseconds. */
  signedAt: z.number().nullable(),
  nextAttemptAt: z.number().nullable(),
  createdAt: z.number(),
});

/** A stored webhook delivery. */
export type DeliveryRecord = Readonly<z.output<typeof row>>;

const attemptRow = z.object({
  sentAt: z.number(),
  timestamp: z.string(),
  status: z.number().nullable(),
  error: z.string().nullable(),
  durationMs: z.number(),
});
export type DeliveryAttempt = Readonly<z.output<typeof attemptRow>>;

export type NewDelivery = Pick<
  DeliveryRecord,
  | 'id'
  | 'environment'
  | 'event'
  | 'subject'
  | 'headerEvent'
  | 'body'
  | 'fault'
  | 'status'
  | 'nextAttemptAt'
  | 'createdAt'
> & { readonly held: 0 | 1 };

export class Deliveries {
  readonly #insert;
  readonly #get;
  readonly #due;
  readonly #nextDue;
  readonly #claim;
  readonly #settle;
  readonly #logAttempt;
  readonly #attempts;
  readonly #releaseHeld;
  readonly #releaseClaims;
  readonly #replay;
  readonly #oldestFirst;
  readonly #newest;
  readonly #counts;

  constructor(store: Store) {
    this.#insert = store.command(
      `INSERT INTO deliveries (id, environment, event, subject, header_event, body, fault, status, held,
         next_attempt_at, created_at)
       VALUES (:id, :environment, :event, :subject, :headerEvent, :body, :fault, :status, :held, :nextAttemptAt,
         :createdAt)`,
    );
    this.#get = store.query(row, 'SELECT * FROM deliveries WHERE id = :id');
    this.#due = store.query(
      row,
      `SELECT * FROM deliveries AS due
       WHERE status = 'pending' AND sending = 0 AND next_attempt_at <= :now
         AND NOT EXISTS (SELECT 1 FROM deliveries AS other WHERE other.sending = 1 AND other.subject = due.subject)
       ORDER BY next_attempt_at, sequence LIMIT :limit`,
    );
    this.#nextDue = store.query(
      z.object({ due: z.number().nullable() }),
      `SELECT min(next_attempt_at) AS due FROM deliveries
       WHERE status = 'pending' AND sending = 0 AND next_attempt_at > :now`,
    );
    this.#claim = store.command(
      `UPDATE deliveries SET sending = 1, held = 0, attempts = attempts + 1, signed_at = :signedAt WHERE id = :id`,
    );
    this.#settle = store.command(
      `UPDATE deliveries SET sending = 0, status = :status, next_attempt_at = :nextAttemptAt WHERE id = :id`,
    );
    this.#logAttempt = store.command(
      `INSERT INTO delivery_attempts (delivery_id, sent_at, timestamp, status, error, duration_ms)
       VALUES (:deliveryId, :sentAt, :timestamp, :status, :error, :durationMs)`,
    );
    this.#attempts = store.query(
      attemptRow,
      'SELECT * FROM delivery_attempts WHERE delivery_id = :id ORDER BY sequence',
    );
    this.#releaseHeld = store.command(
      'UPDATE deliveries SET held = 0, next_attempt_at = :now WHERE held = 1 AND subject = :subject',
    );
    this.#releaseClaims = store.command('UPDATE deliveries SET sending = 0 WHERE sending = 1');
    this.#replay = store.command(
      `UPDATE deliveries SET status = 'pending', attempts = 0, held = 0, fault = NULL, header_event = event,
         signed_at = NULL, next_attempt_at = :now
       WHERE id = :id AND sending = 0`,
    );
    this.#newest = store.query(row, 'SELECT * FROM deliveries ORDER BY sequence DESC LIMIT :limit');
    this.#oldestFirst = store.query(
      row,
      `SELECT * FROM deliveries WHERE sequence > :after
         AND (:environment IS NULL OR environment = :environment)
         AND (:event IS NULL OR event = :event) AND (:status IS NULL OR status = :status)
         AND (:subject IS NULL OR subject = :subject)
       ORDER BY sequence LIMIT :limit`,
    );
    this.#counts = store.query(
      z.object({ status: z.string(), count: z.number() }),
      'SELECT status, count(*) AS count FROM deliveries WHERE environment = :environment GROUP BY status',
    );
  }

  insert(delivery: NewDelivery): void {
    this.#insert.run(delivery);
  }

  get(id: string): DeliveryRecord | undefined {
    return this.#get.get({ id });
  }

  /** Deliveries to send now, without those whose subject has another one under way. */
  due(now: number, limit: number): DeliveryRecord[] {
    return this.#due.all({ now, limit });
  }

  /** Time of the next due delivery after `now`, in epoch milliseconds. */
  nextDue(now: number): number | undefined {
    return this.#nextDue.get({ now })?.due ?? undefined;
  }

  /** Marks a delivery as being sent and counts the attempt. @param signedAt epoch milliseconds of the machine. */
  claim(id: string, signedAt: number): void {
    this.#claim.run({ id, signedAt });
  }

  settle(id: string, status: DeliveryStatus, nextAttemptAt: number | null): void {
    this.#settle.run({ id, status, nextAttemptAt });
  }

  logAttempt(deliveryId: string, attempt: DeliveryAttempt): void {
    this.#logAttempt.run({ deliveryId, ...attempt });
  }

  attempts(id: string): DeliveryAttempt[] {
    return this.#attempts.all({ id });
  }

  /** Releases deliveries that were held back until another event of their subject was delivered. */
  releaseHeld(subject: string, now: number): void {
    this.#releaseHeld.run({ subject, now });
  }

  /** Makes deliveries that were being sent when the process ended due again. */
  releaseClaims(): void {
    this.#releaseClaims.run({});
  }

  /** Makes a delivery due again without its defects: same id, same body. @returns false while it is being sent. */
  replay(id: string, now: number): boolean {
    return this.#replay.run({ id, now }) === 1;
  }

  /** The newest deliveries of both environments. */
  newest(limit: number): DeliveryRecord[] {
    return this.#newest.all({ limit });
  }

  oldestFirst(
    filter: {
      readonly environment?: Environment | undefined;
      readonly event?: string | undefined;
      readonly status?: DeliveryStatus | undefined;
      readonly subject?: string | undefined;
    },
    page: Page,
  ): DeliveryRecord[] {
    return this.#oldestFirst.all({
      environment: filter.environment ?? null,
      event: filter.event ?? null,
      status: filter.status ?? null,
      subject: filter.subject ?? null,
      after: page.cursor ?? 0,
      limit: page.limit,
    });
  }

  countByStatus(environment: Environment): Record<string, number> {
    return Object.fromEntries(this.#counts.all({ environment }).map(({ status, count }) => [status, count]));
  }
}
