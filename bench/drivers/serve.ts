import { randomUUID } from 'node:crypto';
import type { Load, LoadResult, Reply } from '#bench/drivers/protocol.ts';

/** Ends with the process that started this one. @param run gets what the scenario has sent. */
export function serve(run: (task: never) => Promise<LoadResult>): void {
  process.on('disconnect', () => process.exit(0));
  process.on('message', (task) => void replyTo(run(task as never)));
}

async function replyTo(work: Promise<LoadResult>): Promise<void> {
  const reply: Reply = await work.then(
    (result) => ({ result }),
    (error: unknown) => ({ error: error instanceof Error ? (error.stack ?? error.message) : String(error) }),
  );
  process.send?.(reply);
}

/** A new order, under a key and a reference of its own. */
export function orderRequest(apiKey: string, packageId: number) {
  return {
    method: 'POST',
    path: '/v1/orders',
    headers: {
      authorization: `Bearer ${apiKey}`,
      'content-type': 'application/json',
      'idempotency-key': randomUUID(),
    },
    body: JSON.stringify({ package_id: packageId, external_order_id: `bench-${randomUUID()}` }),
  } as const;
}

/** The first failure ends all lanes. `piece` returns milliseconds where it knows better than a clock around it. */
export async function closedLoop(
  { count, atOnce }: Load,
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
