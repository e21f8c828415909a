import { randomUUID } from 'node:crypto';
import { ServiceError, WorkflowUpdateRPCTimeoutOrCancelledError } from '@temporalio/client';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { messageOf } from '#cli/terminal/user-error.ts';
import { startOwnTemporal, type OwnTemporal } from '#test/support/servers/own-servers.ts';
import { TemporalOperator } from '#test/support/servers/stack-temporal.ts';
import { PATIENT_POLICY, startStack, type Stack } from '#test/support/servers/stack.ts';
import { NeverError, waitFor } from '#test/support/wait-for.ts';
import { OrderDesk } from '#test/support/work/order-desk.ts';
import { changeLimitUpdate, explainQuery } from '#workflows/messages.ts';

/** Events from which on this server calls a history long. In production some thousands: the way there is the same. */
const LONG_FROM = 160;
/**
 * From here on the next acts may make it long. Three acts at a time add some 30 to 45 events, so that no history gets
 * from below this to long at once.
 */
const BRINK = LONG_FROM / 2;

let temporal: OwnTemporal;
let stack: Stack;
let desk: OrderDesk;
let operator: TemporalOperator;

beforeAll(async () => {
  temporal = await startOwnTemporal({ longFrom: LONG_FROM });
  stack = await startStack({ temporal, environment: PATIENT_POLICY });
  desk = new OrderDesk(stack);
  operator = await TemporalOperator.connect(stack);
});
afterEach(async () => {
  await desk.simulator.calm();
  await desk.checkBooks();
});
afterAll(async () => {
  await operator[Symbol.asyncDispose]();
  await stack.stop();
  await temporal[Symbol.asyncDispose]();
});

/** Sets another price limit each time: each such act is done once, and leaves one entry in the timeline. */
class Operator {
  readonly #id: string;
  #acts = 0;
  #underWay: Promise<unknown>[] = [];

  constructor(id: string) {
    this.#id = id;
  }

  get acts(): number {
    return this.#acts;
  }

  get limit(): string {
    return `${100 + this.#acts}.00`;
  }

