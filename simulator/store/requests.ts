import * as z from 'zod';
import { ENVIRONMENTS, type Environment } from '#simulator/environment.ts';
import type { Page } from '#simulator/store/page.ts';
import type { Store } from '#simulator/store/store.ts';

const row = z.object({
  sequence: z.number(),
  environment: z.enum(ENVIRONMENTS),
  method: z.string(),
  path: z.string(),
  /** Name of the endpoint in the contract; null for all other requests. */
  endpoint: z.string().nullable(),
  idempotencyKey: z.string().nullable(),
  /** Hash of the exact bytes, hexadecimal. The body itself is not stored: it may contain an IMEI or a password. */
  bodySha256: z.string(),
  bodyBytes: z.number(),
  receivedAt: z.number(),
  /** Status of the executed work; null when none was executed. */
  resultStatus: z.number().nullable(),
  /** Status that was sent; null when no answer was sent. */
  status: z.number().nullable(),
  /** Kinds of the applied faults, comma separated. */
  faults: z.string().nullable(),
});

export type RequestRecord = Readonly<z.output<typeof row>>;

export interface RequestFilter {
  readonly environment?: Environment | undefined;
  readonly endpoint?: string | undefined;
  readonly idempotencyKey?: string | undefined;
}

/** Maximum number of stored requests: enough for the longest test, and a limit for a simulator that runs for weeks. */
const KEPT = 100_000;

/** The log of all calls of the service, so that tests can check what was sent. */
export class Requests {
  readonly #store: Store;
  readonly #insert;
  readonly #finish;
  readonly #prune;
  readonly #oldestFirst;
  readonly #newest;
  readonly #count;

  constructor(store: Store) {
    this.#store = store;
    this.#insert = store.command(
      `INSERT INTO requests (environment, method, path, endpoint, idempotency_key, body_sha256, body_bytes, received_at)
       VALUES (:environment, :method, :path, :endpoint, :idempotencyKey, :bodySha256, :bodyBytes, :receivedAt)`,
    );
    this.#finish = store.command(
      'UPDATE requests SET result_status = :resultStatus, status = :status, faults = :faults WHERE sequence = ' +
        ':sequence',
    );
    this.#prune = store.command('DELETE FROM requests WHERE sequence <= :until');
    this.#newest = store.query(row, 'SELECT * FROM requests ORDER BY sequence DESC LIMIT :limit');
    this.#oldestFirst = store.query(
      row,
      `SELECT * FROM requests WHERE sequence > :after
         AND (:environment IS NULL OR environment = :environment) AND (:endpoint IS NULL OR endpoint = :endpoint)
         AND (:idempotencyKey IS NULL OR idempotency_key = :idempotencyKey)
       ORDER BY sequence LIMIT :limit`,
    );
    this.#count = store.query(
      z.object({ count: z.number() }),
      'SELECT count(*) AS count FROM requests WHERE environment = :environment',
    );
  }

  /** Logs a call before any work. @returns its sequence number. */
  begin(request: Omit<RequestRecord, 'sequence' | 'resultStatus' | 'status' | 'faults'>): number {
    const sequence = this.#store.nextSequence('requests');
    this.#insert.run(request);
    if (sequence % 1_000 === 0) this.#prune.run({ until: sequence - KEPT });
    return sequence;
  }

  finish(sequence: number, end: Pick<RequestRecord, 'resultStatus' | 'status' | 'faults'>): void {
    this.#finish.run({ sequence, ...end });
  }

  /** The newest calls of both environments. */
  newest(limit: number): RequestRecord[] {
    return this.#newest.all({ limit });
  }

  oldestFirst(filter: RequestFilter, page: Page): RequestRecord[] {
    return this.#oldestFirst.all({
      environment: filter.environment ?? null,
      endpoint: filter.endpoint ?? null,
      idempotencyKey: filter.idempotencyKey ?? null,
      after: page.cursor ?? 0,
      limit: page.limit,
    });
  }

  count(environment: Environment): number {
    return this.#count.get({ environment })?.count ?? 0;
  }
}
