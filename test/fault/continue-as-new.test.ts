import { randomUUID } from 'node:crypto';
import { ServiceError, WorkflowUpdateRPCTimeoutOrCancelledError } from '@temporalio/client';
import { describe, expect, it } from 'vitest';
import { messageOf } from '#cli/terminal/user-error.ts';
import { disposedAtEnd } from '#test/support/disposed-at-end.ts';
import { startOwnTemporal } from '#test/support/servers/own-servers.ts';
import { TemporalOperator } from '#test/support/servers/stack-temporal.ts';
import { startStack } from '#test/support/servers/stack.ts';
import { NORMAL_WAITS_POLICY } from '#test/support/servers/test-policies.ts';
import { NeverError, waitFor } from '#test/support/wait-for.ts';
import { checkedDesk } from '#test/support/work/order-desk.ts';
import { changeLimitUpdate, explainQuery } from '#workflows/messages.ts';

/** From this number of events on, this server suggests continue-as-new. In production it is some thousands. */
const LONG_FROM = 160;
/** From below this number, no round of three actions (30 to 45 events) reaches the limit. */
const NEARLY_LONG = LONG_FROM / 2;

const temporal = disposedAtEnd(await startOwnTemporal({ longFrom: LONG_FROM }));
const stack = disposedAtEnd(await startStack({ temporal, environment: NORMAL_WAITS_POLICY }));
const desk = checkedDesk(stack);
const operator = disposedAtEnd(await TemporalOperator.connect(stack));

/** Sets another price limit with each action. Each action leaves one entry in the timeline. */
class Operator {
  actions = 0;
  readonly #id: string;
  #pending: Promise<unknown>[] = [];

  constructor(id: string) {
    this.#id = id;
  }

  get limit(): string {
    return `${100 + this.actions}.00`;
  }

