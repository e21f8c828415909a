import { createHash, randomBytes } from 'node:crypto';
import * as z from 'zod';
import type { Environment } from '#simulator/environment.ts';
import type { Store } from '#simulator/store/store.ts';

/** Access tokens. Only their hashes are stored. A token is valid in one environment only. */
export class Tokens {
  readonly #insert;
  readonly #find;
  readonly #revoke;

  constructor(store: Store) {
    this.#insert = store.command(
      `INSERT INTO tokens (hash, environment, device_name, created_at, expires_at)
       VALUES (:hash, :environment, :deviceName, :createdAt, :expiresAt)`,
    );
    this.#find = store.query(
      z.object({ expiresAt: z.number() }),
      'SELECT expires_at FROM tokens WHERE hash = :hash AND environment = :environment',
    );
    this.#revoke = store.command('DELETE FROM tokens WHERE environment = :environment');
  }

  /** @returns a new token; it cannot be read again later. */
  issue(environment: Environment, deviceName: string, createdAt: number, expiresAt: number): string {
    const token = `${environment === 'sandbox' ? 'sbx' : 'prd'}_${randomBytes(24).toString('base64url')}`;
    this.#insert.run({ hash: hashOf(token), environment, deviceName, createdAt, expiresAt });
    return token;
  }

  isValid(environment: Environment, token: string, now: number): boolean {
    const found = this.#find.get({ hash: hashOf(token), environment });
    return found !== undefined && found.expiresAt > now;
  }

  /** Revokes all tokens of the environment. @returns their number. */
  revokeAll(environment: Environment): number {
    return this.#revoke.run({ environment });
  }
}

function hashOf(token: string): string {
  return createHash('sha256').update(token).digest('hex');
}
