import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { releasePurchases } from '#cli/operator/gate.ts';
import { grantOverride } from '#db/gate/waits.ts';
import type { AttemptRef } from '#domain/purchase/results.ts';
import { findDriftStop } from '#fulfilment/gate/drift-stop.ts';
import { proveAfterDocument, releaseDriftStop } from '#fulfilment/gate/drift.ts';
import { parkedPurchases } from '#fulfilment/gate/overview.ts';
import { applyFirstPurchaseCheck, holdUntilSeen } from '#fulfilment/gate/pauses.ts';
import { readGateConditions } from '#fulfilment/readiness/conditions.ts';
import { newKey } from '#test/support/api/keys.ts';
import { captured } from '#test/support/cli-output.ts';
import { startTestApi } from '#test/support/network/api.ts';
import { ActivityBench } from '#test/support/work/activities/activity-bench.ts';
import { gateSteps } from '#test/support/work/gate-steps.ts';

let bench: ActivityBench;
beforeEach(async () => {
  bench = await ActivityBench.start();
  return () => bench[Symbol.asyncDispose]();
});

const { look, later, send, sends } = gateSteps(() => bench);
// Completed at once.
const A = 1001;
const B = 1004;
const C = 1006;

const JSON_ANSWER = { kind: 'answer', status: 200, headers: { 'content-type': 'application/json' } } as const;
/** From now on, the eSIM of every order is answered without anything that is needed. */
const misstateDeliveries = async () =>
  bench.admin.onRequest('getEsim', { ...JSON_ANSWER, body: '{}' }, { count: null });

/** What became of an order that was sent: of its delivery, or why it was not sent. */
async function buy(ref: AttemptRef): Promise<string> {
  const input = { ...ref, resendWindowMs: 600_000, delivers: true } as const;
  const { outcome, delivered } = await bench.activities.sendPurchase(input);
  if (outcome.kind !== 'accepted') return outcome.kind;
  return delivered === undefined ? read(ref) : 'completed';
}
const read = async (ref: AttemptRef) => (await bench.activities.completePurchase({ ...ref, applied: [] })).kind;
const buyNew = async (product: number) => buy(await bench.begin(product));
const line = () => bench.database.run((db) => findDriftStop(db, 'order'));

describe('20 orders at a service whose deliveries are misstated', () => {
  it('are debited twice: once for each of two products; a repair lets all others go', async () => {
    await misstateDeliveries();
    const orders: { readonly ref: AttemptRef; end: string }[] = [];
    /** Sends what the gate wakes. */
    const wake = async () => {
      for (const id of await look()) {
        const woken = orders.find(({ ref }) => ref.work.id === id)!;
        woken.end = await buy(woken.ref);
      }
    };
    for (let n = 0; n < 20; n += 1) {
      const ref = await bench.begin(n < 10 ? A : B);
      orders.push({ ref, end: await buy(ref) });
      later(500);
      await wake();
    }
    const parked = orders.filter(({ end }) => end === 'unreadable');
    expect(parked.map(({ ref }) => orders.findIndex((one) => one.ref === ref))).toEqual([0, 10]);
    expect(orders.filter(({ end }) => end === 'gated')).toHaveLength(18);
    expect(await sends()).toBe(2);
    expect(await line()).toMatchObject({ state: 'stopped', stoppedProducts: [A, B], drifts: 2 });
    expect(await bench.database.run(parkedPurchases)).toMatchObject([
      { kind: 'order', product: A, count: 1, cost: [{ amount: '2.400000', currency: 'USD' }] },
      { kind: 'order', product: B, count: 1, cost: [{ amount: '2.350000', currency: 'USD' }] },
    ]);
    expect(await bench.database.run(readGateConditions)).toEqual([
      {
        condition: 'contract_drift',
        detail: expect.stringMatching(
          /^Buying orders is stopped: .* Last: .* Since 20.*Z\. 2 paid and not delivered, together 4\.75 USD\. It ends when /,
        ),
      },
    ]);

    await bench.admin.calm();
    for (const order of parked) order.end = await read(order.ref);
    for (let n = 0; n < 30; n += 1) {
      await wake();
      later(1_000);
    }
    expect(orders.map(({ end }) => end)).toEqual(Array(20).fill('completed'));
    expect(await sends()).toBe(20);
    expect((await line())?.state).toBe('open');
  });
});