  /** Starts an action without waiting. The next action, or continue-as-new, may happen meanwhile. */
  changeLimit(): void {
    this.actions += 1;
    const by = { by: 'Ada', reason: `Action ${this.actions}.`, max_price: { amount: this.limit, currency: 'USD' } };
    const updateId = randomUUID();
    const tryOnce = () =>
      operator
        .order(this.#id)
        .executeUpdate(changeLimitUpdate, { args: [by], updateId })
        .catch(unlessRefused);
    this.#pending.push(waitFor(by.reason, tryOnce, { context: () => stack.tails() }));
  }

  /** Resolves when every action is done. @throws the error of a failed action. */
  async done(): Promise<void> {
    await Promise.all(this.#pending);
    this.#pending = [];
  }
}

/** Temporal may refuse an update during continue-as-new. The operator repeats it, although it may have been done. */
function unlessRefused(error: unknown): undefined {
  if (error instanceof ServiceError || error instanceof WorkflowUpdateRPCTimeoutOrCancelledError) return undefined;
  throw new NeverError(messageOf(error));
}

const runOf = async (id: string) => operator.order(id).describe();

/**
 * Performs rounds of three actions until the work continues in a new run.
 *
 * @param whenNearlyLong called in each round in which the history may reach the limit.
 * @returns the id of the run before.
 */
async function untilNewRun(id: string, ada: Operator, whenNearlyLong: () => Promise<void>): Promise<string> {
  const { runId: before } = await runOf(id);
  for (let round = 1; round <= 60; round += 1) {
    const { runId: after, historyLength } = await runOf(id);
    if (after !== before) {
      await ada.done();
      return before;
    }
    for (let n = 0; n < 3; n += 1) ada.changeLimit();
    if (historyLength > NEARLY_LONG) await whenNearlyLong();
    await ada.done();
  }
  throw new Error(`the workflow of ${id} has not continued in a new run`);
}

async function answered(id: string, reports: number): Promise<void> {
  const states = async () =>
    (await desk.inbox(id)).filter(({ event }) => event?.endsWith('.failed') === true).map(({ state }) => state);
  await expect.poll(states).toEqual(Array.from({ length: reports }, () => 'applied'));
}

const entries = async (id: string, event: string) => (await desk.events(id)).filter((each) => each === event).length;
const statusOf = async (id: string, runId: string) =>
  (await operator.client.workflow.getHandle(operator.order(id).workflowId, runId).describe()).status.name;

describe('a workflow whose history grows long', () => {
  it('of a held order continues in a new run; reports and actions around that time have one effect each', async () => {
    await desk.simulator.setPackage(1007, { available: false });
    const id = await desk.place(1007);
    await desk.reaches(id, 'held');
    const first = await runOf(id);
    const [attempt] = await desk.attempts(id);
    const ada = new Operator(id);
    let reports = 0;
    const before = await untilNewRun(id, ada, async () => {
      if (reports > 0) return;
      reports += 1;
      // The service reports the refused purchase as failed. The wallet shows no debit, so a second attempt follows.
      const data = {
        id: 'so-never-sold',
        external_order_id: attempt!.reference,
        package_id: 1007,
        status: 'failed',
        failure: { code: 'supplier_error', message: 'No.' },
      };
      await desk.simulator.sendWebhook({ event: 'order.failed', data });
    });
    expect(reports).toBe(1);
    expect([before, await statusOf(id, before)]).toEqual([first.runId, 'CONTINUED_AS_NEW']);
    await answered(id, 1);
    await expect.poll(async () => (await desk.attempts(id)).length).toBe(2);

    // The new run shows the state, and has the same type, task queue and search attributes.
    const shownState = async () => ({
      ...(await operator.shown(id)),
      explained: await operator.order(id).query(explainQuery),
    });
    await expect.poll(shownState).toMatchObject({
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

    // Each action has one effect, and the last one wins. The order of concurrent actions is undefined.
    ada.changeLimit();
    await ada.done();
    expect(await entries(id, 'operator.change_limit')).toBe(ada.actions);
    expect((await desk.reaches(id, 'held')).at('max_price', 'amount')).toBe(ada.limit);
    await desk.simulator.setPackage(1007, { available: true });
    await desk.reaches(id, 'completed');
    expect(await desk.attempts(id)).toHaveLength(2);
    expect(await desk.movements(id)).toEqual(['debit 12.40']);
  });

  it('of a VPN subscription that needs attention continues in a new run; no report is lost or changes it', async () => {
    const id = await desk.subscribe(301);
    const subscription = await desk.subscriptionReaches(id, 'active');
    const first = await runOf(id);
    const ada = new Operator(id);
    let reports = 0;
    const before = await untilNewRun(id, ada, async () => {
      reports += 1;
      const data = {
        id: subscription.textAt('service_subscription_id'),
        external_subscription_id: subscription.textAt('external_subscription_id'),
        status: 'failed',
        failure: { code: 'supplier_error', message: `Report ${reports}.` },
      };
      await desk.simulator.sendWebhook({ event: 'vpn.subscription.failed', data });
    });
    expect(reports).toBeGreaterThan(0);
    expect([before, await statusOf(id, before)]).toEqual([first.runId, 'CONTINUED_AS_NEW']);
    await answered(id, reports);
    await desk.subscriptionReaches(id, 'needs_attention');
    const shown = await operator.showsStage(id, 'needs_attention');
    expect(shown).toMatchObject({
      product: 'vpn-subscription',
      needsAttention: true,
      attentionReason: 'contradiction',
      details: expect.stringMatching(/^### ⚠ needs_attention/),
    });
    expect(await desk.cases(id)).toEqual([{ reason: 'contradiction', open: true }]);
    expect(await entries(id, 'operator.change_limit')).toBe(ada.actions);

    const verdict = { reason: 'It works.', case: 'contradiction', verdict: 'dismissed' };
    expect((await stack.api.post(`/v1/vpn/subscriptions/${id}/resolve`, verdict)).status).toBe(200);
    await desk.subscriptionReaches(id, 'active');
    expect(await operator.showsStage(id, 'active')).toMatchObject({
      needsAttention: false,
      attentionReason: undefined,
    });
    await untilNewRun(id, ada, async () => undefined);
    expect(await operator.showsStage(id, 'active')).toMatchObject({ needsAttention: false });
    expect(await entries(id, 'operator.change_limit')).toBe(ada.actions);

    await stack.api.post(`/v1/vpn/subscriptions/${id}/cancel`, { reason: 'The customer ended it.' });
    await desk.subscriptionReaches(id, 'cancelled');
    expect(await desk.simulator.requests('cancelVpnSubscription')).toHaveLength(1);
    expect(await operator.showsStage(id, 'cancelled')).toMatchObject({ needsAttention: false });
  });
});
