import { randomUUID } from 'node:crypto';
import { eq } from 'drizzle-orm';
import { describe, expect, it } from 'vitest';
import { revokeApiKey } from '#db/access/api-keys.ts';
import { newId } from '#db/connection/ids.ts';
import { vpnSubscriptions } from '#db/schema.ts';
import { apiOfFile, changeOrder } from '#test/integration/api/support.ts';
import { newKey, postOnce } from '#test/support/api/keys.ts';
import { orderInput, orderOf, vpnInput } from '#test/support/api/order-calls.ts';
import {
  idOfOrder,
  move,
  untilWaiting,
  wait,
  waitHeaders,
  waitingCallers,
  waitingCreations,
} from '#test/support/api/waiting-calls.ts';
import { TEST_NOW } from '#test/support/network/api.ts';
import type { HttpAnswer } from '#test/support/network/http.ts';

const { api, caller } = await apiOfFile();

const { create } = waitingCreations(() => caller);

/** Asks for an order, and returns as soon as the caller waits for it. */
async function creating(body = orderInput(), key?: string) {
  const answering = create(body, wait(40), key);
  const id = await idOfOrder(api, body.external_order_id);
  await untilWaiting(caller, 1);
  return { id, answering };
}

describe('a creation with Prefer: wait', () => {
  it('returns 201 with the finished order as soon as it is finished', async () => {
    const { id, answering } = await creating();
    await api.publish();
    await move(api, 'order', id, 'processing');
    expect(await waitingCallers(caller)).toBe(1);
    await changeOrder(api, id, { esimId: newId('esim') });
    await move(api, 'order', id, 'completed');
    const answer = await answering;
    expect([answer.status, orderOf(answer).status]).toEqual([201, 'completed']);
    expect(answer.headers.get('location')).toBe(`/v1/orders/${id}`);
    expect(waitHeaders(answer)).toEqual(['wait=40', null]);
    expect(await waitingCallers(caller)).toBe(0);
  });

  it.each(['', '?expand=esim'])('returns the stored 202 to a key that was revoked meanwhile: %j', async (query) => {
    const { prefix, client } = await newKey(api);
    const body = orderInput();
    const answering = postOnce(client, `/v1/orders${query}`, body, undefined, wait(40));
    const id = await idOfOrder(api, body.external_order_id);
    await untilWaiting(caller, 1);
    await api.database.transaction((tx) => revokeApiKey(tx, prefix, new Date(api.clock.now)));
    await move(api, 'order', id, 'failed');
    const answer = await answering;
    expect([answer.status, answer.at('id'), answer.at('status')]).toEqual([202, id, 'accepted']);
  });

  it('returns 202 with address and Retry-After at the end of its wait', async () => {
    const answer = await create(orderInput(), wait(1));
    expect([answer.status, answer.at('status'), ...waitHeaders(answer)]).toEqual([202, 'accepted', 'wait=1', '2']);
    expect(answer.headers.get('location')).toBe(`/v1/orders/${answer.textAt('id')}`);
  });

  it('waits during a hold, and returns when an operator must decide', async () => {
    const { id, answering } = await creating();
    await move(api, 'order', id, 'held');
    await move(api, 'order', id, 'needs_attention');
    const answer = await answering;
    expect([answer.status, answer.at('status'), waitHeaders(answer)[1]]).toEqual([202, 'needs_attention', '60']);
  });

  it('returns an earlier final state, so nothing is lost between storing and listening', async () => {
    const [body, key] = [orderInput(), randomUUID()];
    const first = await create(body, {}, key);
    await move(api, 'order', first.textAt('id'), 'failed');
    const answer = await create(body, wait(40), key);
    expect([answer.status, answer.at('status')]).toEqual([201, 'failed']);
  });
});