describe('a stopped product', () => {
  it('is stopped by an answer to the send that names our reference and cannot be read', async () => {
    const ref = await bench.begin(A);
    const { reference } = await bench.attempt(ref);
    const body = JSON.stringify({ external_order_id: reference, state: 'DONE' });
    await bench.admin.onRequest('createOrder', { ...JSON_ANSWER, body, after_work: true });
    expect(await buy(ref)).toBe('failure');
    expect(await buyNew(A)).toBe('gated');
  });

  it('is not stopped by an answer of a proxy', async () => {
    await bench.admin.onRequest('createOrder', { ...JSON_ANSWER, body: '{"maintenance":true}' });
    expect(await buyNew(A)).toBe('failure');
    expect(await buyNew(A)).toBe('completed');
  });
});

it('a release of the first hold by a document alone lets one order go, and the others when it is whole', async () => {
  const seen = { kind: 'seen', evidence: 'Evidence.', byDocumentAlone: true } as const;
  await bench.database.transaction(async (tx) => {
    const now = new Date(bench.clock.now);
    await holdUntilSeen(tx, now);
    await applyFirstPurchaseCheck(tx, 'order', seen, 'test', now);
  });
  const first = await bench.begin(A);
  // In the activity of the send, and in that of the delivery.
  await bench.admin.onRequest('getEsim', { kind: 'server_error' }, { count: 2 });
  expect(await buy(first)).toBe('not_yet');
  expect(await buyNew(B)).toBe('gated');
  expect(await read(first)).toBe('completed');
  await look();
  expect(await buyNew(B)).toBe('completed');
});

it('after a second drift no operator override passes, and a person starts one order', async () => {
  await misstateDeliveries();
  await buyNew(A);
  await buyNew(B);
  const held = [await bench.begin(C), await bench.begin(C)];
  for (const ref of held) expect(await buy(ref)).toBe('gated');
  later(60_000);
  expect(await look()).toEqual([]);
  await bench.database.transaction((tx) => grantOverride(tx, held[0]!.work, 'test', new Date(bench.clock.now)));
  expect(await buy(held[0]!)).toBe('gated');

  const release = { actor: 'test', reason: 'test' };
  await bench.database.transaction((tx) => releaseDriftStop(tx, 'order', release, bench.clock.now));
  expect(await look()).toEqual([held[0]!.work.id]);
  expect([await buy(held[0]!), await buy(held[1]!)]).toEqual(['unreadable', 'gated']);
  expect(await line()).toMatchObject({ state: 'stopped', drifts: 3 });
});

