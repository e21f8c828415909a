import { and, eq } from 'drizzle-orm';
import { describe, expect, it } from 'vitest';
import { auditLog, orders } from '#db/schema.ts';
import { disposedAtEnd } from '#test/support/disposed-at-end.ts';
import { TemporalOperator } from '#test/support/servers/stack-temporal.ts';
import { startStack } from '#test/support/servers/stack.ts';
import { NORMAL_WAITS_POLICY, RARE_UPKEEP } from '#test/support/servers/test-policies.ts';
import { waitFor } from '#test/support/wait-for.ts';
import { checkedDesk, PACKAGE } from '#test/support/work/order-desk.ts';
import { changeRetryPolicyUpdate } from '#workflows/messages.ts';

const HOUR = 3_600_000;

/** The retry delays of `package_unavailable` and `supplier_failed` are longer than any test. */
const rules = {
  package_unavailable: { first_delay: '10m', max_delay: '1h', total: '48h' },
  supplier_failed: { attempts: 2, first_delay: '100ms', max_delay: '30m' },
};
const stack = disposedAtEnd(
  await startStack({
    environment: { ...NORMAL_WAITS_POLICY, ...RARE_UPKEEP, 'retry.rules': rules, 'retry.hold_deadline': '24h' },
  }),
);
const desk = checkedDesk(stack);
const temporal = disposedAtEnd(await TemporalOperator.connect(stack));

const change = (id: string, body: Record<string, unknown>) =>
  stack.api.patch(`/v1/orders/${id}/retry-policy`, { reason: 'a test', ...body });
const actionEvents = async (id: string) => (await desk.events(id)).filter((event) => event.startsWith('operator.'));
const later = (ms: number) => new Date(Date.now() + ms).toISOString();
/** An order that is held for ten minutes, the delay of its failure class. */
async function held(packageId: number, more: Record<string, unknown> = {}) {
  await desk.simulator.setPackage(packageId, { available: false });
  const id = await desk.place(packageId, more);
  return { id, order: await desk.reaches(id, 'held') };
}

describe('an order that is held', () => {
  it('continues soon after its long delay is shortened, with one timeline entry and the reason', async () => {
    const { id } = await held(1007);
    await desk.simulator.setPackage(1007, { available: true });
    const answer = await change(id, { first_wait_seconds: 1, reason: 'The supplier is back.' });
    expect(answer.status).toBe(200);
    expect(answer.at('operations', 'retry_policy')).toMatchObject({
      first_wait_seconds: 1,
      longest_wait_seconds: 3_600,
      changed: ['first_wait'],
    });
    await desk.reaches(id, 'completed');
    expect(await actionEvents(id)).toEqual(['operator.change_retry']);
    const timeline = await stack.api.get(`/v1/orders/${id}/timeline`);
    expect(timeline.text).toContain(
      'An operator changed how it is tried again: first wait 1 s. Reason given: The supplier is back.',
    );
    const audited = await stack.database.run((db) => db.select().from(auditLog).where(eq(auditLog.subjectId, id)));
    expect(audited).toMatchObject([
      { action: 'order.change_retry', actor: expect.stringMatching(/^key_/), reason: 'The supplier is back.' },
    ]);
    expect((await change(id, { attempts: 5 })).body).toMatchObject({
      status: 409,
      code: 'action_not_possible',
      refusal: 'already_ended',
    });
  });

  it('ignores a repeated change, and has the configured policy again after a reset', async () => {
    const { id } = await held(1007);
    const wish = { attempts: 5, first_wait_seconds: 1_200, longest_wait_seconds: 7_200, deadline: later(72 * HOUR) };
    const first = await change(id, wish);
    expect(first.at('operations', 'retry_policy')).toEqual({
      attempts: 5,
      first_wait_seconds: 1_200,
      longest_wait_seconds: 7_200,
      gives_up_at: wish.deadline,
      changed: ['attempts', 'first_wait', 'longest_wait', 'deadline'],
    });
    const rescheduled = await waitFor('the delay is measured again', async () => {
      const order = await stack.api.get(`/v1/orders/${id}?expand=operations`);
      return Date.parse(order.textAt('operations', 'next_step_at')) - Date.parse(order.textAt('created_at')) > 1_190_000
        ? order
        : undefined;
    });
    expect(rescheduled.at('status')).toBe('held');
    const before = await desk.events(id);
    expect((await change(id, wish)).status).toBe(200);
    expect((await change(id, { longest_wait_seconds: 7_200 })).status).toBe(200);
    expect(await desk.events(id)).toEqual(before);

    const back = await change(id, {
      attempts: null,
      first_wait_seconds: null,
      longest_wait_seconds: null,
      deadline: null,
    });
    expect(back.at('operations', 'retry_policy')).toMatchObject({
      attempts: 2,
      first_wait_seconds: 600,
      longest_wait_seconds: 3_600,
      changed: [],
    });
    const rows = await stack.database.run((db) =>
      db.select({ set: orders.retryOverrides }).from(orders).where(eq(orders.id, id)),
    );
    expect(rows).toEqual([{ set: null }]);
    await stack.api.post(`/v1/orders/${id}/abandon`, { reason: 'a test' });
  });
});

