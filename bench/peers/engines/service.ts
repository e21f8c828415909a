import { Pool } from 'undici';
import type { Attempt, Esim, Purchase } from './shop.ts';

/** Sending the same bytes again cannot help. */
export class Refused extends Error {}

const DEADLINE_MS = 30_000;

export class Service {
  readonly #pool: Pool;
  readonly #path: string;
  readonly #account: { readonly email: string; readonly password: string };
  #token: Promise<string> | undefined;

  constructor(baseUrl: string, account: { readonly email: string; readonly password: string }) {
    const { origin, pathname } = new URL(baseUrl);
    this.#pool = new Pool(origin, { connections: 50, pipelining: 1, bodyTimeout: DEADLINE_MS, headersTimeout: DEADLINE_MS });
    this.#path = pathname;
    this.#account = account;
  }

  /** Sends the stored bytes under the stored key. */
  async buy(attempt: Attempt): Promise<Purchase> {
    return this.#call<Purchase>('POST', '/orders', attempt);
  }

  async order(id: string): Promise<Purchase> {
    return this.#call<Purchase>('GET', `/orders/${encodeURIComponent(id)}`);
  }

  async esim(id: string): Promise<Esim> {
    return this.#call<Esim>('GET', `/esims/${encodeURIComponent(id)}`);
  }

  async close(): Promise<void> {
    await this.#pool.close();
  }

  async #call<T>(method: 'GET' | 'POST', path: string, attempt?: Attempt): Promise<T> {
    const token = await (this.#token ??= this.#logIn());
    const { statusCode, body } = await this.#pool.request({
      method,
      path: this.#path + path,
      headers: {
        authorization: `Bearer ${token}`,
        ...(attempt && { 'content-type': 'application/json', 'idempotency-key': attempt.idempotencyKey }),
      },
      body: attempt?.body ?? null,
    });
    if (statusCode < 300) return (await body.json()) as T;
    const text = await body.text();
    if (statusCode === 401) this.#token = undefined;
    // The engine tries again what passes by itself.
    if (statusCode >= 500 || [401, 409, 429].includes(statusCode)) throw new Error(`answered ${statusCode}: ${text}`);
    throw new Refused(`answered ${statusCode}: ${text}`);
  }

  async #logIn(): Promise<string> {
    const { statusCode, body } = await this.#pool.request({
      method: 'POST',
      path: `${this.#path}/login`,
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ ...this.#account, device_name: 'peer' }),
    });
    if (statusCode >= 300) {
      this.#token = undefined;
      throw new Error(`the login was answered ${statusCode}: ${await body.text()}`);
    }
    return ((await body.json()) as { access_token: string }).access_token;
  }
}
