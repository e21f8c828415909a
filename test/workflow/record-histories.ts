/**
 * `npm run record:histories [-- NAME…]`: carries orders through the whole product, one way each, and writes down what
 * Temporal recorded of them, decoded, under `histories/<version>/`. A release records its own; earlier ones stay, since
 * workflows that began with them may still run.
 */
import { execFileSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod';
import { KeyRing } from '#crypto/key-ring.ts';
import { EncryptionCodec } from '#temporal/codec/payload-codec.ts';
import { WebhookReceiver } from '#test/support/network/webhook-receiver.ts';
import { startOwnPostgres, startOwnTemporal } from '#test/support/servers/own-servers.ts';
import { TemporalOperator } from '#test/support/servers/stack-temporal.ts';
import { startStack, type Stack } from '#test/support/servers/stack.ts';
import { temporaryFolder } from '#test/support/temporary.ts';
import { waitFor } from '#test/support/wait-for.ts';
import { OrderDesk, PACKAGE } from '#test/support/work/order-desk.ts';
import { decodedHistory } from '#test/support/work/workflows/histories.ts';
import { CANCELLATIONS } from '#test/workflow/scenarios/cancellations.ts';
import { OUTAGES } from '#test/workflow/scenarios/outages.ts';
import { PURCHASES } from '#test/workflow/scenarios/purchases.ts';
import { TemporalUi, withWorker, type OneRun, type Scenario } from '#test/workflow/scenarios/scenario.ts';
import { SUBSCRIPTIONS } from '#test/workflow/scenarios/subscriptions.ts';
import { changeLimitUpdate } from '#workflows/messages.ts';

const PROJECT = join(import.meta.dirname, '../..');
const { version } = z
  .object({ version: z.string() })
  .parse(JSON.parse(readFileSync(join(PROJECT, 'package.json'), 'utf8')));
const FOLDER = join(import.meta.dirname, 'histories', version);

/**
 * Events from which on the server suggests a new run. More than any other way here has; in production some thousands.
 */
const LONG_FROM = 150;

/** A package whose purchases the service accepts and then calls failed. */
const FAILS_EACH_TIME = 9002;

/** By schedule. */
const SCHEDULED = {
  reconcile: 'reconcileWorkflow',
  sweep: 'sweepWorkflow',
  books: 'booksWorkflow',
  watch: 'watchWorkflow',
} as const;

const SCENARIOS: Readonly<Record<string, Scenario>> = {
  ...PURCHASES,
  ...SUBSCRIPTIONS,
  ...CANCELLATIONS,
  ...OUTAGES,
  ...Object.fromEntries(
    Object.entries(SCHEDULED).map(([schedule, workflow]) => [
      `scheduled-${schedule}`,
      () => scheduledRun(schedule, workflow),
    ]),
  ),

  'completed-at-once': async (desk) => (await desk.complete(PACKAGE.completedAtOnce)).textAt('id'),

  'processing-then-webhook': async (desk) => {
    const id = await desk.place(PACKAGE.staysProcessing);
    await desk.reaches(id, 'processing');
    const [sold] = await desk.simulator.orders((await desk.attempts(id))[0]!.reference);
    await desk.simulator.completeOrder(sold!.id);
    await desk.reaches(id, 'completed');
    return id;
  },

  refused: async (desk) => {
    const id = await desk.place(PACKAGE.unknownToTheService);
    await desk.reaches(id, 'failed');
    return id;
  },

  'unknown-then-resent': async (desk) => {
    await desk.silenceService();
    await desk.simulator.onRequest('createOrder', { kind: 'server_error', after_work: true }, { count: 2 });
    return (await desk.complete(PACKAGE.completedAtOnce)).textAt('id');
  },

  'unknown-then-looked-up': async (desk) => {
    await desk.simulator.dialect('conflicts');
    await desk.simulator.onWebhook(undefined, { kind: 'lost' }, { count: null });
    await desk.simulator.onRequest('createOrder', { kind: 'accepted_but_answer_lost' });
    return (await desk.complete(PACKAGE.completedAtOnce)).textAt('id');
  },

  'held-until-deadline': async (desk) => {
    const id = await desk.place(PACKAGE.unavailable, { deadline: new Date(Date.now() + 2_000).toISOString() });
    await desk.reaches(id, 'failed');
    return id;
  },

  'held-then-rescheduled': async (desk) => {
    const id = await desk.place(PACKAGE.completedAtOnce, { max_price: { amount: '0.01', currency: 'USD' } });
    await desk.reaches(id, 'held');
    const change = (body: object) =>
      desk.stack.api.post(`/v1/orders/${id}/retry-policy`, { reason: 'The supplier says when.', ...body });
    await change({ first_wait_seconds: 120 });
    await waitFor(
      'it waits for two minutes',
      async () =>
        Date.parse((await desk.stack.api.get(`/v1/orders/${id}`)).textAt('next_step_at')) > Date.now() + 60_000,
    );
    await change({ first_wait_seconds: 1, deadline: new Date(Date.now() + 4_000).toISOString() });
    await desk.reaches(id, 'failed');
    return id;
  },

  'failed-then-new-attempt': async (desk) => {
    await desk.simulator.nextPurchases({ outcome: 'processing_then_failed', delay_ms: 300 });
    return (await desk.complete(PACKAGE.completedAtOnce)).textAt('id');
  },

  'topup-looked-up': async (desk) => {
    const esimId = (await desk.complete(PACKAGE.completedAtOnce)).textAt('esim_id');
    await desk.simulator.dialect('conflicts');
    await desk.simulator.onWebhook(undefined, { kind: 'lost' }, { count: null });
    await desk.simulator.onRequest('createTopup', { kind: 'accepted_but_answer_lost' });
    const id = await desk.topUp(esimId, PACKAGE.completedAtOnce);
    await desk.topupReaches(id, 'completed');
    return id;
  },

  'vpn-cancelled': async (desk) => {
    const id = await desk.subscribe(301);
    await desk.subscriptionReaches(id, 'active');
    await desk.stack.api.post(`/v1/vpn/subscriptions/${id}/cancel`, { reason: 'The customer ended it.' });
    await desk.subscriptionReaches(id, 'cancelled');
    return id;
  },

  'attempts-used-up-then-abandoned': async (desk) => {
    const id = await desk.place(FAILS_EACH_TIME);
    await desk.reaches(id, 'needs_attention');
    await desk.stack.api.post(`/v1/orders/${id}/abandon`, { reason: 'The customer no longer wants it.' });
    await desk.reaches(id, 'abandoned');
    return id;
  },

  'contradicted-then-resolved': async (desk) => {
    await desk.simulator.nextPurchases({ outcome: 'failed_at_once' });
    await desk.simulator.onRequest('listWalletTransactions', { kind: 'server_error' }, { count: null });
    const id = await desk.place(PACKAGE.completedAtOnce);
    await waitFor('the attempt has failed', async () => (await desk.attempts(id))[0]?.state === 'failed');
    const [attempt] = await desk.attempts(id);
    const data = {
      id: attempt!.serviceId,
      external_order_id: attempt!.reference,
      package_id: PACKAGE.completedAtOnce,
      status: 'completed',
    };
    for (const state of ['first', 'second']) {
      await desk.simulator.sendWebhook({ event: 'order.completed', data });
      await waitFor(
        `the ${state} word is applied`,
        async () =>
          (await desk.inbox(id)).filter((row) => row.event === 'order.completed' && row.state === 'applied').length ===
          (state === 'first' ? 1 : 2),
      );
    }
    await desk.simulator.calm();
    // What the first attempt moved in the wallet is booked by the next comparison: a person's word was enough to go on.
    desk.expectUnsettled(id);
    await desk.stack.api.post(`/v1/orders/${id}/resolve`, {
      reason: 'Their console says failed.',
      case: 'contradiction',
      verdict: 'not_bought',
    });
    await desk.reaches(id, 'completed');
    return id;
  },

  'limit-raised-in-temporal': async (desk) => {
    const id = await desk.place(PACKAGE.completedAtOnce, { max_price: { amount: '0.01', currency: 'USD' } });
    await desk.reaches(id, 'held');
    const act = { by: 'Ada', reason: 'Agreed with the customer.', max_price: { amount: '9.00', currency: 'USD' } };
    await operator.order(id).executeUpdate(changeLimitUpdate, { args: [act] });
    await desk.reaches(id, 'completed');
    return id;
  },

  'topup-at-once': async (desk) => {
    const esimId = (await desk.complete(PACKAGE.completedAtOnce)).textAt('esim_id');
    const id = await desk.topUp(esimId, 1002);
    await desk.topupReaches(id, 'completed');
    return id;
  },

  'vpn-expired': async (desk) => {
    const id = await desk.subscribe(301);
    const subscription = await desk.subscriptionReaches(id, 'active');
    await desk.simulator.endSubscription(subscription.textAt('service_subscription_id'), 'expire');
    await desk.subscriptionReaches(id, 'expired');
    return id;
  },

  'vpn-continues-as-new': async (desk) => {
    const { id, first } = await longSubscription(desk);
    await desk.stack.api.post(`/v1/vpn/subscriptions/${id}/cancel`, { reason: 'The customer ended it.' });
    await desk.subscriptionReaches(id, 'cancelled');
    return first;
  },

  'vpn-continued': async (desk) => {
    const { id } = await longSubscription(desk);
    await desk.stack.api.post(`/v1/vpn/subscriptions/${id}/cancel`, { reason: 'The customer ended it.' });
    await desk.subscriptionReaches(id, 'cancelled');
    return id;
  },

  'cancellation-reviewed': async (desk) => {
    const esimId = (await desk.complete(PACKAGE.completedAtOnce)).textAt('esim_id');
    await desk.simulator.nextPurchases({
      operation: 'cancellation',
      outcome: 'manual_review_then_accepted',
      delay_ms: 500,
    });
    const id = await desk.cancel(esimId);
    await desk.cancellationReaches(id, 'completed');
    return id;
  },

  'refund-failed-then-dismissed': async (desk) => {
    const esimId = (await desk.complete(PACKAGE.completedAtOnce)).textAt('esim_id');
    await desk.simulator.nextPurchases({ operation: 'cancellation', outcome: 'refund_failed' });
    const id = await desk.cancel(esimId);
    await desk.cancellationReaches(id, 'needs_attention');
    await desk.stack.api.post(`/v1/cancellations/${id}/resolve`, {
      reason: 'Written off.',
      case: 'refund_failed',
      verdict: 'dismissed',
    });
    await desk.cancellationReaches(id, 'completed');
    return id;
  },

  'webhook-failing-then-delivered': async ({ stack }) => {
    await using receiver = await WebhookReceiver.start();
    receiver.answers.push(...Array.from({ length: 7 }, () => 503));
    const id = await endpoint(stack, receiver);
    await waitFor('it is delivered', async () => receiver.received.length === 8, { timeoutMs: 60_000 });
    return id;
  },

  // Time enough for another delivery before the failed one is tried again.
  'webhook-failed-beside-another': withWorker({ POLICY_OUTBOUND_RETRY_DELAY: '3s' }, async ({ stack }) => {
    await using receiver = await WebhookReceiver.start();
    receiver.answers.push(503);
    const id = await endpoint(stack, receiver);
    await waitFor('the first has failed', async () => receiver.received.length === 1);
    await sendTest(stack, id);
    await waitFor('both are delivered', async () => receiver.received.length === 3);
    return id;
  }),

  // One delivery alone is tried ever less often.
  'webhook-continues-as-new': withWorker(
    { POLICY_OUTBOUND_RETRY_DELAY_MAX: '300ms', POLICY_OUTBOUND_PROBE_DELAY_MAX: '300ms' },
    async ({ stack }) => {
      await using receiver = await WebhookReceiver.start();
      receiver.otherwise = 503;
      const id = await endpoint(stack, receiver);
      const { workflowId, runId } = await waitFor('it is tried', () => operator.order(id).describe());
      await waitFor('it goes on in a new run', async () => (await operator.order(id).describe()).runId !== runId, {
        timeoutMs: 90_000,
      });
      receiver.otherwise = 204;
      const tries = receiver.received.length;
      await waitFor('it is delivered', async () => receiver.received.length > tries);
      return { workflowId, runId };
    },
  ),

  'webhook-gone': async ({ stack }) => {
    await using receiver = await WebhookReceiver.start();
    receiver.otherwise = 410;
    const id = await endpoint(stack, receiver);
    await waitFor(
      'it is disabled',
      async () => (await stack.api.get(`/v1/webhook-endpoints/${id}`)).at('status') === 'disabled',
    );
    return id;
  },

  'webhook-worker-killed': async ({ stack }) => {
    await using receiver = await WebhookReceiver.start();
    receiver.answers.push(() => undefined);
    const id = await endpoint(stack, receiver);
    await waitFor('it is being sent', async () => receiver.received.length === 1);
    await stack.kill('worker');
    await stack.start('worker');
    await waitFor('it is delivered', async () => receiver.received.length === 2);
    return id;
  },

  'worker-killed': async (desk) => {
    await desk.silenceService();
    await desk.simulator.onRequest('createOrder', { kind: 'latency', ms: 60_000, at: 'answer' });
    const id = await desk.place(PACKAGE.completedAtOnce);
    await desk.bought(id);
    await desk.stack.kill('worker');
    await desk.stack.start('worker');
    await desk.reaches(id, 'completed');
    return id;
  },

  'needs-attention-then-completed': async (desk) => {
    await desk.stack.process('worker').stop();
    await desk.stack.start('worker', {
      POLICY_RESEND_WINDOW: '1ms',
      SERVICE_MISSING_CAPABILITIES: 'order_read,order_list',
    });
    await desk.simulator.onRequest('createOrder', { kind: 'accepted_but_answer_lost' });
    await desk.simulator.onWebhook(undefined, { kind: 'lost' }, { count: null });
    const id = await desk.place(PACKAGE.completedAtOnce);
    await desk.reaches(id, 'needs_attention');
    const [sold] = await desk.simulator.orders((await desk.attempts(id))[0]!.reference);
    const [lost] = await desk.simulator.webhooks(sold!.id);
    await desk.simulator.replayDelivery(lost!.id);
    await desk.reaches(id, 'completed');
    return id;
  },
};

async function scheduledRun(schedule: string, workflow: string): Promise<OneRun> {
  await operator.client.schedule.getHandle(schedule).trigger();
  return waitFor(`the schedule ${schedule} has run`, async () => {
    const query = `WorkflowType = '${workflow}' AND ExecutionStatus = 'Completed'`;
    for await (const { workflowId, runId } of operator.client.workflow.list({ query })) return { workflowId, runId };
    return undefined;
  });
}

/** A subscription that was acted on until it went on in a new run. @returns its id, and the run before. */
async function longSubscription(desk: OrderDesk): Promise<{ readonly id: string; readonly first: OneRun }> {
  const id = await desk.subscribe(301);
  await desk.subscriptionReaches(id, 'active');
  const { runId } = await operator.order(id).describe();
  for (let n = 1; (await operator.order(id).describe()).runId === runId; n += 1) {
    const act = { by: 'Ada', reason: 'a test', max_price: { amount: `${100 + n}.00`, currency: 'USD' } };
    await operator.order(id).executeUpdate(changeLimitUpdate, { args: [act] });
  }
  return { id, first: { workflowId: operator.order(id).workflowId, runId } };
}

/** An endpoint that one test event is on its way to. */
async function endpoint(stack: Stack, { url }: WebhookReceiver): Promise<string> {
  // Of nothing that others do meanwhile.
  const id = (
    await stack.api.post('/v1/webhook-endpoints', { url, event_types: ['webhook_endpoint.test'] }, key())
  ).textAt('id');
  await sendTest(stack, id);
  return id;
}

async function sendTest({ api }: Stack, id: string): Promise<void> {
  await api.post(`/v1/webhook-endpoints/${id}/test`, undefined, key());
}

function key() {
  return { headers: { 'idempotency-key': randomUUID() } };
}

/** All of them, unless some are named on the command line. */
const chosen = Object.entries(SCENARIOS).filter(
  ([name]) => process.argv.length < 3 || process.argv.slice(2).includes(name),
);

await using postgres = await startOwnPostgres();
await using temporal = await startOwnTemporal({ longFrom: LONG_FROM });
const workflowBundle = join(temporaryFolder('bundle'), 'workflows.js');
execFileSync(process.execPath, [join(PROJECT, 'worker/build-bundle.ts'), workflowBundle]);
await using stack = await startStack({ postgres, temporal, workflowBundle });
await using operator = await TemporalOperator.connect(stack);
const codec = new EncryptionCodec(new KeyRing([keyOf(stack)]));
const desk = new OrderDesk(stack);
const ui = new TemporalUi(operator, codec);
mkdirSync(FOLDER, { recursive: true });
for (const [name, scenario] of chosen) {
  const given = await scenario(desk, ui);
  await desk.simulator.calm();
  if (typeof given === 'string') await operator.runReaches(given, 'COMPLETED');
  const run =
    typeof given === 'string'
      ? operator.order(given)
      : operator.client.workflow.getHandle(given.workflowId, given.runId);
  const history = await decodedHistory(await run.fetchHistory(), codec);
  writeFileSync(join(FOLDER, `${name}.json`), `${JSON.stringify(history, undefined, 1)}\n`);
  process.stdout.write(`recorded ${version}/${name}\n`);
}
await desk.checkBooks();

function keyOf(stack: Stack) {
  const [id = '', key = ''] = (stack.environments.worker['ENCRYPTION_KEYS'] ?? '').split(':');
  return { id, key: Buffer.from(key, 'base64') };
}
