import { cancellations, orders, topups, vpnSubscriptions } from '#db/schema.ts';
import { isFinal } from '#domain/work/lifecycle.ts';
import type { DialectName } from '#simulator/behaviour/dialect.ts';
import type { Stack } from '#test/support/servers/stack.ts';
import { waitFor } from '#test/support/wait-for.ts';
import { OrderDesk, PACKAGE } from '#test/support/work/order-desk.ts';

/** All calls that report the result of a purchase. */
const READS = [
  'getOrder',
  'listOrders',
  'getEsim',
  'getEsimUsage',
  'listWalletTransactions',
  'getTopup',
  'listTopups',
  'getRefund',
  'listRefunds',
  'getVpnSubscription',
  'listVpnSubscriptions',
] as const;

interface Row {
  readonly id: string;
  readonly status:
    | (typeof orders.$inferSelect)['status']
    | (typeof vpnSubscriptions.$inferSelect)['status']
    | (typeof cancellations.$inferSelect)['status'];
  readonly attentionReason: string | null;
  readonly nextStepAt: Date | null;
}

async function allWork({ database }: Stack): Promise<Row[]> {
  return database.run(async (db) => [
    ...(await db.select().from(orders)),
    ...(await db.select().from(topups)),
    ...(await db.select().from(vpnSubscriptions)),
    ...(await db.select().from(cancellations)),
  ]);
}

const isOver = ({ status }: Row) => isFinal(status) || status === 'active';

/** An outage of the service, and the work that it interrupts in different states. */
export class Outage {
  readonly #desk: OrderDesk;
  readonly #stack: Stack;
  readonly #pieces: number;

  constructor(of: Stack, pieces: number) {
    this.#stack = of;
    this.#desk = new OrderDesk(of);
    this.#pieces = pieces;
  }

  get desk(): OrderDesk {
    return this.#desk;
  }

