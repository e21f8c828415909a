import { randomUUID } from 'node:crypto';
import { asc, eq } from 'drizzle-orm';
import { attempts, cases, inbox, timeline } from '#db/schema.ts';
import type { AttemptRow } from '#db/work/rows.ts';
import {
  SimulatorAdmin,
  type LedgerLine,
  type ReceivedRequest,
  type SoldRefund,
} from '#test/support/network/simulator-admin.ts';
import type { Stack } from '#test/support/servers/stack.ts';
import { waitFor } from '#test/support/wait-for.ts';
import { checkBooks, type BooksOptions } from '#test/support/work/books.ts';

/** Packages of the simulator by what becomes of a purchase of them (`simulator/catalogue.ts`). */
export const PACKAGE = {
  completedAtOnce: 1001,
  processingThenCompleted: 9001,
  staysProcessing: 9004,
  unavailable: 9006,
  unknownToTheService: 424_242,
} as const;

/** An attempt of an order: it always has a reference. */
export type OrderAttempt = AttemptRow & { readonly reference: string };

/** Places orders on a stack, remembers them, and looks at them from both sides. */
export class OrderDesk {
  readonly stack: Stack;
  readonly simulator: SimulatorAdmin;
  readonly #accepted: string[] = [];
  readonly #unsettled: string[] = [];

  constructor(stack: Stack) {
    this.stack = stack;
    this.simulator = new SimulatorAdmin(stack.simulator);
  }

  /** Ids of the orders so far. */
  get accepted(): readonly string[] {
    return this.#accepted;
  }

  /** Orders a package. @returns the id of the order. @throws Error when the API does not accept it. */
  async place(packageId: number, more: Record<string, unknown> = {}): Promise<string> {
    const answer = await this.stack.order({ package_id: packageId, external_order_id: `ext-${randomUUID()}`, ...more });
    if (answer.status !== 202) throw new Error(`the API answered ${answer.status}: ${answer.text}`);
    const id = answer.textAt('id');
    this.#accepted.push(id);
    return id;
  }

  /**
   * Orders as a caller does who will not be put off: the same request with the same Idempotency-Key, until it is
   * accepted, whatever is down meanwhile.
   *
   * @param onRefusal told of each status other than 202 (0: no answer at all).
   */
  async placeStubbornly(
    packageId: number,
    more: Record<string, unknown> = {},
    onRefusal?: (status: number) => void,
  ): Promise<string> {
    const body = { package_id: packageId, external_order_id: `ext-${randomUUID()}`, ...more };
    const headers = { 'idempotency-key': randomUUID() };
    const answer = await waitFor(
      'the order is accepted',
      async () => {
        const given = await this.stack.api.post('/v1/orders', body, { headers }).catch(() => undefined);
        if (given?.status === 202) return given;
        onRefusal?.(given?.status ?? 0);
        throw new Error(given === undefined ? 'no answer' : `${given.status}: ${given.text}`);
      },
      { everyMs: 500, context: () => this.stack.tails() },
    );
    const id = answer.textAt('id');
    this.#accepted.push(id);
    return id;
  }

  /** {@link place}, and wait for the end. @returns the answer to `GET /v1/orders/{id}`. */
  async complete(packageId: number, more: Record<string, unknown> = {}) {
    return this.stack.orderReaches(await this.place(packageId, more), ['completed']);
  }

  reaches(orderId: string, ...statuses: string[]) {
    return this.stack.orderReaches(orderId, statuses);
  }

  /**
   * An eSIM that was bought and never touched; a top-up of it is possible with package 1001, 1002, 9001, … @returns our
   * id of it.
   */
  async newEsim(): Promise<string> {
    return (await this.complete(PACKAGE.completedAtOnce)).textAt('esim_id');
  }

  /** The service's id of an eSIM. @param esimId ours. */
  async esimAtService(esimId: string): Promise<string> {
    return (await this.stack.api.get(`/v1/esims/${esimId}`)).textAt('service_esim_id');
  }

  /** What the service made of the cancellations of an eSIM. @param esimId ours. */
  async refundsAtService(esimId: string): Promise<SoldRefund[]> {
    return this.simulator.refunds(await this.esimAtService(esimId));
  }

  /**
   * Recharges an eSIM. @param esimId ours. @returns the id of the top-up. @throws Error when the API does not accept
   * it.
   */
  async topUp(esimId: string, packageId: number, more: Record<string, unknown> = {}): Promise<string> {
    const headers = { 'idempotency-key': randomUUID() };
    const answer = await this.stack.api.post(
      '/v1/topups',
      { esim_id: esimId, package_id: packageId, ...more },
      { headers },
    );
    if (answer.status !== 202) throw new Error(`the API answered ${answer.status}: ${answer.text}`);
    const id = answer.textAt('id');
    this.#accepted.push(id);
    return id;
  }

