import { describe, expect, it } from 'vitest';
import { disposedAtEnd } from '#test/support/disposed-at-end.ts';
import { startStack } from '#test/support/servers/stack.ts';
import { RARE_UPKEEP } from '#test/support/servers/test-policies.ts';
import { checkedDesk } from '#test/support/work/order-desk.ts';

const stack = disposedAtEnd(await startStack({ environment: { ...RARE_UPKEEP, 'purchase.settle_delay': '600ms' } }));
const desk = checkedDesk(stack);

describe('an order that the service accepted and then failed', () => {
  it('gets a new attempt with another key and reference after the credit', async () => {
    await desk.simulator.nextPurchases({ outcome: 'processing_then_failed', delay_ms: 200 });
    const order = await desk.complete(1001);
    const id = order.textAt('id');
    const [first, second, ...more] = await desk.attempts(id);
    expect(more).toEqual([]);
    expect(first!.reference).toBe(order.textAt('external_order_id'));
    expect(second!.reference).not.toBe(first!.reference);
    expect(second!.idempotencyKey).not.toBe(first!.idempotencyKey);
    expect(await desk.movements(id)).toEqual(['debit 2.40', 'credit 2.40', 'debit 2.40']);
    expect(await desk.events(id)).toContain('attempt.wallet_checked');
    expect(order.body).toMatchObject({ failure: null, operations: { attempts: 2 } });
  });

  it('needs attention and gets no new attempt when it was charged and not refunded', async () => {
    await desk.simulator.nextPurchases({ outcome: 'failed_at_once', credit_after_ms: null });
    const id = await desk.place(1001);
    const withCase = await desk.reaches(id, 'needs_attention');
    expect(withCase.body).toMatchObject({ operations: { attention: { reason: 'failed_but_charged' }, attempts: 1 } });
    expect(await desk.cases(id)).toEqual([{ reason: 'failed_but_charged', open: true }]);
    expect(await desk.movements(id)).toEqual(['debit 2.40']);
  });

  it('does not count as uncharged when its debit appears late', async () => {
    // Shorter than the settle delay, which this test checks.
    await desk.simulator.dialect('late_debits', { debits_visible_after_ms: 500 });
    await desk.simulator.nextPurchases({ outcome: 'failed_at_once', credit_after_ms: null });
    const id = await desk.place(1001);
    const withCase = await desk.reaches(id, 'needs_attention');
    expect(withCase.at('operations', 'attention', 'reason')).toBe('failed_but_charged');
    expect(await desk.attempts(id)).toHaveLength(1);
  });

  it('fails when all attempts are used up, each failure proven free of charge', async () => {
    await desk.simulator.nextPurchases({ outcome: 'processing_then_failed', delay_ms: 200, count: 3 });
    const id = await desk.place(1001);
    const failed = await desk.reaches(id, 'failed');
    expect(failed.body).toMatchObject({
      failure: { class: 'supplier_failed', ended_by: 'attempts_used_up', service_message: expect.any(String) },
      operations: { attention: null, attempts: 3, resubmission: { verdict: 'yes' } },
    });
    const service_message = failed.textAt('failure', 'service_message');
    expect(failed.textAt('failure', 'detail')).toContain(service_message);
    const moved = await desk.movements(id);
    expect(moved.filter((line) => line.startsWith('debit'))).toHaveLength(3);
    expect(moved.filter((line) => line.startsWith('credit'))).toHaveLength(3);
    const events = await stack.api.get(`/v1/events?subject_id=${id}`);
    const told = events.at('data') as { type: string; data: unknown }[];
    expect(told.map(({ type }) => type)).toEqual(['order.accepted', 'order.processing', 'order.held', 'order.failed']);
    const data = { failure_class: 'supplier_failed', failure_ended_by: 'attempts_used_up', service_message };
    expect(told.at(-1)?.data).toMatchObject(data);
  });
});
