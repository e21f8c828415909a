import { describe, expect, it } from 'vitest';
import { timelinePage } from '#api/work/work-schemas.ts';
import { timeline } from '#db/schema.ts';
import { ATTENTION_REASONS } from '#domain/work/attention.ts';
import { apiOfFile, changeOrder } from '#test/integration/api/support.ts';
import { orderCalls, orderInput, orderOf, problemOf } from '#test/support/api/order-calls.ts';
import { TEST_NOW } from '#test/support/network/api.ts';

const { api, caller } = await apiOfFile();

const { create } = orderCalls(() => caller);
const accepted = async () => orderOf(await create(orderInput())).id;

describe('reading orders', () => {
  it.each([
    ['orders?limit=101', 'limit'],
    ['orders?limit=1e1', 'limit'],
    ['orders?status=', 'status'],
    ['orders?status=held,bought', 'status'],
    ['orders?status=held,,failed', 'status'],
    ['esims?status=a,,b', 'status'],
    // PostgreSQL cannot represent these times.
    ['orders?created_after=-200000-01-01T00:00:00Z', 'created_after'],
    ['orders?created_before=0000-01-01T00:00:00Z', 'created_before'],
    ['orders?created_before=9999-12-31T23:59:59Z', 'created_before'],
    ['orders?package_id=x', 'package_id'],
    ['orders?external_order_id=%00', 'external_order_id'],
  ])('returns the parameter name for %s', async (query, field) => {
    const answer = await caller.get(`/v1/${query}`);
    const error = { in: 'query', field, message: expect.any(String) };
    expect([answer.status, problemOf(answer).errors]).toEqual([400, [error]]);
  });

  it('returns the record of the workflow: attempts, charge, failure and attention', async () => {
    const id = await accepted();
    const record = {
      status: 'needs_attention',
      failureClass: 'timeout',
      failureDetail: 'No answer within 20 s.',
      attentionReason: 'outcome_unknown',
      chargedAmount: '9.8',
      chargedCurrency: 'EUR',
      nextStepAt: new Date(TEST_NOW + 1_000),
    } as const;
    await changeOrder(api, id, record);
    expect(orderOf(await caller.get(`/v1/orders/${id}?expand=operations`))).toMatchObject({
      status: 'needs_attention',
      failure: {
        class: 'timeout',
        detail: 'No answer within 20 s.',
        meaning: expect.any(String),
        // Not that of the failure: "No action yet".
        advice: ATTENTION_REASONS.outcome_unknown.advice,
      },
      charged: { amount: '9.80', currency: 'EUR' },
      operations: {
        attention: { reason: 'outcome_unknown', meaning: expect.any(String), advice: expect.any(String) },
        next_step_at: '2030-01-31T12:00:01.000Z',
      },
    });
  });

  it('returns a timeline in pages, oldest first', async () => {
    const id = await accepted();
    const later = [1, 2].map((n) => ({ subjectKind: 'order', subjectId: id, event: `test.${n}`, message: 'm' }));
    await api.database.run((db) => db.insert(timeline).values(later));
    const pageOf = async (cursor: string) =>
      (await caller.get(`/v1/orders/${id}/timeline?limit=2${cursor}`)).read(timelinePage);
    const first = await pageOf('');
    expect(first.data.map(({ event }) => event)).toEqual(['order.accepted', 'test.1']);
    const second = await pageOf(`&cursor=${first.next_cursor}`);
    expect(second.data.map(({ event }) => event)).toEqual(['test.2']);
    expect(second.next_cursor).toBeNull();
    const nothing = { now: 'The order is accepted and stored.', reason: null, next_at: null };
    for (const page of [first, second])
      expect(page.current_state).toMatchObject({ ...nothing, resubmission: { verdict: 'not_needed' } });
  });
});
