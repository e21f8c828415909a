import * as z from 'zod';
import type { Environment } from '#simulator/environment.ts';
import type { Store } from '#simulator/store/store.ts';

/** The request and the result of an idempotency key. */
export interface StoredResult {
  readonly key: string;
  /** Hash of the operation and the exact bytes of the body. */
  readonly fingerprint: string;
  readonly status: number;
  /** The body of the answer, as it was sent. */
  readonly body: string;
  readonly createdAt: number;
}

const row = z.object({
  key: z.string(),
  fingerprint: z.string(),
  status: z.number(),
  body: z.string(),
  createdAt: z.number(),
});

/** The stored results of idempotency keys. */
export class IdempotencyKeys {
  readonly #find;
  readonly #save;

  constructor(store: Store) {
    this.#find = store.query(
      row,
      `SELECT key, fingerprint, status, body, created_at FROM idempotency_keys
       WHERE environment = :environment AND key = :key`,
    );
    // A key that was forgotten, or used concurrently, keeps its latest result.
    this.#save = store.command(
      `INSERT INTO idempotency_keys (environment, key, fingerprint, status, body, created_at)
       VALUES (:environment, :key, :fingerprint, :status, :body, :createdAt)
       ON CONFLICT (environment, key) DO UPDATE SET fingerprint = excluded.fingerprint, status = excluded.status,
         body = excluded.body, created_at = excluded.created_at`,
    );
  }

  find(environment: Environment, key: string): StoredResult | undefined {
    return this.#find.get({ environment, key });
  }

  save(environment: Environment, result: StoredResult): void {
    this.#save.run({ environment, ...result });
  }
}
