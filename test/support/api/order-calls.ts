import { randomUUID } from 'node:crypto';
import { orderOutput } from '#api/orders/orders.ts';
import { problemSchema } from '#api/problems/problem-schema.ts';
import { postOnce } from '#test/support/api/keys.ts';
import type { HttpAnswer, HttpClient } from '#test/support/network/http.ts';

/** The body of a new order with its own reference. */
export const orderInput = (more: Record<string, unknown> = {}) => ({
  package_id: 101,
  external_order_id: `ref-${randomUUID()}`,
  ...more,
});

/** The body of a new VPN subscription with its own reference. */
export const vpnInput = (more: object = {}) => ({
  vpn_plan_id: 7,
  external_subscription_id: `vpn-${randomUUID()}`,
  customer_reference: 'C-1',
  customer_price: { amount: '5.00', currency: 'EUR' },
  ...more,
});

export function orderCalls(caller: () => HttpClient) {
  return {
    create: (body: unknown, key?: string, by: HttpClient = caller()) => postOnce(by, '/v1/orders', body, key),
  };
}

/** The order of an answer, validated by the schema that documents it. */
export const orderOf = (answer: HttpAnswer) => answer.read(orderOutput);
/** The problem of an answer, validated by the schema that documents it. */
export const problemOf = (answer: HttpAnswer) => answer.read(problemSchema);