describe('the attempts of an order', () => {
  it('continue when more are granted, each on evidence, and a retry grants one more', async () => {
    await desk.simulator.nextPurchases({ outcome: 'failed_at_once', debited: false, count: 4 });
    const id = await desk.place(PACKAGE.completedAtOnce, { when_attempts_are_used_up: 'ask' });
    expect((await desk.reaches(id, 'needs_attention')).body).toMatchObject({
      operations: { attempts: 2, attention: { reason: 'attempts_used_up' }, retry_policy: { attempts: 2 } },
    });
    expect((await change(id, { attempts: 3 })).at('operations', 'retry_policy')).toMatchObject({
      attempts: 3,
      changed: ['attempts'],
    });
    await expect.poll(async () => (await desk.reaches(id, 'needs_attention')).at('operations', 'attempts')).toBe(3);
    // Fewer than were made, so no further attempt follows.
    await change(id, { attempts: 1 });
    await stack.api.post(`/v1/orders/${id}/retry`, { reason: 'once more' });
    await expect
      .poll(async () => (await desk.reaches(id, 'needs_attention')).body)
      .toMatchObject({ operations: { attempts: 4, retry_policy: { attempts: 4 } } });
    // After a reset to the configured number, a retry still grants one more.
    await change(id, { attempts: null });
    await stack.api.post(`/v1/orders/${id}/retry`, { reason: 'once more' });
    expect((await desk.reaches(id, 'completed')).at('operations', 'attempts')).toBe(5);
    expect((await desk.sends(id)).map((sends) => sends.length)).toEqual([1, 1, 1, 1, 1]);
    expect(await desk.movements(id)).toEqual(['debit 2.40']);
  });
});

describe('a change of the retry policy', () => {
  it('works from the Temporal UI, where an invalid argument changes nothing', async () => {
    const { id } = await held(1007);
    const update = (argument: Record<string, unknown>) =>
      temporal
        .order(id)
        .executeUpdate<unknown, [Record<string, unknown>]>(changeRetryPolicyUpdate.name, {
          args: [{ by: 'Ada', reason: 'a test', ...argument }],
        })
        .then(
          () => 'done',
          (error: unknown) => (error instanceof Error ? String(error.cause) : 'no error'),
        );
    expect(await update({})).toContain('Say what is to change');
    expect(await update({ attempts: 99 })).toContain('attempts must be a whole number from 1 to 20');
    expect(await update({ deadline: later(-1_000) })).toContain('The deadline must lie in the future');
    expect(await actionEvents(id)).toEqual([]);
    await desk.simulator.setPackage(1007, { available: true });
    expect(await update({ first_wait_seconds: 1 })).toBe('done');
    await desk.reaches(id, 'completed');
    const audited = await stack.database.run((db) =>
      db
        .select()
        .from(auditLog)
        .where(and(eq(auditLog.subjectId, id), eq(auditLog.action, 'order.change_retry'))),
    );
    expect(audited).toMatchObject([{ actor: 'temporal/Ada', reason: 'a test' }]);
  });

  it('works for a top-up, a VPN subscription and a cancellation', async () => {
    // Bought before the service refuses. One eSIM each, because changes of one eSIM wait for each other.
    const [esimId, cancelled] = [await desk.newEsim(), await desk.newEsim()];
    await desk.simulator.onRequest('createTopup', { kind: 'rate_limited', retry_after: 3_600 });
    const topup = await desk.topUp(esimId, PACKAGE.completedAtOnce);
    await desk.topupReaches(topup, 'held');
    const subscription = await desk.subscribe(302, { customer_price: { amount: '7.42', currency: 'USD' } });
    await desk.subscriptionReaches(subscription, 'held');
    await desk.simulator.onRequest('cancelEsim', { kind: 'rate_limited', retry_after: 3_600 });
    const cancellation = await desk.cancel(cancelled);
    await desk.cancellationReaches(cancellation, 'held');
    const ends = {
      [`/v1/topups/${topup}`]: 'failed',
      [`/v1/vpn/subscriptions/${subscription}`]: 'failed',
      [`/v1/cancellations/${cancellation}`]: 'refused',
    };
    for (const path of Object.keys(ends)) {
      const answer = await stack.api.patch(`${path}/retry-policy`, {
        reason: 'a test',
        deadline: later(4_000),
        longest_wait_seconds: 60,
      });
      expect(answer.at('operations', 'retry_policy', 'changed')).toEqual(['longest_wait', 'deadline']);
    }
    for (const [path, end] of Object.entries(ends)) await stack.workReaches(path, [end]);
  });
});
