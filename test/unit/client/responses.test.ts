import { describe, expect, it } from 'vitest';
import type { OnResponse } from '#clients/typescript/src/index.ts';
import {
  broken,
  ClientNetwork,
  ok,
  order,
  problem,
  thrown,
  torn,
  type Step,
} from '#test/support/network/client-network.ts';

/** A client on a network with these steps, and the observed answers. */
function observed(steps: readonly Step[], onResponse?: OnResponse) {
  const network = new ClientNetwork();
  const lines: string[] = [];
  const note: OnResponse = ({ operation, method, path, status, headers }) =>
    void lines.push(`${operation} ${method} ${path} ${status} ${headers.get('X-Request-Id')}`);
  return { network, lines, api: network.client(steps, { onResponse: onResponse ?? note }), note };
}

describe('an observer of answers', () => {
  it('gets each answer of each try with the name of its call, also broken ones', async () => {
    const id = { 'X-Request-Id': 'req_1' };
    const { api, lines } = observed([
      broken,
      problem(503, 'database_unavailable', id),
      torn('breaks', 202, id),
      ok({ id: 'ord_1' }, { 'X-Request-Id': 'req_2' }),
      problem(404, 'order_not_found', id),
    ]);
    await api.createOrder(order);
    await thrown(api.getOrder('ord_2'));
    expect(lines).toEqual([
      'createOrder POST /v1/orders 503 req_1',
      'createOrder POST /v1/orders 202 req_1',
      'createOrder POST /v1/orders 200 req_2',
      'getOrder GET /v1/orders/ord_2 404 req_1',
    ]);
  });

  it('of one call gets the answers of that call only, also of lists and waits', async () => {
    const held = { id: 'ord_1', status: 'held' };
    const { api, lines, note } = observed(
      [ok(held), ok({ data: [], next_cursor: null }), ok({ ...held, status: 'completed' })],
      () => undefined,
    );
    await api.getOrder('ord_1');
    await api.listOrders({}, { onResponse: note }).page();
    await api.waitFor(held, { onResponse: note });
    expect(lines).toEqual(['listOrders GET /v1/orders 200 null', 'getOrder GET /v1/orders/ord_1 200 null']);
  });

  it('ends the call with its own error, without a resend', async () => {
    const fails = () => {
      throw new TypeError('my own mistake');
    };
    const { api, network } = observed([ok({ id: 'ord_1' })], fails);
    expect(await thrown(api.createOrder(order))).toMatchObject({ name: 'TypeError', message: 'my own mistake' });
    const stream = observed([problem(503, 'shutting_down')], fails);
    expect(await thrown(stream.api.streamEvents()[Symbol.asyncIterator]().next())).toMatchObject({
      message: 'my own mistake',
    });
    expect([...network.seen, ...stream.network.seen]).toHaveLength(2);
  });
});
