import { randomUUID } from 'node:crypto';
import { asc, eq } from 'drizzle-orm';
import { afterEach } from 'vitest';
import { attempts, cases, inbox, timeline } from '#db/schema.ts';
import type { AttemptRow } from '#db/work/rows.ts';
import { postOnce } from '#test/support/api/keys.ts';
import type { HttpAnswer } from '#test/support/network/http.ts';
import {
  SimulatorAdmin,
  type LedgerLine,
  type ReceivedRequest,
  type SoldRefund,
} from '#test/support/network/simulator-admin.ts';
import type { Stack } from '#test/support/servers/stack.ts';
import { waitFor } from '#test/support/wait-for.ts';
import { checkBooks, type BooksOptions } from '#test/support/work/books/books.ts';

/** Packages of the simulator by the result of a purchase (`simulator/catalogue.ts`). */
export const PACKAGE = {
  completedAtOnce: 1001,
  processingThenCompleted: 9001,
  staysProcessing: 9004,
  unavailable: 9006,
} as const;

/** The body of a subscription to a VPN plan of the simulator. */
export const subscriptionInput = (vpnPlanId: number, more: Readonly<Record<string, unknown>> = {}) => ({
  vpn_plan_id: vpnPlanId,
  external_subscription_id: `vpn-${randomUUID()}`,
  customer_reference: 'C-2207',
  customer_price: { amount: '29.99', currency: 'USD' },
  ...more,
});

/** An attempt of an order, which always has a reference. */
export type OrderAttempt = AttemptRow & { readonly reference: string };

/** A shop: places orders on a stack, remembers them, and reads them from both sides. */
export class OrderDesk {
  readonly stack: Stack;
  readonly simulator: SimulatorAdmin;
  readonly #accepted: string[] = [];
  readonly #unsettled: string[] = [];

  constructor(stack: Stack) {
    this.stack = stack;
    this.simulator = new SimulatorAdmin(stack.simulator);
  }

  get accepted(): readonly string[] {
    return this.#accepted;
  }

  /**
   * Orders a package; one that is not sold now is held.
   *
   * @returns the id of the order. @throws Error if the API does not accept it.
   */
  async place(packageId: number, more: Record<string, unknown> = {}): Promise<string> {
    const order = { package_id: packageId, external_order_id: `ext-${randomUUID()}`, if_unavailable: 'hold', ...more };
    return this.#accepts(await this.#post('/v1/orders', order));
  }

