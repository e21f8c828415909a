import { describe, expect, it } from 'vitest';
import { newId } from '#db/connection/ids.ts';
import { orderInput } from '#test/support/api/order-calls.ts';
import { move, untilWaiting, waitingCreations } from '#test/support/api/waiting-calls.ts';
import { waitHeaders } from '#test/support/api/waits.ts';
import { disposedAtEnd } from '#test/support/disposed-at-end.ts';
import { startTestApi } from '#test/support/network/api.ts';

const api = disposedAtEnd(await startTestApi());
const caller = await api.caller();

const { create } = waitingCreations(() => caller);

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
