import type { HttpAnswer } from '#test/support/network/http.ts';
import type { Stack } from '#test/support/servers/stack.ts';
import { waitFor } from '#test/support/wait-for.ts';
import type { OrderDesk } from '#test/support/work/order-desk.ts';

interface OrderNames {
  readonly id: string;
  readonly external_order_id: string;
}

/** The names of an order at the service. @param order as our API shows it. */
const namesOf = (order: HttpAnswer): OrderNames => ({
  id: order.textAt('service_order_id'),
  external_order_id: order.textAt('external_order_id'),
});

/** A service whose answers, lists and events about orders are wrong. */
export class WrongService {
  readonly #stack: Stack;
  readonly #desk: OrderDesk;

  constructor(stack: Stack, desk: OrderDesk) {
    this.#stack = stack;
    this.#desk = desk;
  }

  /** Sends an event with any data. */
  async reports(event: string, data: Readonly<Record<string, unknown>>): Promise<void> {
    await this.#desk.simulator.sendWebhook({ event, data });
  }

  /** Sends an event that an order is completed. */
  async completes(named: OrderNames, more: Readonly<Record<string, unknown>>): Promise<void> {
    await this.reports('order.completed', { ...named, status: 'completed', ...more });
  }

  /** Answers the next order with this body. */
  async answersPurchase(status: number, body: unknown, rule: { count?: null } = {}): Promise<void> {
    await this.#desk.simulator.onRequest('createOrder', { kind: 'answer', status, body: JSON.stringify(body) }, rule);
  }

  /** Always lists these records. */
  async lists(
    endpoint: 'listOrders' | 'listWalletTransactions',
    data: readonly unknown[],
    rule: { nth?: number } = {},
  ): Promise<void> {
    const body = JSON.stringify({ data, next_cursor: null });
    await this.#desk.simulator.onRequest(endpoint, { kind: 'answer', status: 200, body }, { count: null, ...rule });
  }

  async hidesMovements(rule: { nth?: number } = {}): Promise<void> {
    await this.lists('listWalletTransactions', [], rule);
  }

  /** Places an order that stays in processing at the service. */
  async staysProcessing(packageId: number): Promise<{ id: string; named: OrderNames }> {
    await this.#desk.simulator.nextPurchases({ outcome: 'stay_processing' });
    const id = await this.#desk.place(packageId);
    return { id, named: namesOf(await this.#desk.reaches(id, 'processing')) };
  }

  /** Waits until the service has sold an order. @returns its id at the service. */
  async hasSold(reference: string): Promise<string> {
    const { simulator } = this.#desk;
    return waitFor('the service has sold', async () => (await simulator.orders(reference))[0]?.id);
  }

  /** The service's id of the eSIM of an order, and the order of that eSIM. @param order as our API shows it. */
  async esimOf(order: HttpAnswer) {
    const answer = await this.#stack.api.get(`/v1/esims/${order.textAt('esim_id')}`);
    return { serviceEsimId: answer.textAt('service_esim_id'), orderId: answer.textAt('order_id') };
  }
}