  /** Without waiting for it: the next act, and a change-over, may come meanwhile. */
  act(): void {
    this.#acts += 1;
    const by = { by: 'Ada', reason: `Act ${this.#acts}.`, max_price: { amount: this.limit, currency: 'USD' } };
    const updateId = randomUUID();
    const tryOnce = () =>
      operator
        .order(this.#id)
        .executeUpdate(changeLimitUpdate, { args: [by], updateId })
        .catch(unlessRefused);
    this.#underWay.push(waitFor(by.reason, tryOnce, { context: () => stack.tails() }));
  }

  /** Until every act is done. @throws whatever one of them failed with. */
  async done(): Promise<void> {
    await Promise.all(this.#underWay);
    this.#underWay = [];
  }
}

/**
 * Temporal may refuse an update at the moment of a change-over; a person then does the same again. It may have been
 * done all the same.
 */
function unlessRefused(error: unknown): undefined {
  if (error instanceof ServiceError || error instanceof WorkflowUpdateRPCTimeoutOrCancelledError) return undefined;
  throw new NeverError(messageOf(error));
}

const runOf = async (id: string) => operator.order(id).describe();

/**
 * Acts on work, three acts at a time, until it has gone on in another run. @param atTheBrink done each time that the
 * history is about to be long.
 */
async function throughChangeOver(
  id: string,
  acting: Operator,
  atTheBrink: (n: number) => Promise<void>,
): Promise<{ before: string }> {
  const { runId: before } = await runOf(id);
  for (let round = 1; round <= 60; round += 1) {
    const { runId: after, historyLength } = await runOf(id);
    if (after !== before) {
      await acting.done();
      return { before };
    }
    for (let n = 0; n < 3; n += 1) acting.act();
    if (historyLength > BRINK) await atTheBrink(round);
    await acting.done();
  }
  throw new Error(`the workflow of ${id} has not gone on in another run`);
}

/** Waits until all that the service said of it has been answered. */
async function answered(id: string, words: number): Promise<void> {
  const states = async () =>
    (await desk.inbox(id)).filter(({ event }) => event?.endsWith('.failed') === true).map(({ state }) => state);
  await expect.poll(states).toEqual(Array.from({ length: words }, () => 'applied'));
}

const entries = async (id: string, event: string) => (await desk.events(id)).filter((each) => each === event).length;
const statusOf = async (id: string, runId: string) =>
  (await operator.client.workflow.getHandle(operator.order(id).workflowId, runId).describe()).status.name;

describe('a workflow whose history grows long', () => {
  it('of a held order goes on in a new run; what the service and operators say around it is done once', async () => {
    await desk.simulator.setPackage(1007, { available: false });
    const id = await desk.place(1007);
    await desk.reaches(id, 'held');
    const first = await runOf(id);
    const [attempt] = await desk.attempts(id);
    const acting = new Operator(id);
    let words = 0;
    const { before } = await throughChangeOver(id, acting, async () => {
      if (words > 0) return;
      words += 1;
      // What was refused has failed, says the service: the wallet proves that it cost nothing, and a second attempt
      // follows.
      const data = {
        id: 'so-never-sold',
        external_order_id: attempt!.reference,
        package_id: 1007,
        status: 'failed',
        failure: { code: 'supplier_error', message: 'No.' },
      };
      await desk.simulator.sendWebhook({ environment: 'sandbox', event: 'order.failed', data });
    });
    expect(words).toBe(1);
    expect([before, await statusOf(id, before)]).toEqual([first.runId, 'CONTINUED_AS_NEW']);
    await answered(id, 1);
    await expect.poll(async () => (await desk.attempts(id)).length).toBe(2);

    // The new run shows where it stands, and is still the workflow of this order.
    const standing = async () => ({
      ...(await operator.shown(id)),
      explained: await operator.order(id).query(explainQuery),
    });
    await expect.poll(standing).toMatchObject({
      product: 'esim-order',
      stage: 'held',
      needsAttention: false,
      failureClass: 'package_unavailable',
      details: expect.stringMatching(/^### held/),
      explained: { status: 'held', failure: 'package_unavailable' },
    });
    const now = await runOf(id);
    const named = (run: typeof first) => [
      run.type,
      run.taskQueue,
      run.typedSearchAttributes
        .getAll()
        .filter(({ key }) => ['ExternalReference', 'PackageId', 'Environment'].includes(key.name))
        .map(({ key, value }) => `${key.name} ${String(value)}`)
        .toSorted(),
    ];
    expect(named(now)).toEqual(named(first));

    // Each act once, and the last one counts; which of those at the same moment is the last, nobody says.
    acting.act();
    await acting.done();
    expect(await entries(id, 'operator.change_limit')).toBe(acting.acts);
    expect((await desk.reaches(id, 'held')).at('max_price', 'amount')).toBe(acting.limit);
    await desk.simulator.setPackage(1007, { available: true });
    await desk.reaches(id, 'completed');
    expect(await desk.attempts(id)).toHaveLength(2);
    expect(await desk.movements(id)).toEqual(['debit 12.40']);
  });

  it('of a VPN subscription that waits for a person continues in a new run; reports around that time are neither lost nor change its status', async () => {
    const id = await desk.subscribe(301);
    const subscription = await desk.subscriptionReaches(id, 'active');
    const first = await runOf(id);
    const acting = new Operator(id);
    let words = 0;
    const { before } = await throughChangeOver(id, acting, async () => {
      words += 1;
      const data = {
        id: subscription.textAt('service_subscription_id'),
        external_subscription_id: subscription.textAt('external_subscription_id'),
        status: 'failed',
        failure: { code: 'supplier_error', message: `Word ${words}.` },
      };
      await desk.simulator.sendWebhook({ environment: 'sandbox', event: 'vpn.subscription.failed', data });
    });
    expect(words).toBeGreaterThan(0);
    expect([before, await statusOf(id, before)]).toEqual([first.runId, 'CONTINUED_AS_NEW']);
    await answered(id, words);
    await desk.subscriptionReaches(id, 'needs_attention');
    const shown = await operator.showsStage(id, 'needs_attention');
    expect(shown).toMatchObject({
      product: 'vpn-subscription',
      needsAttention: true,
      attentionReason: 'contradiction',
    });
    expect(shown.details).toMatch(/^### ⚠ needs_attention/);
    expect(await desk.cases(id)).toEqual([{ reason: 'contradiction', open: true }]);
    expect(await entries(id, 'operator.change_limit')).toBe(acting.acts);

    const verdict = { reason: 'It works.', case: 'contradiction', verdict: 'dismissed' };
    expect((await stack.api.post(`/v1/vpn/subscriptions/${id}/resolve`, verdict)).status).toBe(200);
    await desk.subscriptionReaches(id, 'active');
    expect(await operator.showsStage(id, 'active')).toMatchObject({
      needsAttention: false,
      attentionReason: undefined,
    });
    await throughChangeOver(id, acting, async () => undefined);
    expect(await operator.showsStage(id, 'active')).toMatchObject({ needsAttention: false });
    expect(await entries(id, 'operator.change_limit')).toBe(acting.acts);

    await stack.api.post(`/v1/vpn/subscriptions/${id}/cancel`, { reason: 'The customer ended it.' });
    await desk.subscriptionReaches(id, 'cancelled');
    expect(await desk.simulator.requests('cancelVpnSubscription')).toHaveLength(1);
    expect(await operator.showsStage(id, 'cancelled')).toMatchObject({ needsAttention: false });
  });
});
