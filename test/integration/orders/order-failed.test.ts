import { describe, expect, it } from 'vitest';
import { disposedAtEnd } from '#test/support/disposed-at-end.ts';
import { startStack } from '#test/support/servers/stack.ts';
import { RARE_UPKEEP } from '#test/support/servers/test-policies.ts';
import { checkedDesk } from '#test/support/work/order-desk.ts';

const stack = disposedAtEnd(await startStack({ environment: { ...RARE_UPKEEP, 'purchase.settle_delay': '600ms' } }));
const desk = checkedDesk(stack);

async function expectNoRepetition(id: string): Promise<void> {
  const entries = (await stack.api.get(`/v1/orders/${id}/timeline?limit=100`)).at('data') as { message: string }[];
  const lines = entries.map(({ message }) => message);
  expect(lines).toEqual([...new Set(lines)]);
}

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

  it('gets no new attempt while the wallet shows the debit without its credit', async () => {
    await desk.simulator.nextPurchases({ outcome: 'failed_at_once', credit_after_ms: 800 });
    const id = (await desk.complete(1001)).textAt('id');
    const [, retried] = await desk.sends(id);
    const events = await stack.api.get(`/v1/orders/${id}/timeline`);
    expect(events.text).toContain('and its credit');
    // The movements show the order of events at the service.
    expect(await desk.movements(id)).toEqual(['debit 2.40', 'credit 2.40', 'debit 2.40']);
    expect(retried).toHaveLength(1);
  });

  it('gets a new attempt when the wallet shows that it was never charged', async () => {
    await desk.simulator.nextPurchases({ outcome: 'failed_at_once', debited: false });
    const id = (await desk.complete(1001)).textAt('id');
    expect(await desk.attempts(id)).toHaveLength(2);
    expect(await desk.movements(id)).toEqual(['debit 2.40']);
  });

  it('needs attention and gets no new attempt when it was charged and not refunded', async () => {
    await desk.simulator.nextPurchases({ outcome: 'failed_at_once', credit_after_ms: null });
    const id = await desk.place(1001);
    const withCase = await desk.reaches(id, 'needs_attention');
    expect(withCase.body).toMatchObject({ operations: { attention: { reason: 'failed_but_charged' }, attempts: 1 } });
    expect(await desk.cases(id)).toEqual([{ reason: 'failed_but_charged', open: true }]);
    expect(await desk.movements(id)).toEqual(['debit 2.40']);
    // The wallet was read several times.
    await expectNoRepetition(id);
  });

  it('does not count as uncharged when its debit appears late', async () => {
    // Shorter than the settle delay, which this test checks.
    await desk.simulator.dialect('late_debits', { debits_visible_after_ms: 500 });
    await desk.simulator.nextPurchases({ outcome: 'failed_at_once', credit_after_ms: null });
    const id = await desk.place(1001);
    expect((await desk.reaches(id, 'needs_attention')).body).toMatchObject({
      operations: { attention: { reason: 'failed_but_charged' } },
    });
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
    expect(failed.textAt('failure', 'detail')).toContain(failed.textAt('failure', 'service_message'));
    const moved = await desk.movements(id);
    expect(moved.filter((line) => line.startsWith('debit'))).toHaveLength(3);
    expect(moved.filter((line) => line.startsWith('credit'))).toHaveLength(3);
    await expectNoRepetition(id);
    const events = await stack.api.get(`/v1/events?subject_id=${id}`);
    const told = events.at('data') as { type: string; data: unknown }[];
    expect(told.map(({ type }) => type)).toEqual(['order.accepted', 'order.processing', 'order.held', 'order.failed']);
    expect(told.at(-1)?.data).toMatchObject({
      failure_class: 'supplier_failed',
      failure_ended_by: 'attempts_used_up',
      service_message: failed.textAt('failure', 'service_message'),
    });
  });

  it('asks a person instead, if its caller wants that, and fails at its deadline', async () => {
    await desk.simulator.nextPurchases({ outcome: 'failed_at_once', count: 3 });
    const deadline = new Date(Date.now() + 20_000).toISOString();
    const id = await desk.place(1001, { when_attempts_are_used_up: 'ask', deadline });
    const withCase = await desk.reaches(id, 'needs_attention');
    expect(withCase.body).toMatchObject({ operations: { attention: { reason: 'attempts_used_up' }, attempts: 3 } });
    expect((await desk.reaches(id, 'failed')).body).toMatchObject({
      failure: { class: 'supplier_failed', ended_by: 'deadline_passed' },
      operations: { attention: null },
    });
  });

  it('is corrected by an event and a case when the service completes an attempt after its end', async () => {
    await desk.simulator.nextPurchases({ outcome: 'failed_at_once', debited: false, count: 3 });
    const id = await desk.place(1001);
    await desk.reaches(id, 'failed');
    const attempt = (await desk.attempts(id)).at(-1)!;
    await desk.simulator.sendWebhook({
      event: 'order.completed',
      data: { id: attempt.serviceId, external_order_id: attempt.reference, status: 'completed', esim_id: 'esim-1' },
    });
    const corrections = async () => (await stack.api.get(`/v1/events?subject_id=${id}&type=order.in_doubt`)).at('data');
    await expect.poll(corrections).toEqual([
      expect.objectContaining({
        data: expect.objectContaining({ status: 'failed', attention_reason: 'contradiction' }),
      }),
    ]);
    expect((await desk.reaches(id, 'failed')).at('operations', 'resubmission', 'verdict')).toBe('no');
  });
});
