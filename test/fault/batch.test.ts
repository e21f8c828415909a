import { randomUUID } from 'node:crypto';
import { eq } from 'drizzle-orm';
import { describe, expect, it } from 'vitest';
import { events, orders } from '#db/schema.ts';
import { batchCalls, batchInput, batchOf, ordersOfBatch } from '#test/support/api/order-batches.ts';
import { disposedAtEnd } from '#test/support/disposed-at-end.ts';
import { startStack } from '#test/support/servers/stack.ts';
import { NORMAL_WAITS_POLICY } from '#test/support/servers/test-policies.ts';
import { waitFor } from '#test/support/wait-for.ts';
import { checkBooks } from '#test/support/work/books/books.ts';
import { PACKAGE } from '#test/support/work/order-desk.ts';

/** `BATCH_SIZE=1000 npx vitest run --project fault test/fault/batch.test.ts` for the largest batch. */
const SIZE = Number(process.env['BATCH_SIZE'] ?? 200);
/** Enough for a machine that buys two eSIMs in a second. */
const PATIENCE_MS = 120_000 + SIZE * 1_000;

const stack = disposedAtEnd(await startStack({ environment: NORMAL_WAITS_POLICY }));

const { create } = batchCalls(() => stack.api);
const read = async (id: string) => batchOf(await stack.api.get(`/v1/order-batches/${id}`));

async function delivered(id: string, least: number): Promise<void> {
  await waitFor(
    `${least} orders of the batch are completed`,
    async () => {
      const { counts } = await read(id);
      if ((counts['completed'] ?? 0) < least) throw new Error(`the counts are ${JSON.stringify(counts)}`);
      return true;
    },
    { timeoutMs: PATIENCE_MS, everyMs: 100, context: () => stack.tails() },
  );
}

describe(`a batch of ${SIZE} eSIMs`, { timeout: 4 * PATIENCE_MS }, () => {
  it('is accepted in one call and delivered, with one debit for each eSIM, although a worker is killed', async () => {
    const began = performance.now();
    const seconds = () => ((performance.now() - began) / 1_000).toFixed(1);
    const body = batchInput([{ package_id: PACKAGE.completedAtOnce, quantity: SIZE }]);
    const key = randomUUID();
    const answer = await create(body, key);
    expect(answer.status, answer.text).toBe(202);
    const figures = [`accepted after ${seconds()} s`];
    const { id } = batchOf(answer);

    await delivered(id, Math.ceil(SIZE / 4));
    await stack.kill('worker');
    expect(await stack.process('worker').exit()).toEqual({ code: null, signal: 'SIGKILL' });
    const { counts } = await read(id);
    figures.push(`worker killed after ${seconds()} s: ${JSON.stringify(counts)}`);
    expect(counts['completed'], 'the worker is killed on the way').toBeLessThan(SIZE);
    await stack.start('worker');

    await delivered(id, SIZE);
    figures.push(`delivered after ${seconds()} s`);
    process.stdout.write(`batch of ${SIZE}: ${figures.join('; ')}\n`);
    expect(await read(id)).toMatchObject({ status: 'completed', size: SIZE });
    const placed = await ordersOfBatch(stack, id);
    await checkBooks(stack, { accepted: placed.map((order) => order.id), timeoutMs: PATIENCE_MS });
    expect(new Set(placed.map(({ esimId }) => esimId)).size).toBe(SIZE);
    expect(await stack.database.run((db) => db.$count(orders))).toBe(SIZE);

    const announced = await stack.database.run((db) => db.select().from(events).where(eq(events.subjectId, id)));
    expect(announced).toMatchObject([
      { type: 'order_batch.completed', data: { size: SIZE, completed: SIZE, failed: 0, abandoned: 0 } },
    ]);
    const repeated = await create(body, key);
    expect(repeated.text).toBe(answer.text);
  });
});
