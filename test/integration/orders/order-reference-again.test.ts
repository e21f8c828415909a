import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { disposedAtEnd } from '#test/support/disposed-at-end.ts';
import { startStack } from '#test/support/servers/stack.ts';
import { RARE_UPKEEP } from '#test/support/servers/test-policies.ts';
import { checkedDesk, PACKAGE } from '#test/support/work/order-desk.ts';

const stack = disposedAtEnd(await startStack({ environment: RARE_UPKEEP }));
const desk = checkedDesk(stack);

describe('an order with a reference that was used before', () => {
  it('is bought once, with a key and a reference at the service that were never used', async () => {
    const external_order_id = `again-${randomUUID()}`;
    const refuse = {
      status: 422,
      body: '{"error":"validation_failed"}',
      headers: { 'content-type': 'application/json' },
    };
    await desk.simulator.onRequest('createOrder', { kind: 'answer', ...refuse });
    const first = await desk.place(PACKAGE.completedAtOnce, { external_order_id });
    await desk.reaches(first, 'failed');
    const second = await desk.place(PACKAGE.completedAtOnce, { external_order_id });
    const done = await desk.reaches(second, 'completed');
    expect(done.body).toMatchObject({ external_order_id, replaces: first });

    const [[sentFirst], [sentSecond]] = [await desk.attempts(first), await desk.attempts(second)];
    expect(sentFirst?.reference).toBe(external_order_id);
    expect(sentSecond?.reference).toBe(`${external_order_id}~2.1`);
    expect(sentSecond?.idempotencyKey).not.toBe(sentFirst?.idempotencyKey);
    expect(await desk.movements(first)).toEqual([]);
    expect(await desk.movements(second)).toEqual(['debit 2.40']);
    const esims = await stack.api.get(`/v1/esims?external_order_id=${external_order_id}`);
    expect(esims.body).toMatchObject({ data: [{ order_id: second, external_order_id }] });
  });
});
