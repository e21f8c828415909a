/** Inputs and results of the TypeScript client. `npm run typecheck` checks the types, these tests check the rest. */
import { describe, expect, expectTypeOf, it } from 'vitest';
import type { Paged, CurrentState, TimelineEntry, Timeline } from '#clients/typescript/src/index.ts';
import { ok, testNetwork } from '#test/support/network/client-network.ts';

const nothing = ok({ data: [], next_cursor: null });

const { client, network } = testNetwork();
/** The requested paths, without the address of the API. */
const asked = () => network.seen.map(({ url }) => decodeURIComponent(new URL(url).pathname + new URL(url).search));

describe('a page', () => {
  it('has all fields of the API, from `.page()` and `.pages()`', async () => {
    const read_at = '2030-01-31T12:00:00.000Z';
    const packages = await client(ok({ data: [], next_cursor: null, read_at, age_seconds: 1 }))
      .listPackages()
      .page();
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
