import { randomUUID } from 'node:crypto';
import { and, eq } from 'drizzle-orm';
import { describe, expect, it } from 'vitest';
import { cases, inbox, orders, timeline } from '#db/schema.ts';
import { InboxWriter, type VerifiedWebhook } from '#fulfilment/reports/inbox-writer.ts';
import { postOnce } from '#test/support/api/keys.ts';
import { orderInput } from '#test/support/api/order-calls.ts';
import { NOW_SECONDS, orderEvent, result, storedDeliveries } from '#test/support/api/service-deliveries.ts';
import { disposedAtEnd } from '#test/support/disposed-at-end.ts';
import { startTestApi } from '#test/support/network/api.ts';
import type { HttpAnswer } from '#test/support/network/http.ts';
import { openDatabase } from '#test/support/servers/database.ts';

const api = disposedAtEnd(await startTestApi());

const { rowsOf, metric } = storedDeliveries(() => api);
const resultsOf = (answers: readonly HttpAnswer[]) => answers.map((answer) => answer.textAt('result')).toSorted();

describe('a repeated delivery', () => {
  it('fifty times at once leaves one row', async () => {
    const id = randomUUID();
    const body = orderEvent();
    const answers = await Promise.all(Array.from({ length: 50 }, () => api.deliver({ id, body })));
    expect(answers.map(({ status }) => status)).toEqual(Array(50).fill(200));
    expect(resultsOf(answers)).toEqual(['accepted', ...Array<string>(49).fill('duplicate')]);
    expect(await rowsOf(id)).toHaveLength(1);
  });

  it.each([
    ['under its own id is a duplicate', (id: string) => id, 'duplicate'],
    ['under another id is a replay', () => randomUUID(), 'replayed'],
  ])('with another event header first has its effect once; the genuine delivery %s', async (_how, idOf, expected) => {
    const first = randomUUID();
    const body = orderEvent('completed');
    expect(result(await api.deliver({ id: first, body, event: 'order.failed' }))).toEqual([200, 'accepted']);
    const wakeUps = api.wakeUps();
    const second = idOf(first);
    expect(result(await api.deliver({ id: second, body, event: 'order.completed' }))).toEqual([200, expected]);
    const signedAnew = { id: second, body, timestamp: String(NOW_SECONDS + 60) };
    expect(result(await api.deliver(signedAnew))).toEqual([200, 'duplicate']);
    expect(api.wakeUps()).toBe(wakeUps);
    expect(await rowsOf(first)).toMatchObject([{ state: 'pending', outcome: 'completed' }]);
    expect(await rowsOf(second)).toMatchObject([{ state: second === first ? 'pending' : 'replayed' }]);
  });

  it('with fifty different ids leaves one row with an effect', async () => {
    const body = orderEvent();
    const ids = Array.from({ length: 50 }, () => randomUUID());
    const answers = await Promise.all(ids.map((id) => api.deliver({ id, body })));
    expect(resultsOf(answers)).toEqual(['accepted', ...Array<string>(49).fill('replayed')]);
    const effective = and(eq(inbox.serviceId, body.data.id), eq(inbox.state, 'pending'));
    expect(await api.database.run((db) => db.$count(inbox, effective))).toBe(1);
  });

  it('with another body under its id is stored and opens a case', async () => {
    const id = randomUUID();
    const [first, second] = [orderEvent('processing'), orderEvent('failed')];
    await api.deliver({ id, body: first });
    expect(result(await api.deliver({ id, body: second }))).toEqual([200, 'accepted']);
    expect(result(await api.deliver({ id, body: second }))).toEqual([200, 'duplicate']);
    expect(await rowsOf(id)).toMatchObject([
      { state: 'pending', outcome: 'processing' },
      { state: 'pending', outcome: 'failed' },
    ]);
    const opened = await api.database.run((db) => db.select().from(cases).where(eq(cases.subjectId, id)));
    expect(opened).toMatchObject([{ subjectKind: 'delivery', reason: 'webhook_conflict', closedAt: null }]);
    const alerts = api.log.filter((line) => line.includes(id) && line.includes('"level":"error"'));
    expect(alerts).toHaveLength(1);
    expect(await metric('reseller_webhook_deliveries_total{result="conflict"}')).toBe(1);
  });

  it('with two bodies under one id opens one case, and the same one leaves one row, also across processes', async () => {
    const databases = [openDatabase(api.databaseUrl), openDatabase(api.databaseUrl)];
    const intakes = databases.map((database) => new InboxWriter(database, api.keyRing));
    for (let round = 0; round < 20; round += 1) {
      const deliveryId = randomUUID();
      const other = () => verified({ deliveryId, body: Buffer.from(JSON.stringify(orderEvent())) });
      const results = await Promise.all(intakes.map((intake) => intake.accept(other())));
      expect(results.map(({ kind }) => kind)).toEqual(['stored', 'stored']);
      expect(results.filter(({ conflict }) => conflict === 'new')).toHaveLength(1);
      const same = verified({});
      const stored = await Promise.all(intakes.map((intake) => intake.accept(same)));
      expect(stored.map(({ kind }) => kind).toSorted()).toEqual(['duplicate', 'stored']);
    }
    await Promise.all(databases.map((database) => database.close()));
  });

  it('with a conflict about an order appears in its timeline', async () => {
    const orderId = (await postOnce(await api.caller(), '/v1/orders', orderInput())).textAt('id');
    const id = randomUUID();
    await api.deliver({ id, body: orderEvent() });
    // As the relay does after it matched the delivery.
    await api.database.run((db) =>
      db.update(inbox).set({ subjectKind: 'order', subjectId: orderId }).where(eq(inbox.deliveryId, id)),
    );
    await api.deliver({ id, body: orderEvent() });
    const conflict = and(eq(timeline.subjectId, orderId), eq(timeline.event, 'webhook.conflict'));
    const entries = await api.database.run((db) => db.select().from(timeline).where(conflict));
    expect(entries).toMatchObject([{ detail: { delivery_id: id } }]);
    const [order] = await api.database.run((db) => db.select().from(orders).where(eq(orders.id, orderId)));
    expect(order).toMatchObject({ status: 'accepted' });
  });

  it('that PostgreSQL refuses does not affect others in its batch', async () => {
    const intake = new InboxWriter(api.database, api.keyRing);
    const good = () => Array.from({ length: 5 }, () => verified({}));
    const poison = verified({ parsed: { state: 'pending', outcome: 'failed', serviceId: 'a\0b' } });
    const outcomes = await Promise.allSettled([...good(), poison, ...good()].map((each) => intake.accept(each)));
    const stored = Array<string>(5).fill('fulfilled');
    expect(outcomes.map(({ status }) => status)).toEqual([...stored, 'rejected', ...stored]);
    expect(await rowsOf(poison.deliveryId)).toEqual([]);
  });
});

function verified(more: Partial<VerifiedWebhook>): VerifiedWebhook {
  return {
    deliveryId: randomUUID(),
    timestamp: String(NOW_SECONDS),
    body: Buffer.from(randomUUID()),
    headerEvent: undefined,
    parsed: { state: 'pending', event: 'order.failed', outcome: 'failed', serviceId: randomUUID() },
    ...more,
  };
}
