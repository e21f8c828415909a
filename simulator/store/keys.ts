import * as z from 'zod';
import type { Environment } from '#simulator/environment.ts';
import type { Store } from '#simulator/store/store.ts';

/** What a key was used for and what came of it. */
export interface StoredResult {
  readonly key: string;
  /** Of the operation and the exact bytes of the body. */
  readonly fingerprint: string;
  readonly status: number;
  /** The answer's body, as it was sent. */
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

/** Results under their idempotency keys. */
export class IdempotencyKeys {
  readonly #find;
  readonly #save;

  constructor(store: Store) {
    this.#find = store.query(
      row,
      `SELECT key, fingerprint, status, body, created_at FROM idempotency_keys
       WHERE environment = :environment AND key = :key`,
    );
    // A key that was forgotten, or raced, now stands for its latest use.
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