  /** Orders a VPN subscription. @returns its id. @throws Error when the API does not accept it. */
  async subscribe(vpnPlanId: number, more: Record<string, unknown> = {}): Promise<string> {
    const body = {
      vpn_plan_id: vpnPlanId,
      external_subscription_id: `vpn-${randomUUID()}`,
      customer_reference: 'C-2207',
      customer_price: '29.99',
      ...more,
    };
    const answer = await this.stack.api.post('/v1/vpn/subscriptions', body, {
      headers: { 'idempotency-key': randomUUID() },
    });
    if (answer.status !== 202) throw new Error(`the API answered ${answer.status}: ${answer.text}`);
    const id = answer.textAt('id');
    this.#accepted.push(id);
    return id;
  }

  subscriptionReaches(id: string, ...statuses: string[]) {
    return this.stack.workReaches(`/v1/vpn/subscriptions/${id}`, statuses);
  }

  /**
   * Cancels an eSIM. @param esimId ours. @returns the id of the cancellation. @throws Error when the API does not
   * accept it.
   */
  async cancel(esimId: string, more: Record<string, unknown> = {}): Promise<string> {
    const headers = { 'idempotency-key': randomUUID() };
    const answer = await this.stack.api.post('/v1/cancellations', { esim_id: esimId, ...more }, { headers });
    if (answer.status !== 202) throw new Error(`the API answered ${answer.status}: ${answer.text}`);
    const id = answer.textAt('id');
    this.#accepted.push(id);
    return id;
  }

  cancellationReaches(id: string, ...statuses: string[]) {
    return this.stack.workReaches(`/v1/cancellations/${id}`, statuses);
  }

  topupReaches(topupId: string, ...statuses: string[]) {
    return this.stack.workReaches(`/v1/topups/${topupId}`, statuses);
  }

  /** The order is parked and our side cannot know what the wallet did for it. */
  expectUnsettled(orderId: string): void {
    this.#unsettled.push(orderId);
  }

  /** Compares the books over everything that was ordered here. */
  async checkBooks(options: Omit<BooksOptions, 'accepted' | 'unsettled'> = {}): Promise<void> {
    await checkBooks(this.stack, { ...options, accepted: this.#accepted, unsettled: this.#unsettled });
  }

  /** Nothing that the service says of its orders arrives: neither events nor reads. The purchase itself still works. */
  async silenceService(): Promise<void> {
    await this.simulator.onWebhook(undefined, { kind: 'lost' }, { count: null });
    await this.refuseReads();
  }

  /** Reads of orders fail, so that what is learned of an order comes from answers and webhooks. */
  async refuseReads(): Promise<void> {
    for (const endpoint of ['getOrder', 'listOrders'] as const) {
      await this.simulator.onRequest(endpoint, { kind: 'server_error' }, { count: null });
    }
  }

  async attempts(orderId: string): Promise<OrderAttempt[]> {
    return (await this.attemptsOf(orderId)).map(withReference);
  }

  /** Of any kind of work. */
  async attemptsOf(workId: string): Promise<AttemptRow[]> {
    const { database } = this.stack;
    return database.run((db) =>
      db.select().from(attempts).where(eq(attempts.subjectId, workId)).orderBy(asc(attempts.number)),
    );
  }

  /** The calls by which the service was asked to buy for an order, by attempt. */
  async sends(orderId: string): Promise<ReceivedRequest[][]> {
    const rows = await this.attempts(orderId);
    return Promise.all(rows.map(({ idempotencyKey }) => this.simulator.requests('createOrder', idempotencyKey)));
  }

  /** Waits until the service has worked on a purchase of the order, whether or not it has answered. */
  async bought(orderId: string): Promise<void> {
    await waitFor(`the service has bought for ${orderId}`, async () => {
      const rows = await this.attempts(orderId);
      const sold = await Promise.all(rows.map(({ reference }) => this.simulator.orders(reference)));
      return sold.flat().length > 0;
    });
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
      db
        .select({ event: timeline.event })
        .from(timeline)
        .where(eq(timeline.subjectId, orderId))
        .orderBy(asc(timeline.id)),
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

export function withReference(row: AttemptRow): OrderAttempt {
  const { reference } = row;
  if (reference === null) throw new Error(`attempt ${row.id} has no reference`);
  return { ...row, reference };
}
