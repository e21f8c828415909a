import { randomUUID } from 'node:crypto';
import { eq, sql } from 'drizzle-orm';
import { afterAll, describe, expect, it } from 'vitest';
import { orderOutput, orderPage } from '#api/orders/order-schemas.ts';
import { timelinePage } from '#api/work/work-schemas.ts';
import { orders, timeline } from '#db/schema.ts';
import { orderReads } from '#db/work/orders.ts';
import { ATTENTION_REASONS } from '#domain/work/attention.ts';
import { orderCalls, orderInput, orderOf, problemOf } from '#test/support/api/order-calls.ts';
import { startTestApi, TEST_NOW } from '#test/support/network/api.ts';

const api = await startTestApi();
const caller = await api.caller();

afterAll(() => api[Symbol.asyncDispose]());

const { create } = orderCalls(() => caller);

describe('reading orders', () => {
  it('returns pages newest first, with each order once, also with equal times', async () => {
    await using own = await startTestApi();
    const by = await own.caller();
    const made: string[] = [];
    for (let n = 0; n < 7; n += 1) {
      own.clock.now = TEST_NOW + Math.floor(n / 3);
      made.push((await create(orderInput({ package_id: n < 5 ? 101 : 102 }), randomUUID(), by)).read(orderOutput).id);
    }
    const seen: string[] = [];
    for (let cursor = ''; ;) {
      const page = (await by.get(`/v1/orders?limit=2${cursor}`)).read(orderPage);
      seen.push(...page.data.map(({ id }) => id));
      if (page.next_cursor === null) break;
      cursor = `&cursor=${page.next_cursor}`;
    }
    // Ids do not reflect the creation time. For equal times they only keep the order stable between pages.
    const newestFirst = (...some: readonly string[]) =>
      [some.slice(6), some.slice(3, 6), some.slice(0, 3)].flatMap((same) => same.toSorted().toReversed());
    expect(seen).toEqual(newestFirst(...made));
    const ids = async (query: string) => (await by.get(`/v1/orders?${query}`)).read(orderPage).data.map(({ id }) => id);
    expect(await ids('package_id=102')).toEqual([made[6], made[5]]);
    expect(await ids('status=completed')).toEqual([]);
    expect(await ids(`created_after=${new Date(TEST_NOW + 1).toISOString()}`)).toEqual([made[6]]);
    expect(await ids(`created_before=${new Date(TEST_NOW + 1).toISOString()}`)).toEqual(
      made.slice(0, 3).toSorted().toReversed(),
    );
  });

  it.each([
    ['of all orders', {}, 'orders_page'],
    ['of one status', { statuses: ['held'] } as const, 'orders_status_page'],
  ])('reads a page %s from an index, without sorting all orders', async (_name, filter, index) => {
    const after = { createdAt: new Date(TEST_NOW), id: 'ord_01JQ8Z5YV7N4M2K3H6T9R0WXCD' };
    const plan = await api.database.transaction(async (tx) => {
      // With few rows a sort is cheaper. The test shows that none is necessary.
      await tx.execute('set local enable_sort = off');
      await tx.execute('set local enable_seqscan = off');
      const result = await tx.execute(
        sql`explain ${orderReads.page(tx, undefined, filter, { limit: 21, after }).getSQL()}`,
      );
      return JSON.stringify(result.rows);
    });
    expect(plan).toContain(`using ${index} `);
    expect(plan).not.toContain('Sort Key: orders');
  });

  it.each([
    ['limit=0', 'limit'],
    ['limit=101', 'limit'],
    ['limit=1e1', 'limit'],
    ['limit=5&limit=6', 'limit'],
    ['status=bought', 'status'],
    ['created_after=yesterday', 'created_after'],
    // PostgreSQL cannot represent these times.
    ['created_after=-200000-01-01T00:00:00Z', 'created_after'],
    ['created_before=0000-01-01T00:00:00Z', 'created_before'],
    ['created_before=9999-12-31T23:59:59Z', 'created_before'],
    ['package_id=x', 'package_id'],
    ['external_order_id=%00', 'external_order_id'],
    ['cursor=abc', 'cursor'],
    ['cursor=bzou', 'cursor'],
    ['colour=red', 'colour'],
    ['__proto__=1', '__proto__'],
  ])('returns the parameter name for ?%s', async (query, field) => {
    const answer = await caller.get(`/v1/orders?${query}`);
    expect(answer.status).toBe(400);
    expect(problemOf(answer).errors).toEqual([{ in: 'query', field, message: expect.any(String) }]);
  });

  it('returns 404 for an unknown id of any form', async () => {
    for (const id of ['ord_01JQ8Z5YV7N4M2K3H6T9R0WXCD', 'nonsense', '%00', "ord_'--"]) {
      for (const path of [`/v1/orders/${id}`, `/v1/orders/${id}/timeline`]) {
        const answer = await caller.get(path);
        expect([path, answer.status, problemOf(answer).code]).toEqual([path, 404, 'order_not_found']);
      }
    }
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
