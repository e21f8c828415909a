import { describe, expect, expectTypeOf, it } from 'vitest';
import {
  Paged,
  StillInProgressError,
  type CurrentState,
  type Timeline,
  type TimelineEntry,
} from '#clients/typescript/src/index.ts';
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
  const order = (status: string) => ({ id: 'ord_1', status });
  const [accepted, held, withCase] = [order('accepted'), order('held'), order('needs_attention')];
  const [completed, failed] = [order('completed'), order('failed')];

  it('ends when an operator must act, and at its time limit', async () => {
    expect(await client(ok(held), ok(withCase)).waitFor(held)).toEqual(withCase);
    const error = await thrown(client().waitFor(held, { timeoutMs: 0 }));
    expect(error).toBeInstanceOf(StillInProgressError);
    expect(error).toMatchObject({ work: held });
  });

  it('ends with the work when that has another end than the awaited one', async () => {
    expect(await client(ok(failed)).waitFor(held, { until: ['completed'] })).toEqual(failed);
    expect(network.seen).toHaveLength(1);
    expect(network.slept).toEqual([]);
    expect(await client().waitFor(failed, { until: ['completed'] })).toEqual(failed);
    // Needs attention, and continues afterwards.
    expect(await client(ok(withCase), ok(failed)).waitFor(held, { until: ['completed'] })).toEqual(failed);
  });

  it('reads finished work once more for what it lacks of `expand`, and asks for it in each read', async () => {
    const expanded = { ...completed, activation: null };
    const expand = ['activation', 'esim'] as const;
    const done = { ...expanded, esim: null };
    expect(await client(ok(done)).waitFor(completed, { expand })).toEqual(done);
    expect(await client().waitFor(expanded, { expand: ['activation'] })).toEqual(expanded);
    expect(await client(ok(accepted), ok(done)).waitFor(accepted, { expand })).toEqual(done);
    const asked = network.seen.map(({ url }) => new URL(url).searchParams.get('expand'));
    expect(asked).toEqual(['activation,esim', 'activation,esim', 'activation,esim']);
  });

  it('uses the wait of the API, and does not hurry an API without waits', async () => {
    expect(await client(ok(accepted), ok(held)).waitFor(accepted, { until: ['held', 'completed'] })).toEqual(held);
    const asked = network.seen.map(({ url }) => new URL(url).searchParams.get('until'));
    expect(asked).toEqual(['held,completed', 'held,completed']);
    expect(network.slept).toEqual([500]);
  });

  it('continues after Retry-After when the API did not wait, within its own time limit', async () => {
    const busy = ok(accepted, { 'Retry-After': '2' });
    const waited = ok(accepted, { 'Retry-After': '60', 'Preference-Applied': 'wait=20' });
    expect(await client(busy, waited, ok(completed)).waitFor(accepted, { timeoutMs: 30_000 })).toEqual(completed);
    // The second answer did wait. The half second is for an API that answers early.
    expect(network.slept).toEqual([2_000, 500]);
    await client(busy, ok(completed)).waitFor(accepted, { timeoutMs: 1_200 });
    expect(network.slept.at(-1)).toBeLessThanOrEqual(1_200);
  });
});

// `npm run typecheck` checks the types of inputs and results, these tests check the rest.
const nothing = ok({ data: [], next_cursor: null });
/** The requested paths, without the address of the API. */
const asked = () => network.seen.map(({ url }) => decodeURIComponent(new URL(url).pathname + new URL(url).search));

describe('a page', () => {
  it('has all fields of the API, from `.page()` and `.pages()`', async () => {
    const read_at = '2030-01-31T12:00:00.000Z';
    const page = ok({ data: [], next_cursor: null, read_at, age_seconds: 1 });
    const packages = await client(page).listPackages().page();
    expectTypeOf(packages.read_at).toEqualTypeOf<string>();
    expect(packages.read_at).toBe(read_at);

    const currentState = { now: 'It is held.', reason: null, next: 'It is sent again.', next_at: null };
    const timeline = client(ok({ data: [], next_cursor: null, current_state: currentState })).getOrderTimeline('ord_1');
    expectTypeOf(timeline).toEqualTypeOf<Paged<TimelineEntry, Timeline>>();
    for await (const page of timeline.pages()) {
      expectTypeOf(page.current_state).toEqualTypeOf<CurrentState>();
      expect(page.current_state).toEqual(currentState);
    }
    expect.assertions(2);
  });
});

describe('a query', () => {
  it('accepts one or several values of a closed set, sent with commas', async () => {
    const api = client(nothing, nothing, nothing, ok({}));
    await api.listOrders({ status: 'held' }).page();
    await api.listOrders({ status: ['held', 'needs_attention'] }).page();
    await api.listEvents({ type: ['order.*', 'topup.held'], subject_kind: ['order', 'topup'] }).page();
    await api.getOrder('ord_1', { wait: 5, until: ['processing', 'completed'] });
    expect(asked()).toEqual([
      '/v1/orders?status=held',
      '/v1/orders?status=held,needs_attention',
      '/v1/events?type=order.*,topup.held&subject_kind=order,topup',
      '/v1/orders/ord_1?wait=5&until=processing,completed',
    ]);
    // @ts-expect-error -- no order has this status.
    expect(() => api.listOrders({ status: 'eaten' })).not.toThrow();
    // @ts-expect-error -- neither in a list.
    expect(() => api.listOrders({ status: ['held', 'eaten'] })).not.toThrow();
    // @ts-expect-error -- several values need a list.
    expect(() => api.listEvents({ type: 'order.*,topup.held' })).not.toThrow();
  });

  it('accepts flags as booleans', async () => {
    const api = client(nothing, nothing, nothing);
    await api.listPackages({ available: true }).page();
    await api.listPauses({ ended: false }).page();
    await api.listPricingRules({ ended: true }).page();
    expect(asked()).toEqual([
      '/v1/packages?available=true',
      '/v1/purchase-gate/pauses?ended=false',
      '/v1/pricing/rules?ended=true',
    ]);
  });
});
