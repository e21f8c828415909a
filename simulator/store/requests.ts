import * as z from 'zod';
import { type Environment, ENVIRONMENTS, type ListOrder, type Page, type Store } from '#simulator/store/store.ts';

const row = z.object({
  sequence: z.number(),
  environment: z.enum(ENVIRONMENTS),
  method: z.string(),
  path: z.string(),
  /** Null for requests outside the contract. */
  endpoint: z.string().nullable(),
  idempotencyKey: z.string().nullable(),
  /** The body is not stored: it may contain an IMEI or a password. */
  bodySha256: z.string(),
  bodyBytes: z.number(),
  receivedAt: z.number(),
  /** Null when no work was executed. */
  resultStatus: z.number().nullable(),
  /** Null when no answer was sent. */
  status: z.number().nullable(),
  faults: z.string().nullable(),
});

export type RequestRecord = Readonly<z.output<typeof row>>;

/** Enough for the longest test; a limit for a simulator that runs for weeks. */
const KEPT = 100_000;

/** Tests check what was sent. */
export class Requests {
  readonly #store: Store;

  constructor(store: Store) {
    this.#store = store;
  }

  /** Called before any work. */
  begin(request: Omit<RequestRecord, 'sequence' | 'resultStatus' | 'status' | 'faults'>): number {
    const sequence = this.#store.nextSequence('requests');
    this.#store.run(
      `INSERT INTO requests (environment, method, path, endpoint, idempotency_key, body_sha256, body_bytes, received_at)
       VALUES (:environment, :method, :path, :endpoint, :idempotencyKey, :bodySha256, :bodyBytes, :receivedAt)`,
      request,
    );
    if (sequence % 1_000 === 0)
      this.#store.run('DELETE FROM requests WHERE sequence <= :until', { until: sequence - KEPT });
    return sequence;
  }

  finish(sequence: number, end: Pick<RequestRecord, 'resultStatus' | 'status' | 'faults'>): void {
    this.#store.run(
      `UPDATE requests SET result_status = :resultStatus, status = :status, faults = :faults
       WHERE sequence = :sequence`,
      { sequence, ...end },
    );
  }

  list(
    filter: {
      readonly environment?: Environment | undefined;
      readonly endpoint?: string | undefined;
      readonly idempotency_key?: string | undefined;
    },
    page: Page,
    order: ListOrder,
  ): RequestRecord[] {
    return this.#store.list(row, 'requests', filter, page, order);
  }

  count(environment: Environment): number {
    return this.#store.counts('requests', 'environment', { environment })[environment] ?? 0;
  }
}

const resultRow = z.object({
  key: z.string(),
  fingerprint: z.string(),
  status: z.number(),
  body: z.string(),
  createdAt: z.number(),
});

export type StoredResult = Readonly<z.output<typeof resultRow>>;

export class IdempotencyKeys {
  readonly #store: Store;

  constructor(store: Store) {
    this.#store = store;
  }

  find(environment: Environment, key: string): StoredResult | undefined {
    const sql = 'SELECT * FROM idempotency_keys WHERE environment = :environment AND key = :key';
    return this.#store.get(resultRow, sql, { environment, key });
  }

  save(environment: Environment, result: StoredResult): void {
    // A forgotten or concurrent key keeps its latest result.
    this.#store.run(
      `INSERT INTO idempotency_keys (environment, key, fingerprint, status, body, created_at)
       VALUES (:environment, :key, :fingerprint, :status, :body, :createdAt)
       ON CONFLICT (environment, key) DO UPDATE SET fingerprint = excluded.fingerprint, status = excluded.status,
         body = excluded.body, created_at = excluded.created_at`,
      { environment, ...result },
    );
  }
}
