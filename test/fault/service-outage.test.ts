import { and, inArray, isNull } from 'drizzle-orm';
import { afterEach, describe, expect, it } from 'vitest';
import { attempts, cancellations, cases, orders, topups, vpnSubscriptions } from '#db/schema.ts';
import type { AttentionReason } from '#domain/work/attention.ts';
import { isFinal } from '#domain/work/lifecycle.ts';
import type { DialectName } from '#simulator/behaviour/dialect.ts';
import { startStack, type Stack } from '#test/support/servers/stack.ts';
import { waitFor } from '#test/support/wait-for.ts';
import { OrderDesk, PACKAGE } from '#test/support/work/order-desk.ts';

/** Pieces of work in the first scenario; more of them for a longer proof: `OUTAGE_PIECES=200`. */
const PIECES = Number(process.env['OUTAGE_PIECES'] ?? '40');

/**
 * Every window is shorter than what the test waits for during the outage: that everything is parked or held. The
 * holding deadline is not.
 */
const SCALED = {
  POLICY_RESEND_WINDOW: '2s',
  POLICY_DELIVERY_DEADLINE: '8s',
  POLICY_SILENT_DEADLINE: '8s',
  POLICY_LOOK_UP_AGAIN: '500ms',
  POLICY_LOOK_UP_AGAIN_MAX: '1s',
  POLICY_CANCEL_CHECK: '500ms',
  POLICY_HOLD_DEADLINE: '1h',
} as const;

/** Every purchase is sent although many have failed, so that as many as possible are unknown. */
const NO_CIRCUIT = { POLICY_CIRCUIT_FAILURES: '1000' } as const;

const NOTHING_TO_ASK =
  'key_replay,order_read,order_list,wallet_transactions,public_packages,esim_usage,topup_read,topup_list,refund_read,refund_list,' +
  'vpn_subscription_read,vpn_subscription_list';

/** Every read by which the product learns what became of a purchase. */
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

interface Scenario {
  readonly name: string;
  readonly dialect: DialectName;
  readonly pieces: number;
  readonly environment: Readonly<Record<string, string>>;
  /** Reasons for which a person may be needed in the end; none: everything heals by itself. */
  readonly persons: readonly AttentionReason[];
}

const SMALL = 18;
const SCENARIOS: readonly Scenario[] = [
  { name: 'a service that replays keys', dialect: 'replays', pieces: PIECES, environment: NO_CIRCUIT, persons: [] },
];

/** Each takes some minutes: run with `OUTAGE_SERVICES=all`. */
const OTHER_SERVICES: readonly Scenario[] = [
  { name: 'the same behind the circuit', dialect: 'replays', pieces: SMALL, environment: {}, persons: [] },
  {
    name: 'a service that refuses keys it knows',
    dialect: 'conflicts',
    pieces: SMALL,
    environment: NO_CIRCUIT,
    persons: [],
  },
  {
    name: 'a service without single reads of orders',
    dialect: 'no_order_read',
    pieces: SMALL,
    environment: { ...NO_CIRCUIT, SERVICE_MISSING_CAPABILITIES: 'order_read' },
    persons: [],
  },
  // Nothing may be sent twice: what the service does not list may still be on its way.
  {
    name: 'a service that knows no keys',
    dialect: 'ignores_keys',
    pieces: SMALL,
    environment: { ...NO_CIRCUIT, SERVICE_MISSING_CAPABILITIES: 'key_replay' },
    persons: ['outcome_unknown'],
  },
  // It can neither be sent again nor be asked, and no wallet proves that a failure cost nothing.
  {
    name: 'a service of which only the stated calls exist',
    dialect: 'bare',
    pieces: SMALL,
    environment: { ...NO_CIRCUIT, SERVICE_MISSING_CAPABILITIES: NOTHING_TO_ASK },
    persons: [
      'outcome_unknown',
      'evidence_unavailable',
      'delivery_unavailable',
      'refund_missing',
      'cancellation_refused',
    ],
  },
];

let stack: Stack | undefined;
afterEach(async () => {
  await stack?.stop();
  stack = undefined;
});

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

/** What the outage interrupts: its places are named by what has happened when it begins. */
class Outage {
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