describe('a start by a person through the API', () => {
  /** The API of the bench, with a key for it. */
  async function startApi() {
    const { database, clock } = bench;
    const api = await startTestApi({ database, now: () => clock.now });
    onTestFinished(() => api[Symbol.asyncDispose]());
    return newKey({ baseUrl: api.baseUrl, database });
  }

  it('lets one order go, and repeated with its key gives the first answer and lets no second one go', async () => {
    const { client } = await startApi();
    const start = (headers: Record<string, string>) =>
      client.delete('/v1/purchase-gate/drift-stops/order?reason=Repaired.', { headers });
    await misstateDeliveries();
    for (const product of [A, B]) await buyNew(product);
    const [first, second] = [await bench.begin(C), await bench.begin(C)];
    for (const ref of [first, second]) expect(await buy(ref)).toBe('gated');
    await bench.admin.calm();
    await bench.admin.nextPurchases({ outcome: 'processing_then_completed', delay_ms: 3_600_000 });
    expect((await start({})).at('code')).toBe('idempotency_key_missing');
    expect([(await line())?.state, await look()]).toEqual(['stopped', []]);

    const started = await start({ 'Idempotency-Key': 'start-1' });
    expect([started.status, started.at('state')]).toEqual([200, 'proving']);
    expect(await look()).toEqual([first.work.id]);
    expect(await send(first)).toMatchObject({ kind: 'accepted' });
    const canary = await line();
    expect(canary).toMatchObject({ state: 'proving', canaries: [{ id: first.work.id, sentAt: bench.clock.now }] });
    const again = await start({ 'Idempotency-Key': 'start-1' });
    expect([again.status, again.text]).toEqual([200, started.text]);
    expect(again.headers.get('idempotent-replayed')).toBe('true');
    expect(await line()).toEqual(canary);
    expect([await look(), await buy(second)]).toEqual([[], 'gated']);
    // With another key it is another decision.
    await start({ 'Idempotency-Key': 'start-2' });
    expect(await look()).toEqual([second.work.id]);
  });

  it('is made by `reseller gate release`', async () => {
    const { key, client } = await startApi();
    await bench.database.transaction((tx) => proveAfterDocument(tx, 'order', bench.clock.now));
    const output = captured();
    const write = vi.spyOn(process.stdout, 'write').mockImplementation(output.write);
    onTestFinished(() => write.mockRestore());
    const options = { api: client.baseUrl, reason: 'The shop is open.' };
    await releasePurchases('drift:order', options, { RESELLER_API_KEY: key });
    expect(output.text()).toContain('One order at a time goes first');
    expect(await line()).toMatchObject({ state: 'proving', isStarted: true });
  });
});

describe('a delivery that the service does not have yet', () => {
  const body = '{"error":{"code":"not_found","message":"No such eSIM."}}';
  const HTML = { ...JSON_ANSWER, headers: { 'content-type': 'text/html' }, body: '<h1>Moved</h1>' } as const;

  it.each([
    ['a 404 with a code', { ...JSON_ANSWER, status: 404, body }],
    ['a page of HTML', HTML],
  ] as const)('is drift after five minutes, or twice the longest fill: %s', async (_what, notThere) => {
    await bench.admin.onRequest('getEsim', notThere, { count: null });
    const slow = await bench.begin(A);
    expect(await buy(slow)).toBe('not_yet');
    later(bench.gate.unfilledMs - 1);
    expect(await read(slow)).toBe('not_yet');
    expect((await line())?.state ?? 'open').toBe('open');
    await bench.admin.calm();
    expect(await read(slow)).toBe('completed');
    await look();
    expect(await line()).toMatchObject({ state: 'open', longestFillMs: bench.gate.unfilledMs - 1 });

    await bench.admin.onRequest('getEsim', notThere, { count: null });
    const missing = await bench.begin(A);
    await buy(missing);
    later(bench.gate.unfilledMs);
    await read(missing);
    expect((await line())?.state).toBe('open');
    later(bench.gate.unfilledMs);
    await read(missing);
    expect(await line()).toMatchObject({ state: 'proving', stoppedProducts: [A] });
  });
});

it('a record that names an accepted purchase and cannot be read is drift', async () => {
  await bench.admin.nextPurchases({ outcome: 'processing_then_completed', delay_ms: 3_600_000 });
  const order = await bench.begin(A);
  await bench.activities.sendPurchase(order);
  const { serviceId } = await bench.attempt(order);
  const body = JSON.stringify({ number: serviceId, status: 'done' });
  await bench.admin.onRequest('getOrder', { ...JSON_ANSWER, body });
  expect(await bench.activities.lookUpPurchase(order)).toMatchObject({ kind: 'unavailable' });
  expect(await line()).toMatchObject({ state: 'proving', stoppedProducts: [A] });
});