describe('a repeated creation', () => {
  it('gets the stored acceptance, also when the first answer had the finished order', async () => {
    const [body, key] = [orderInput(), randomUUID()];
    const { id, answering } = await creating(body, key);
    await move(api, 'order', id, 'failed');
    expect((await answering).status).toBe(201);
    const [one, two] = [await create(body, {}, key), await create(body, {}, key)];
    const told = [one.status, one.at('status'), one.headers.get('idempotent-replayed')];
    expect([told, two.text]).toEqual([[202, 'accepted', 'true'], one.text]);
  });

  it('with a wait gets the present order, and creates no second one', async () => {
    const [body, key] = [orderInput(), randomUUID()];
    const { id, answering: first } = await creating(body, key);
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

describe('a read with ?wait', () => {
  const accepted = async () => (await create(orderInput())).textAt('id');

  it('returns at once for a finished order, and for an unknown one', async () => {
    const id = await accepted();
    await move(api, 'order', id, 'failed');
    expect((await caller.get(`/v1/orders/${id}?wait=40`)).at('status')).toBe('failed');
    expect((await caller.get(`/v1/orders/${newId('order')}?wait=40`)).status).toBe(404);
  });

  it('returns the current state at the end of the wait, with Preference-Applied and Retry-After', async () => {
    const id = await accepted();
    const answer = await caller.get(`/v1/orders/${id}?wait=1`);
    expect([answer.status, answer.at('status'), ...waitHeaders(answer)]).toEqual([200, 'accepted', 'wait=1', '2']);
    expect(waitHeaders(await caller.get(`/v1/orders/${id}`))).toEqual([null, null]);
  });

  it('returns Retry-After until the awaited status, with a longer time when an operator must decide', async () => {
    const id = await accepted();
    const told = async (query: string) => waitHeaders(await caller.get(`/v1/orders/${id}?${query}`));
    await move(api, 'order', id, 'needs_attention');
    expect(await told('wait=40')).toEqual(['wait=40', '60']);
    expect(await told('wait=40&until=needs_attention')).toEqual(['wait=40', null]);
    await move(api, 'order', id, 'failed');
    expect(await told('wait=40&until=completed')).toEqual(['wait=40', null]);
    expect(await told('wait=1000')).toEqual(['wait=50', null]);
  });

  it('waits for the requested statuses, and not for impossible ones', async () => {
    const id = await accepted();
    const held = caller.get(`/v1/orders/${id}?wait=40&until=held,completed`);
    const completed = caller.get(`/v1/orders/${id}?wait=40&until=completed`);
    await untilWaiting(caller, 2);
    await move(api, 'order', id, 'held');
    expect((await held).at('status')).toBe('held');
    await untilWaiting(caller, 1);
    await move(api, 'order', id, 'failed');
    expect((await completed).at('status')).toBe('failed');
  });

  it.each(['wait=soon', 'wait=40&until=bought', 'wait=40&until=held,'])('refuses ?%s', async (query) => {
    expect((await caller.get(`/v1/orders/${newId('order')}?${query}`)).at('code')).toBe('validation_failed');
  });
});

describe('every call with a wait', () => {
  it('describes its address, Retry-After and Preference-Applied headers', () => {
    const waitingCalls = api.operations.filter(({ prefersWait }) => prefersWait);
    expect(waitingCalls.length).toBeGreaterThan(4);
    for (const { id, answers } of waitingCalls) {
      const described = Object.entries(answers).map(([status, { headers = {} }]) =>
        [status, headers['Location'], headers['Retry-After'], headers['Preference-Applied']].map(
          (text) => text !== undefined,
        ),
      );
      expect([id, ...described]).toEqual([id, [true, true, false, true], [true, true, true, true]]);
    }
  });
});

describe('the cancellation of a VPN subscription', () => {
  /** An active one, as its workflow leaves it. @returns its address. */
  async function active(): Promise<{ id: string; path: string }> {
    const id = (await postOnce(caller, '/v1/vpn/subscriptions', vpnInput())).textAt('id');
    await move(api, 'vpn_subscription', id, 'active');
    const completed = { completedAt: new Date(TEST_NOW) };
    await api.database.run((db) => db.update(vpnSubscriptions).set(completed).where(eq(vpnSubscriptions.id, id)));
    return { id, path: `/v1/vpn/subscriptions/${id}` };
  }

  const seen = ({ status, headers }: HttpAnswer) => [
    status,
    ...['location', 'retry-after', 'preference-applied'].map((name) => headers.get(name)),
  ];

  it('with Prefer: wait returns 200 when the subscription has ended', async () => {
    const { id, path } = await active();
    const ending = caller.post(`${path}/cancel`, { reason: 'Test.' }, { headers: wait(40) });
    await untilWaiting(caller, 1);
    await move(api, 'vpn_subscription', id, 'cancelling');
    await move(api, 'vpn_subscription', id, 'cancelled');
    const answer = await ending;
    expect([...seen(answer), answer.at('status')]).toEqual([200, path, null, 'wait=40', 'cancelled']);
  });

  it('returns 202 with address and Retry-After, at once or at the end of its wait', async () => {
    const { path } = await active();
    const cancel = async (headers = {}) => seen(await caller.post(`${path}/cancel`, { reason: 'Test.' }, { headers }));
    expect(await cancel()).toEqual([202, path, '2', null]);
    // Already requested, with the same answer.
    expect(await cancel()).toEqual([202, path, '2', null]);
    expect(await cancel(wait(1))).toEqual([202, path, '2', 'wait=1']);
  });

  it('needs no reason, and a missing one appears in neither timeline nor audit log', async () => {
    const ended = async (body?: object) => {
      const { id, path } = await active();
      expect((await caller.post(`${path}/cancel`, body)).status).toBe(202);
      const timeline = await caller.get(`${path}/timeline`);
      const audited = await caller.get(`/v1/audit-log?action=vpn_subscription.cancel&subject_id=${id}`);
      expect(audited.at('data', 1)).toBeUndefined();
      return [/The customer ends the subscription[^"]*/.exec(timeline.text)?.[0], audited.at('data', 0, 'reason')];
    };
    expect(await ended()).toEqual(['The customer ends the subscription.', null]);
    expect(await ended({})).toEqual(['The customer ends the subscription.', null]);
    expect(await ended({ reason: 'Moved.' })).toEqual(['The customer ends the subscription: Moved.', 'Moved.']);
  });

  it('is refused after another end, and repeats its answer after a cancellation', async () => {
    const { id, path } = await active();
    await move(api, 'vpn_subscription', id, 'expired');
    const refused = await caller.post(`${path}/cancel`, {});
    expect(refused.body).toMatchObject({ status: 409, code: 'action_not_possible', refusal: 'already_ended' });
    const other = await active();
    await move(api, 'vpn_subscription', other.id, 'cancelled');
    const again = await caller.post(`${other.path}/cancel`, {});
    expect([again.status, again.at('status')]).toEqual([200, 'cancelled']);
  });
});
