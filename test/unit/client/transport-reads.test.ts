import { describe, expect, it } from 'vitest';
import { Paged, StillInProgressError } from '#clients/typescript/src/index.ts';
import { ok, testNetwork, thrown } from '#test/support/network/client-network.ts';

const { client, network } = testNetwork();

describe('a list', () => {
  it('is read page by page, and only as far as it is used', async () => {
    const list = client(
      ok({ data: [{ id: 1 }, { id: 2 }], next_cursor: 'a b' }),
      ok({ data: [{ id: 3 }], next_cursor: null }),
    ).listOrders({ status: 'held', limit: 2 });
    expect(list).toBeInstanceOf(Paged);
    const ids: unknown[] = [];
    for await (const { id } of list) ids.push(id);
    expect(ids).toEqual([1, 2, 3]);
    expect(network.seen.map(({ url }) => url)).toEqual([
      'https://api.example.com/v1/orders?status=held&limit=2',
      'https://api.example.com/v1/orders?status=held&limit=2&cursor=a+b',
    ]);
    const more = client(ok({ data: [{ id: 1 }, { id: 2 }], next_cursor: 'more' })).listOrders();
    expect(await more.take(1)).toEqual([{ id: 1 }]);
  });

  it('of events ends with the last page, although its cursor never ends', async () => {
    const list = client(
      ok({ data: [{ id: 1 }], next_cursor: 'a', has_more: true }),
      ok({ data: [{ id: 2 }], next_cursor: 'b', has_more: false }),
    ).listEvents();
    const ids: unknown[] = [];
    for await (const { id } of list) ids.push(id);
    expect(ids).toEqual([1, 2]);
    expect(network.seen).toHaveLength(2);
  });
});

describe('a wait', () => {
  it('ends when an operator must act, and at its time limit', async () => {
    const held = { id: 'ord_1', status: 'held' };
    const withCase = { id: 'ord_1', status: 'needs_attention' };
    expect(await client(ok(held), ok(withCase)).waitFor(held)).toEqual(withCase);
    const error = await thrown(client().waitFor(held, { timeoutMs: 0 }));
    expect(error).toBeInstanceOf(StillInProgressError);
    expect(error).toMatchObject({ work: held });
  });

  it('ends with the work when that has another end than the awaited one', async () => {
    const held = { id: 'ord_1', status: 'held' };
    const failed = { id: 'ord_1', status: 'failed' };
    expect(await client(ok(failed)).waitFor(held, { until: ['completed'] })).toEqual(failed);
    expect(network.seen).toHaveLength(1);
    expect(network.slept).toEqual([]);
    expect(await client().waitFor(failed, { until: ['completed'] })).toEqual(failed);
    // Needs attention, and continues afterwards.
    const withCase = { id: 'ord_1', status: 'needs_attention' };
    expect(await client(ok(withCase), ok(failed)).waitFor(held, { until: ['completed'] })).toEqual(failed);
  });

  it('reads finished work once more for what it lacks of `expand`, and asks for it in each read', async () => {
    const accepted = { id: 'ord_1', status: 'accepted' };
    const plain = { id: 'ord_1', status: 'completed' };
    const expanded = { ...plain, activation: null };
    const expand = ['activation', 'esim'] as const;
    const done = { ...expanded, esim: null };
    expect(await client(ok(done)).waitFor(plain, { expand })).toEqual(done);
    expect(await client().waitFor(expanded, { expand: ['activation'] })).toEqual(expanded);
    expect(await client(ok(accepted), ok(done)).waitFor(accepted, { expand })).toEqual(done);
    const asked = network.seen.map(({ url }) => new URL(url).searchParams.get('expand'));
    expect(asked).toEqual(['activation,esim', 'activation,esim', 'activation,esim']);
  });

  it('uses the wait of the API, and does not hurry an API without waits', async () => {
    const work = { id: 'ord_1', status: 'accepted' };
    const held = { id: 'ord_1', status: 'held' };
    expect(await client(ok(work), ok(held)).waitFor(work, { until: ['held', 'completed'] })).toEqual(held);
    const asked = network.seen.map(({ url }) => new URL(url).searchParams.get('until'));
    expect(asked).toEqual(['held,completed', 'held,completed']);
    expect(network.slept).toEqual([500]);
  });

  it('continues after Retry-After when the API did not wait, within its own time limit', async () => {
    const work = { id: 'ord_1', status: 'accepted' };
    const done = { id: 'ord_1', status: 'completed' };
    const busy = { 'Retry-After': '2' };
    const waited = ok(work, { 'Retry-After': '60', 'Preference-Applied': 'wait=20' });
    expect(await client(ok(work, busy), waited, ok(done)).waitFor(work, { timeoutMs: 30_000 })).toEqual(done);
    // The second answer did wait. The half second is for an API that answers early.
    expect(network.slept).toEqual([2_000, 500]);
    await client(ok(work, busy), ok(done)).waitFor(work, { timeoutMs: 1_200 });
    expect(network.slept.at(-1)).toBeLessThanOrEqual(1_200);
  });
});