  /** Creates work in each state, mostly orders, and starts the outage. */
  async begin(dialect: DialectName): Promise<void> {
    const desk = this.#desk;
    const { simulator } = desk;
    const share = Math.max(1, Math.round(this.#pieces / 14));
    const esims = await Promise.all(Array.from({ length: 6 }, () => desk.newEsim()));
    const active = await desk.subscribe(301);
    await desk.subscriptionReaches(active, 'active');
    await simulator.dialect(dialect);
    await simulator.onWebhook(undefined, { kind: 'lost' }, { count: null });
    // The reads fail first, so that none of the work below completes before the outage.
    for (const read of READS) await simulator.onRequest(read, { kind: 'server_error' }, { count: null });

    await this.#settling(share);
    await this.#delivering(share);
    for (let n = 0; n < share; n += 1) await this.#reachesAfterPlacing(PACKAGE.processingThenCompleted, 'processing');
    await this.#failingSends(share, esims);
    await simulator.onRequest(undefined, { kind: 'server_error' }, { count: null });

    const answer = await this.#stack.api.post(`/v1/vpn/subscriptions/${active}/cancel`, {
      reason: 'The customer ended it.',
    });
    if (answer.status !== 202) throw new Error(`the API answered ${answer.status}: ${answer.text}`);
    await desk.topUp(esims[4]!, PACKAGE.completedAtOnce);
    await desk.cancel(esims[5]!);
    await desk.subscribe(302);
    while (desk.accepted.length < this.#pieces) await desk.place(PACKAGE.completedAtOnce);
  }

  /** Orders that failed at the service, whose wallet movements cannot be read. */
  async #settling(count: number): Promise<void> {
    const { simulator } = this.#desk;
    await simulator.nextPurchases({ outcome: 'failed_at_once', count });
    const ids = await Promise.all(Array.from({ length: count }, () => this.#desk.place(1002)));
    for (const id of ids) {
      await waitFor(`${id} failed at the service`, async () =>
        (await this.#desk.attempts(id)).some(({ state }) => state === 'failed'),
      );
    }
  }

  /** Orders that were bought, whose eSIM cannot be read. */
  async #delivering(count: number): Promise<void> {
    for (let n = 0; n < count; n += 1)
      await this.#reachesAfterPlacing(PACKAGE.completedAtOnce, 'processing', 'needs_attention');
  }

  async #reachesAfterPlacing(packageId: number, ...statuses: string[]): Promise<void> {
    await this.#desk.reaches(await this.#desk.place(packageId), ...statuses);
  }

  /** Sends whose answer is lost, wrong or missing, some of them after the service has executed them. */
  async #failingSends(share: number, esims: readonly string[]): Promise<void> {
    const desk = this.#desk;
    const faults = [
      { kind: 'server_error', after_work: true },
      { kind: 'accepted_but_answer_lost' },
      { kind: 'connection_reset' },
      { kind: 'hang', after_work: true },
    ] as const;
    for (const [n, fault] of faults.entries())
      await desk.simulator.onRequest('createOrder', fault, { nth: 1 + n * share, count: share });
    await desk.simulator.onRequest(
      'createOrder',
      { kind: 'server_error' },
      { nth: 1 + faults.length * share, count: null },
    );
    for (const endpoint of ['createTopup', 'createVpnOrder', 'cancelEsim'] as const) {
      await desk.simulator.onRequest(endpoint, { kind: 'server_error', after_work: true }, { count: 1 });
      await desk.simulator.onRequest(endpoint, { kind: 'server_error' }, { nth: 2, count: null });
    }
    const ids = await Promise.all([
      ...Array.from({ length: share * (faults.length + 1) }, (_, n) =>
        desk.place(n % 3 === 0 ? PACKAGE.processingThenCompleted : PACKAGE.completedAtOnce),
      ),
      desk.topUp(esims[0]!, PACKAGE.completedAtOnce),
      desk.topUp(esims[1]!, PACKAGE.completedAtOnce),
      desk.subscribe(301),
      desk.subscribe(391),
      desk.cancel(esims[2]!),
      desk.cancel(esims[3]!),
    ]);
    for (const id of ids) await waitFor(`${id} was sent, or is held`, () => this.#wasSentOrHeld(id));
  }

  /** The circuit may hold work before its first send. */
  async #wasSentOrHeld(id: string): Promise<boolean> {
    const sent = (await this.#desk.attemptsOf(id)).some(({ sends, state }) => sends > 0 && state !== 'sending');
    return sent || (await allWork(this.#stack)).some((row) => row.id === id && row.status === 'held');
  }

  async #removeFaults(): Promise<void> {
    const answer = await this.#stack.simulator.call('DELETE', '/simulator/faults', {});
    if (answer.status > 299) throw new Error(`the simulator answered ${answer.status}: ${answer.text}`);
    await this.#desk.simulator.onWebhook(undefined, { kind: 'lost' }, { count: null });
  }

  /** Waits until every window is over: all work is held or needs attention. @returns the unfinished work. */
  async isLong(): Promise<Row[]> {
    return waitFor(
      'all work is held or needs attention',
      async () => {
        const rows = await allWork(this.#stack);
        const moving = rows.filter((row) => !isOver(row) && row.status !== 'held' && row.status !== 'needs_attention');
        if (moving.length > 0) throw new Error(moving.map(({ id, status }) => `${id} is ${status}`).join(', '));
        return rows.filter((row) => !isOver(row));
      },
      { timeoutMs: 360_000, everyMs: 200, context: () => this.#stack.tails() },
    );
  }

  /** Ends the outage. @returns the work that still needs attention when no other work is in progress. */
  async end(persons: readonly string[]): Promise<Row[]> {
    await this.#removeFaults();
    return waitFor(
      'all work has ended or needs attention for an allowed reason',
      async () => {
        const open = (await allWork(this.#stack)).filter((row) => !isOver(row));
        const isForPerson = ({ attentionReason, nextStepAt }: Row) =>
          nextStepAt === null && attentionReason !== null && persons.includes(attentionReason);
        const waiting = open.filter((row) => !isForPerson(row));
        if (waiting.length > 0)
          throw new Error(
            waiting
              .map(({ id, status, attentionReason }) => `${id} is ${status} (${attentionReason ?? '-'})`)
              .join(', '),
          );
        return open;
      },
      { timeoutMs: 360_000, everyMs: 200, context: () => this.#stack.tails() },
    );
  }
}
