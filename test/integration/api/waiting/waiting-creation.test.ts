import { randomUUID } from 'node:crypto';
import { eq } from 'drizzle-orm';
import { describe, expect, it } from 'vitest';
import { orderOutput } from '#api/orders/orders.ts';
import { newId } from '#db/connection/ids.ts';
import { orders } from '#db/schema.ts';
import { orderInput } from '#test/support/api/order-calls.ts';
import { idOfOrder, move, untilWaiting, wait, waitingCreations } from '#test/support/api/waiting-calls.ts';
import { waitHeaders, waitingCallers } from '#test/support/api/waits.ts';
import { disposedAtEnd } from '#test/support/disposed-at-end.ts';
import { startTestApi } from '#test/support/network/api.ts';

const api = disposedAtEnd(await startTestApi());
const caller = await api.caller();

const { create } = waitingCreations(() => caller);

describe('a creation with Prefer: wait', () => {
  it('returns 201 with the finished order as soon as it is finished', async () => {
    const body = orderInput();
    const answering = create(body, wait(40));
    const id = await idOfOrder(api, body.external_order_id);
    await untilWaiting(caller, 1);
    await api.publish();
    await move(api, 'order', id, 'processing');
    expect(await waitingCallers(caller)).toBe(1);
    const esimId = newId('esim');
    await api.database.run((db) => db.update(orders).set({ esimId }).where(eq(orders.id, id)));
    await move(api, 'order', id, 'completed');
    const answer = await answering;
    expect([answer.status, answer.read(orderOutput).status]).toEqual([201, 'completed']);
    expect(answer.headers.get('location')).toBe(`/v1/orders/${id}`);
    expect(waitHeaders(answer)).toEqual(['wait=40', null]);
    expect(await waitingCallers(caller)).toBe(0);
  });

  it('returns 202 with address and Retry-After at the end of its wait', async () => {
    const answer = await create(orderInput(), wait(1));
    expect([answer.status, answer.at('status'), ...waitHeaders(answer)]).toEqual([202, 'accepted', 'wait=1', '2']);
    expect(answer.headers.get('location')).toBe(`/v1/orders/${answer.textAt('id')}`);
  });

  it('waits during a hold, and returns when an operator must decide', async () => {
    const body = orderInput();
    const answering = create(body, wait(40));
    const id = await idOfOrder(api, body.external_order_id);
    await untilWaiting(caller, 1);
    await move(api, 'order', id, 'held');
    await move(api, 'order', id, 'needs_attention');
    const answer = await answering;
    expect([answer.status, answer.at('status'), waitHeaders(answer)[1]]).toEqual([202, 'needs_attention', '60']);
  });

  it('returns an earlier final state, so nothing is lost between storing and listening', async () => {
    const body = orderInput();
    const key = randomUUID();
    const first = await create(body, {}, key);
    await move(api, 'order', first.textAt('id'), 'failed');
    const answer = await create(body, wait(40), key);
    expect([answer.status, answer.at('status')]).toEqual([201, 'failed']);
  });
});

describe('a repeated creation', () => {
  it('gets the stored acceptance, also when the first answer had the finished order', async () => {
    const [body, key] = [orderInput(), randomUUID()];
    const answering = create(body, wait(40), key);
    const id = await idOfOrder(api, body.external_order_id);
    await untilWaiting(caller, 1);
    await move(api, 'order', id, 'failed');
    expect((await answering).status).toBe(201);
    const [one, two] = [await create(body, {}, key), await create(body, {}, key)];
    const told = [one.status, one.at('status'), one.headers.get('idempotent-replayed')];
    expect([told, two.text]).toEqual([[202, 'accepted', 'true'], one.text]);
  });

  it('with a wait gets the present order, and creates no second one', async () => {
    const body = orderInput();
    const key = randomUUID();
    const first = create(body, wait(40), key);
    const id = await idOfOrder(api, body.external_order_id);
    await untilWaiting(caller, 1);
    // The first request still waits. It is committed, so its key is no longer in progress.
    const second = create(body, wait(40), key);
    await untilWaiting(caller, 2);
    await move(api, 'order', id, 'failed');
    const answers = await Promise.all([first, second]);
    expect(answers.map(({ status }) => status)).toEqual([201, 201]);
    expect(answers.map(({ headers }) => headers.get('idempotent-replayed'))).toEqual([null, 'true']);
    expect(answers[1]?.text).toBe(answers[0]?.text);
  });
});
