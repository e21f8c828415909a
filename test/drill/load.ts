import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { postOnce } from '#test/support/api/keys.ts';
import type { Stack } from '#test/support/servers/stack.ts';
import { waitFor } from '#test/support/wait-for.ts';
import { subscriptionInput } from '#test/support/work/order-desk.ts';

/** A request of a shop, which the shop repeats with the same key until it is accepted. */
export interface ShopRequest {
  readonly path: string;
  readonly body: Readonly<Record<string, unknown>>;
  readonly key: string;
  /** Time of the 202 on this machine's clock, in epoch milliseconds; undefined: no answer yet. */
  acceptedAtMs?: number;
  id?: string;
  /** True when it was not accepted at once: a try got another answer than 202, or none. */
  isRepeated?: boolean;
}

/** Time limit of waits for acceptance, reached only on failure. */
const SLOWEST_MS = 600_000;
const REFUSED_PAUSE_MS = 200;
/** A shop that orders without a pause would only measure a backlog. On a slow machine it pauses longer. */
const PAUSE_MS = 400;
const PAUSE_OF_REQUEST = 10;
/** Packages of the simulator: delivered at once, delivered after a time, and one whose purchases always fail. */
const PACKAGES = [1001, 9001, 1001, 9002] as const;
const VPN_PLAN = 301;

/** Shops that place orders and VPN subscriptions, one after the other each, until they are stopped. */
export class ShopLoad {
  readonly requests: ShopRequest[] = [];
  readonly #stack: Stack;
  readonly #stopping = new AbortController();
  readonly #shops: Promise<void>[];

  constructor(stack: Stack, shops = 4) {
    this.#stack = stack;
    this.#shops = Array.from({ length: shops }, (_, shop) => this.#run(shop));
  }

  get accepted(): readonly ShopRequest[] {
    return this.requests.filter(({ id }) => id !== undefined);
  }

  async reaches(count: number): Promise<void> {
    await waitFor(`${count} requests are accepted`, () => this.accepted.length >= count, { timeoutMs: SLOWEST_MS });
  }

  /** Stops placing new requests. Requests without an answer stay for {@link repeat}. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await Promise.all(this.#shops);
  }

  /** Repeats requests, as shops do after an outage. @throws Error when one gets another id than before. */
  async repeat(requests: readonly ShopRequest[]): Promise<void> {
    await Promise.all(
      requests.map(async (request) => {
        const before = request.id;
        await waitFor(`POST ${request.path} is accepted`, () => this.#send(request));
        if (before !== undefined && request.id !== before) throw new Error(`${before} became ${request.id}`);
      }),
    );
  }

  async #run(shop: number): Promise<void> {
    for (let number = shop; !this.#stopping.signal.aborted; number += 1) {
      const request = number % 8 === 7 ? subscription() : order(PACKAGES[number % PACKAGES.length]);
      this.requests.push(request);
      const tookMs = await this.#untilAccepted(request);
      await this.#pause(Math.max(PAUSE_MS, PAUSE_OF_REQUEST * tookMs));
    }
  }

  /** Sends a request until it is accepted or the shops are stopped. @returns the milliseconds of the last try. */
  async #untilAccepted(request: ShopRequest): Promise<number> {
    for (;;) {
      const began = Date.now();
      if ((await this.#send(request)) || this.#stopping.signal.aborted) return Date.now() - began;
      await this.#pause(REFUSED_PAUSE_MS);
    }
  }

  async #pause(ms: number): Promise<void> {
    await delay(ms, undefined, { signal: this.#stopping.signal }).catch(() => undefined);
  }

  async #send(request: ShopRequest): Promise<boolean> {
    const { path, body, key } = request;
    const answer = await postOnce(this.#stack.api, path, body, key).catch(() => undefined);
    if (answer?.status !== 202) {
      request.isRepeated = true;
      return false;
    }
    request.acceptedAtMs ??= Date.now();
    request.id = answer.textAt('id');
    return true;
  }
}

function order(packageId: number | undefined): ShopRequest {
  const body = { package_id: packageId, external_order_id: `ext-${randomUUID()}`, if_unavailable: 'hold' };
  return { path: '/v1/orders', body, key: randomUUID() };
}

function subscription(): ShopRequest {
  const body = subscriptionInput(VPN_PLAN, { if_unavailable: 'hold' });
  return { path: '/v1/vpn/subscriptions', body, key: randomUUID() };
}
