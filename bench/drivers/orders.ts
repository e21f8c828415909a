import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { Pool } from 'undici';
import * as z from 'zod';
import { type OrderTask, closedLoop, orderRequest, serve } from '#bench/drivers/protocol.ts';
import { statusesOf, type StatusOf } from '#domain/work/lifecycle.ts';

/** An overloaded server repeats a lost task after two minutes: that is a slow round, not a failed one. */
const COMPLETED_WITHIN_MS = 180_000;

serve(async (task: OrderTask) => {
  const client = new pg.Client({ connectionString: task.databaseUrl, application_name: 'bench-orders' });
  await client.connect();
  const api = new Pool(task.apiUrl, { connections: task.atOnce, pipelining: 1 });
  const ends = new Ends(client, task.pollMs);
  try {
    return await closedLoop(task, async () => ends.of(await placeOrder(api, task)));
  } finally {
    await ends.stop();
    await api.close();
    await client.end();
  }
});

const accepted = z.object({ id: z.string() });

/** @throws Error for any answer but 202. */
async function placeOrder(api: Pool, { apiKey, packageId }: OrderTask): Promise<string> {
  const answer = await api.request(orderRequest(apiKey, packageId));
  const text = await answer.body.text();
  if (answer.statusCode !== 202) throw new Error(`an order was answered with ${answer.statusCode}: ${text}`);
  return accepted.parse(JSON.parse(text)).id;
}

const standing = z.array(
  z.object({ id: z.string(), status: z.enum(statusesOf('order')), tookMs: z.coerce.number().nullable() }),
);
const WILL_NOT_COMPLETE: ReadonlySet<StatusOf<'order'>> = new Set(['failed', 'abandoned', 'needs_attention']);

type Awaited = PromiseWithResolvers<number> & { readonly since: number };

/** One query for all: asking the API for each would be load of its own. Times come from the rows. */
class Ends {
  readonly #client: pg.Client;
  readonly #pollMs: number;
  readonly #awaited = new Map<string, Awaited>();
  readonly #looking: Promise<void>;
  #stopped = false;

  constructor(client: pg.Client, pollMs: number) {
    this.#client = client;
    this.#pollMs = pollMs;
    this.#looking = this.#look();
  }

  /** @throws Error when the order ends otherwise, or not at all. */
  of(orderId: string): Promise<number> {
    const end = Promise.withResolvers<number>();
    this.#awaited.set(orderId, { ...end, since: performance.now() });
    return end.promise;
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    await this.#looking;
  }

  async #look(): Promise<void> {
    while (!this.#stopped) {
      try {
        if (this.#awaited.size > 0) await this.#lookOnce();
      } catch (error) {
        for (const { reject } of this.#awaited.values())
          reject(error instanceof Error ? error : new Error(String(error)));
        return;
      }
      await delay(this.#pollMs);
    }
  }

  async #lookOnce(): Promise<void> {
    const { rows } = await this.#client.query({
      name: 'standing',
      text: `select /* bench */ id, status, extract(epoch from completed_at - created_at) * 1000 as "tookMs"
             from orders
             where id = any($1)`,
      values: [[...this.#awaited.keys()]],
    });
    for (const { id, status, tookMs } of standing.parse(rows)) {
      const waitedMs = performance.now() - (this.#awaited.get(id)?.since ?? 0);
      if (status === 'completed' && tookMs !== null) this.#take(id)?.resolve(tookMs);
      else if (WILL_NOT_COMPLETE.has(status)) this.#take(id)?.reject(new Error(`order ${id} is ${status}`));
      else if (waitedMs > COMPLETED_WITHIN_MS) this.#take(id)?.reject(new Error(`order ${id} is still ${status}`));
    }
  }

  #take(id: string): Awaited | undefined {
    const found = this.#awaited.get(id);
    this.#awaited.delete(id);
    return found;
  }
}
