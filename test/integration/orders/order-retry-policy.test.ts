import { and, eq } from 'drizzle-orm';
import { describe, expect, it } from 'vitest';
import { auditLog } from '#db/schema.ts';
import { disposedAtEnd } from '#test/support/disposed-at-end.ts';
import { TemporalOperator } from '#test/support/servers/stack-temporal.ts';
import { startStack } from '#test/support/servers/stack.ts';
import { NORMAL_WAITS_POLICY, RARE_UPKEEP } from '#test/support/servers/test-policies.ts';
import { checkedDesk } from '#test/support/work/order-desk.ts';
import { changeRetryPolicyUpdate } from '#workflows/messages.ts';

/** The retry delay is longer than any test. */
const rules = { package_unavailable: { first_delay: '10m', max_delay: '1h', total: '48h' } };
const environment = { ...NORMAL_WAITS_POLICY, ...RARE_UPKEEP, 'retry.rules': rules, 'retry.hold_deadline': '24h' };
const stack = disposedAtEnd(await startStack({ environment }));
const desk = checkedDesk(stack);
const temporal = disposedAtEnd(await TemporalOperator.connect(stack));

const change = (id: string, body: Record<string, unknown>) =>
  stack.api.patch(`/v1/orders/${id}/retry-policy`, { reason: 'a test', ...body });
const actionEvents = async (id: string) => (await desk.events(id)).filter((event) => event.startsWith('operator.'));
/** An order that is held for ten minutes, the delay of its failure class. */
async function held(): Promise<string> {
  await desk.simulator.setPackage(1007, { available: false });
  const id = await desk.place(1007);
  await desk.reaches(id, 'held');
  return id;
}

describe('an order that is held', () => {
  it('continues soon after its long delay is shortened, with one timeline entry and the reason', async () => {
    const id = await held();
    await desk.simulator.setPackage(1007, { available: true });
    const answer = await change(id, { first_wait_seconds: 1, reason: 'The supplier is back.' });
    expect(answer.status).toBe(200);
    const policy = { first_wait_seconds: 1, longest_wait_seconds: 3_600, changed: ['first_wait'] };
    expect(answer.at('operations', 'retry_policy')).toMatchObject(policy);
    await desk.reaches(id, 'completed');
    expect(await actionEvents(id)).toEqual(['operator.change_retry']);
    expect((await stack.api.get(`/v1/orders/${id}/timeline`)).text).toContain(
      'An operator changed how it is tried again: first wait 1 s. Reason given: The supplier is back.',
    );
    const audited = await stack.database.run((db) => db.select().from(auditLog).where(eq(auditLog.subjectId, id)));
    expect(audited).toMatchObject([
      { action: 'order.change_retry', actor: expect.stringMatching(/^key_/), reason: 'The supplier is back.' },
    ]);
    const refused = { status: 409, code: 'action_not_possible', refusal: 'already_ended' };
    expect((await change(id, { attempts: 5 })).body).toMatchObject(refused);
  });
});

it('a change of the retry policy works from the Temporal UI, where an invalid argument changes nothing', async () => {
  const id = await held();
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
  expect(await update({ deadline: '2020-01-31T00:00:00Z' })).toContain('The deadline must lie in the future');
  expect(await actionEvents(id)).toEqual([]);
  await desk.simulator.setPackage(1007, { available: true });
  expect(await update({ first_wait_seconds: 1 })).toBe('done');
  await desk.reaches(id, 'completed');
  const changes = and(eq(auditLog.subjectId, id), eq(auditLog.action, 'order.change_retry'));
  const audited = await stack.database.run((db) => db.select().from(auditLog).where(changes));
  expect(audited).toMatchObject([{ actor: 'temporal/Ada', reason: 'a test' }]);
});
