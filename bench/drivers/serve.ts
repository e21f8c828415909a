import { randomUUID } from 'node:crypto';
import type { Pool } from 'undici';
import * as z from 'zod';
import type { DriverProtocol, LoadResult } from '#bench/drivers/protocol.ts';

/** Ends with the process that started this one. */
export function serve<Task extends z.ZodType, Result extends z.ZodType>(
  protocol: DriverProtocol<Task, Result>,
  run: (task: z.output<Task>) => Promise<z.input<Result>>,
): void {
  process.on('disconnect', () => process.exit(0));
  process.on('message', (message) => {
    void replyTo(async () => run(protocol.task.parse(message)));
  });
}

async function replyTo(work: () => Promise<unknown>): Promise<void> {
  try {
    process.send?.({ ok: true, result: await work() });
  } catch (error) {
    process.send?.({ ok: false, error: error instanceof Error ? (error.stack ?? error.message) : String(error) });
  }
}

/** The first failure ends all lanes. `piece` returns milliseconds where it knows better than a clock around it. */
export async function closedLoop(
  { count, atOnce }: { readonly count: number; readonly atOnce: number },
  piece: (number: number, lane: number) => Promise<number | void>,
): Promise<LoadResult> {
  const latenciesMs: number[] = [];
  let left = count;
  const lane = async (_: unknown, number: number) => {
    while (left > 0) {
      left -= 1;
      const started = performance.now();
      const told = await piece(count - left, number).catch((error: unknown) => {
        // Nobody begins another piece.
        left = 0;
        throw error;
      });
      latenciesMs.push(told ?? performance.now() - started);
    }
  };
  const started = performance.now();
  await Promise.all(Array.from({ length: Math.min(atOnce, count) }, lane));
  return { elapsedMs: performance.now() - started, latenciesMs };
}

const accepted = z.object({ id: z.string() });

/** @throws Error for any answer but 202. */
export async function placeOrder(
  api: Pool,
  { apiKey, packageId }: { readonly apiKey: string; readonly packageId: number },
): Promise<string> {
  const answer = await api.request({
    method: 'POST',
    path: '/v1/orders',
    headers: {
      authorization: `Bearer ${apiKey}`,
      'content-type': 'application/json',
      'idempotency-key': randomUUID(),
    },
    body: JSON.stringify({ package_id: packageId, external_order_id: `bench-${randomUUID()}` }),
  });
  const text = await answer.body.text();
  if (answer.statusCode !== 202) throw new Error(`an order was answered with ${answer.statusCode}: ${text}`);
  return accepted.parse(JSON.parse(text)).id;
}
