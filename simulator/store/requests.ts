import * as z from 'zod';
import { ENVIRONMENTS, type Environment } from '#simulator/environment.ts';
import type { Page } from '#simulator/store/page.ts';
import type { Store } from '#simulator/store/store.ts';

const row = z.object({
  sequence: z.number(),
  environment: z.enum(ENVIRONMENTS),
  method: z.string(),
  path: z.string(),
  /** Name of the endpoint in the contract; null for anything else. */
  endpoint: z.string().nullable(),
  idempotencyKey: z.string().nullable(),
  /** Of the exact bytes, hexadecimal. The body itself is not kept: it may hold an IMEI or a password. */
  bodySha256: z.string(),
  bodyBytes: z.number(),
  receivedAt: z.number(),
  /** What the work came to; null when none was done. */
  resultStatus: z.number().nullable(),
  /** What the caller got; null when it got no answer. */
  status: z.number().nullable(),
  /** Kinds of the faults that were applied, comma separated. */
  faults: z.string().nullable(),
});

export type RequestRecord = Readonly<z.output<typeof row>>;

export interface RequestFilter {
  readonly environment?: Environment | undefined;
  readonly endpoint?: string | undefined;
  readonly idempotencyKey?: string | undefined;
}

/** Enough for the longest test; a simulator that runs for weeks must not grow without end. */
const KEPT = 100_000;

/** Every call of the service, so that a test can tell what was really sent. */
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

  /** Notes a call before any work. @returns its sequence number. */
  begin(request: Omit<RequestRecord, 'sequence' | 'resultStatus' | 'status' | 'faults'>): number {
    const sequence = this.#store.nextSequence('requests');
    this.#insert.run(request);
    if (sequence % 1_000 === 0) this.#prune.run({ until: sequence - KEPT });
    return sequence;
  }

  finish(sequence: number, end: Pick<RequestRecord, 'resultStatus' | 'status' | 'faults'>): void {
    this.#finish.run({ sequence, ...end });
  }

  /** Of both environments, newest first. */
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
