import { eq } from 'drizzle-orm';
import { describe, expect, it } from 'vitest';
import { timelinePage } from '#api/work/work-schemas.ts';
import { orders, timeline } from '#db/schema.ts';
import { ATTENTION_REASONS } from '#domain/work/attention.ts';
import { orderCalls, orderInput, orderOf, problemOf } from '#test/support/api/order-calls.ts';
import { disposedAtEnd } from '#test/support/disposed-at-end.ts';
import { startTestApi, TEST_NOW } from '#test/support/network/api.ts';

const api = disposedAtEnd(await startTestApi());
const caller = await api.caller();

const { create } = orderCalls(() => caller);

describe('reading orders', () => {
  it.each([
    ['limit=0', 'limit'],
    ['limit=101', 'limit'],
    ['limit=1e1', 'limit'],
    ['status=bought', 'status'],
    ['created_after=yesterday', 'created_after'],
    // PostgreSQL cannot represent these times.
    ['created_after=-200000-01-01T00:00:00Z', 'created_after'],
    ['created_before=0000-01-01T00:00:00Z', 'created_before'],
    ['created_before=9999-12-31T23:59:59Z', 'created_before'],
    ['package_id=x', 'package_id'],
    ['external_order_id=%00', 'external_order_id'],
  ])('returns the parameter name for ?%s', async (query, field) => {
    const answer = await caller.get(`/v1/orders?${query}`);
    expect(answer.status).toBe(400);
    expect(problemOf(answer).errors).toEqual([{ in: 'query', field, message: expect.any(String) }]);
  });

  it('returns the record of the workflow: attempts, charge, failure and attention', async () => {
    const { id } = orderOf(await create(orderInput()));
    await api.database.run((db) =>
      db
        .update(orders)
        .set({
          status: 'needs_attention',
          failureClass: 'timeout',
          failureDetail: 'No answer within 20 s.',
          attentionReason: 'outcome_unknown',
          chargedAmount: '9.8',
          chargedCurrency: 'EUR',
          nextStepAt: new Date(TEST_NOW + 1_000),
        })
        .where(eq(orders.id, id)),
    );
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
    const { id } = orderOf(await create(orderInput()));
    await api.database.run((db) =>
      db
        .insert(timeline)
        .values([1, 2].map((n) => ({ subjectKind: 'order', subjectId: id, event: `test.${n}`, message: 'm' }))),
    );
    const first = (await caller.get(`/v1/orders/${id}/timeline?limit=2`)).read(timelinePage);
    expect(first.data.map(({ event }) => event)).toEqual(['order.accepted', 'test.1']);
    const second = (await caller.get(`/v1/orders/${id}/timeline?limit=2&cursor=${first.next_cursor}`)).read(
      timelinePage,
    );
    expect(second.data.map(({ event }) => event)).toEqual(['test.2']);
    expect(second.next_cursor).toBeNull();
    for (const { current_state: currentState } of [first, second]) {
      expect(currentState).toMatchObject({
        now: 'The order is accepted and stored.',
        reason: null,
        next_at: null,
        resubmission: { verdict: 'not_needed' },
      });
    }
  });
});