  /** Work that stands at each place when the service goes, the largest part of it orders. */
  async begin(dialect: DialectName): Promise<void> {
    const desk = this.#desk;
    const { simulator } = desk;
    const share = Math.max(1, Math.round(this.#pieces / 14));
    const esims = await Promise.all(Array.from({ length: 6 }, () => desk.newEsim()));
    const active = await desk.subscribe(301);
    await desk.subscriptionReaches(active, 'active');
    await simulator.dialect(dialect);
    await simulator.onWebhook(undefined, { kind: 'lost' }, { count: null });
    // The reads fail first: however slowly the work below is made, nothing of it is learned and completed meanwhile.
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

  /** Failed at the service, with a wallet that is not answered. */
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

  /** Bought, with an eSIM that is not answered. */
  async #delivering(count: number): Promise<void> {
    for (let n = 0; n < count; n += 1)
      await this.#reachesAfterPlacing(PACKAGE.completedAtOnce, 'processing', 'needs_attention');
  }

  async #reachesAfterPlacing(packageId: number, ...statuses: string[]): Promise<void> {
    await this.#desk.reaches(await this.#desk.place(packageId), ...statuses);
  }

  /** Sends whose answer is lost, wrong or missing, some of them after the service has done the work. */
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

  /** The circuit may hold it before its first send. */
  async #wasSentOrHeld(id: string): Promise<boolean> {
    const sent = (await this.#desk.attemptsOf(id)).some(({ sends, state }) => sends > 0 && state !== 'sending');
    return sent || (await allWork(this.#stack)).some((row) => row.id === id && row.status === 'held');
  }

  async #removeFaults(): Promise<void> {
    const answer = await this.#stack.simulator.call('DELETE', '/simulator/faults', {});
    if (answer.status > 299) throw new Error(`the simulator answered ${answer.status}: ${answer.text}`);
    await this.#desk.simulator.onWebhook(undefined, { kind: 'lost' }, { count: null });
  }

  /** Until every window is over: all of it waits for the service, a person, or a circuit. */
  async isLong(): Promise<Row[]> {
    return waitFor(
      'everything is parked or held',
      async () => {
        const rows = await allWork(this.#stack);
        const moving = rows.filter((row) => !isOver(row) && row.status !== 'held' && row.status !== 'needs_attention');
        if (moving.length > 0) throw new Error(moving.map(({ id, status }) => `${id} is ${status}`).join(', '));
        return rows.filter((row) => !isOver(row));
      },
      { timeoutMs: 150_000, everyMs: 200, context: () => this.#stack.tails() },
    );
  }

  /** The service is back. @returns what waits for a person once nothing else is under way. */
  async end(persons: readonly string[]): Promise<Row[]> {
    await this.#removeFaults();
    return waitFor(
      'everything has ended, or waits for a person',
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
      { timeoutMs: 180_000, everyMs: 200, context: () => this.#stack.tails() },
    );
  }
}

describe('an outage of the service that is longer than every window', () => {
  it.each(process.env['OUTAGE_SERVICES'] === 'all' ? [...SCENARIOS, ...OTHER_SERVICES] : SCENARIOS)(
    'of $name: nothing is paid twice, and a person is asked only where nothing else is possible',
    async ({ dialect, pieces, environment, persons }) => {
      const running = await startStack({
        environment: { ...SCALED, ...environment },
        simulator: { SIMULATOR_PROCESSING_DELAY: '3s' },
      });
      stack = running;
      const outage = new Outage(running, pieces);
      await outage.begin(dialect);
      const interrupted = await outage.isLong();
      expect(interrupted.length).toBeGreaterThanOrEqual(pieces / 2);
      const left = await outage.end(persons);

      for (const { id } of left) outage.desk.expectUnsettled(id);
      // `end` waits for it, too: nothing is left over for reasons that are not named.
      expect(left.filter(({ attentionReason }) => !persons.some((reason) => reason === attentionReason))).toEqual([]);
      await outage.desk.checkBooks();
      // The case that time closes is closed once it has healed.
      const openCases = await running.database.run((db) =>
        db
          .select()
          .from(cases)
          .where(and(isNull(cases.closedAt), inArray(cases.reason, ['service_not_answering', 'stalled']))),
      );
      expect(openCases).toEqual([]);
      const rows = await running.database.run((db) => db.select().from(attempts));
      // No second attempt without a failure that the service reported for the first.
      for (const { subjectId, number } of rows.filter((row) => row.number > 1)) {
        expect(rows.find((row) => row.subjectId === subjectId && row.number === number - 1)).toMatchObject({
          state: 'failed',
          settled: true,
        });
      }
    },
  );
});