  #post(path: string, body: object): Promise<HttpAnswer> {
    return postOnce(this.stack.api, path, body);
  }

  /** Notes the work of an answer. @returns its id. @throws Error if the API has not accepted it. */
  #accepts(answer: HttpAnswer): string {
    if (answer.status !== 202) throw new Error(`the API answered ${answer.status}: ${answer.text}`);
    const id = answer.textAt('id');
    this.#accepted.push(id);
    return id;
  }

  /** Places an order that the service refuses permanently. @returns the id of the order. */
  async placeRefused(more: Record<string, unknown> = {}): Promise<string> {
    const body = { error: 'validation_failed', message: 'The order is not valid.' };
    await this.simulator.onRequest('createOrder', {
      kind: 'answer',
      status: 422,
      body: JSON.stringify(body),
      headers: { 'content-type': 'application/json' },
    });
    return this.place(PACKAGE.completedAtOnce, more);
  }

  /**
   * Repeats an order with the same Idempotency-Key until it is accepted, also during outages.
   *
   * @param onRefusal called with each status other than 202 (0: no answer).
   */
  async placeStubbornly(
    packageId: number,
    more: Record<string, unknown> = {},
    onRefusal?: (status: number) => void,
  ): Promise<string> {
    const body = { package_id: packageId, external_order_id: `ext-${randomUUID()}`, ...more };
    const key = randomUUID();
    const answer = await waitFor(
      'the order is accepted',
      async () => {
        const given = await postOnce(this.stack.api, '/v1/orders', body, key).catch(() => undefined);
        if (given?.status === 202) return given;
        onRefusal?.(given?.status ?? 0);
        throw new Error(given === undefined ? 'no answer' : `${given.status}: ${given.text}`);
      },
      { everyMs: 500, context: () => this.stack.tails() },
    );
    return this.#accepts(answer);
  }

  /** Orders a package and waits for the completion. @returns the answer to `GET /v1/orders/{id}`. */
  async complete(packageId: number, more: Record<string, unknown> = {}) {
    return this.stack.orderReaches(await this.place(packageId, more), ['completed']);
  }

  readonly reaches = (orderId: string, ...statuses: string[]) => this.stack.orderReaches(orderId, statuses);
  readonly topupReaches = (id: string, ...statuses: string[]) => this.stack.workReaches(`/v1/topups/${id}`, statuses);
  readonly cancellationReaches = (id: string, ...statuses: string[]) =>
    this.stack.workReaches(`/v1/cancellations/${id}`, statuses);
  readonly subscriptionReaches = (id: string, ...statuses: string[]) =>
    this.stack.workReaches(`/v1/vpn/subscriptions/${id}`, statuses);

  /** Orders an eSIM. Packages 1001, 1002, 9001, … are possible top-ups of it. @returns our id. */
  async newEsim(): Promise<string> {
    return (await this.complete(PACKAGE.completedAtOnce)).textAt('esim_id');
  }

  /** The service's id of an eSIM. @param esimId our id. */
  async esimAtService(esimId: string): Promise<string> {
    return (await this.stack.api.get(`/v1/esims/${esimId}`)).textAt('service_esim_id');
  }

  /** The service's refunds for the cancellations of an eSIM. @param esimId our id. */
  async refundsAtService(esimId: string): Promise<SoldRefund[]> {
    return this.simulator.refunds(await this.esimAtService(esimId));
  }

  async tryTopUp(esimId: string, packageId: number, more: Record<string, unknown> = {}) {
    return this.#post('/v1/topups', { esim_id: esimId, package_id: packageId, ...more });
  }

  /** Orders a top-up. @param esimId our id. @returns the id of the top-up. @throws Error if the API refuses it. */
  async topUp(esimId: string, packageId: number, more: Record<string, unknown> = {}): Promise<string> {
    return this.#accepts(await this.tryTopUp(esimId, packageId, more));
  }

  /** Orders a VPN subscription. @returns its id. @throws Error if the API does not accept it. */
  async subscribe(vpnPlanId: number, more: Record<string, unknown> = {}): Promise<string> {
    const body = subscriptionInput(vpnPlanId, { if_unavailable: 'hold', ...more });
    return this.#accepts(await this.#post('/v1/vpn/subscriptions', body));
  }

  /** Cancels an eSIM. @param esimId our id. @returns the cancellation's id. @throws Error if the API refuses it. */
  async cancel(esimId: string, more: Record<string, unknown> = {}): Promise<string> {
    return this.#accepts(await this.#post(`/v1/esims/${esimId}/cancel`, more));
  }

  /** Declares that an order needs attention and that its wallet movements cannot be known. */
  expectUnsettled(orderId: string): void {
    this.#unsettled.push(orderId);
  }

  /** Compares the books for all work of this shop. */
  async checkBooks(options: Omit<BooksOptions, 'accepted' | 'unsettled'> = {}): Promise<void> {
    await checkBooks(this.stack, { ...options, accepted: this.#accepted, unsettled: this.#unsettled });
  }

  /** Suppresses all reports of the service about orders: events and reads. Purchases still work. */
  async silenceService(): Promise<void> {
    await this.simulator.onWebhook(undefined, { kind: 'lost' }, { count: null });
    await this.refuseReads();
  }

  /** Order reads fail, so only answers and webhooks report on an order. */
  async refuseReads(): Promise<void> {
    for (const endpoint of ['getOrder', 'listOrders'] as const) {
      await this.simulator.onRequest(endpoint, { kind: 'server_error' }, { count: null });
    }
  }

  async attempts(orderId: string): Promise<OrderAttempt[]> {
    return (await this.attemptsOf(orderId)).map(withReference);
  }

  async attemptsOf(workId: string): Promise<AttemptRow[]> {
    const { database } = this.stack;
    return database.run((db) =>
      db.select().from(attempts).where(eq(attempts.subjectId, workId)).orderBy(asc(attempts.number)),
    );
  }

  /** The purchase requests that the service received for an order, by attempt. */
  async sends(orderId: string, endpoint = 'createOrder'): Promise<ReceivedRequest[][]> {
    const rows = endpoint === 'createOrder' ? await this.attempts(orderId) : await this.attemptsOf(orderId);
    return Promise.all(rows.map(({ idempotencyKey }) => this.simulator.requests(endpoint, idempotencyKey)));
  }

  /** The requests that the service received at an endpoint for work of any kind. */
  async sendsTo(endpoint: string, workId: string): Promise<ReceivedRequest[]> {
    return (await this.sends(workId, endpoint)).flat();
  }

  /** Waits until the service has processed a purchase of the order, with or without an answer. */
  async bought(orderId: string): Promise<void> {
    await waitFor(`the service has bought for ${orderId}`, async () => {
      const rows = await this.attempts(orderId);
      const sold = await Promise.all(rows.map(({ reference }) => this.simulator.orders(reference)));
      return sold.flat().length > 0;
    });
  }

  /** What the service has sold for the first attempt of an order. @throws Error if it has sold nothing. */
  async soldFor(orderId: string) {
    const [attempt] = await this.attempts(orderId);
    const [sold] = attempt === undefined ? [] : await this.simulator.orders(attempt.reference);
    if (sold === undefined) throw new Error(`the service has sold nothing for ${orderId}`);
    return sold;
  }

  /** Movements of the service's wallet for an order, oldest first. */
  async ledger(orderId: string): Promise<LedgerLine[]> {
    const references = new Set((await this.attempts(orderId)).map(({ reference }) => reference));
    return (await this.simulator.ledger()).filter(
      ({ external_order_id: name }) => name !== null && references.has(name),
    );
  }

  /** `debit 2.40`, `credit 2.40`, … */
  async movements(orderId: string): Promise<string[]> {
    return (await this.ledger(orderId)).map(({ type, amount }) => `${type} ${amount}`);
  }

  /** Names of the timeline's entries, oldest first. */
  async events(orderId: string): Promise<string[]> {
    const rows = await this.stack.database.run((db) =>
      db.select().from(timeline).where(eq(timeline.subjectId, orderId)).orderBy(asc(timeline.id)),
    );
    return rows.map(({ event }) => event);
  }

  async inbox(orderId: string) {
    return this.stack.database.run((db) =>
      db.select().from(inbox).where(eq(inbox.subjectId, orderId)).orderBy(asc(inbox.id)),
    );
  }

  /** Reasons of the cases about an order, open and closed. */
  async cases(orderId: string): Promise<{ reason: string; open: boolean }[]> {
    const rows = await this.stack.database.run((db) =>
      db.select().from(cases).where(eq(cases.subjectId, orderId)).orderBy(asc(cases.openedAt)),
    );
    return rows.map(({ reason, closedAt }) => ({ reason, open: closedAt === null }));
  }
}

/** A shop whose books are compared after each test of the file. The simulator then has no faults any more. */
export function checkedDesk(stack: Stack): OrderDesk {
  const desk = new OrderDesk(stack);
  afterEach(async () => {
    await desk.simulator.calm();
    await desk.checkBooks();
  });
  return desk;
}

export function withReference(row: AttemptRow): OrderAttempt {
  const { reference } = row;
  if (reference === null) throw new Error(`attempt ${row.id} has no reference`);
  return { ...row, reference };
}
