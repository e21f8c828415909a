import { asc, eq, sql } from 'drizzle-orm';
import pg from 'pg';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { AttemptRef } from '#activities/work/work-types.ts';
import { addApiKey } from '#db/access/api-keys.ts';
import { listCircuits } from '#db/gate/circuits.ts';
import { readGate } from '#db/gate/gate-overview.ts';
import { apiKeys, attempts, events, gateReservations, gateWaits, outbox, timeline } from '#db/schema.ts';
import { addPause, releasePause } from '#fulfilment/gate/pauses.ts';
import { releaseHeldWork } from '#fulfilment/gate/release-held-work.ts';
import { actOnWork } from '#fulfilment/operator/operator-actions.ts';
import { ActivityBench } from '#test/support/work/activities/activity-bench.ts';

/** The purchase gate on a real database and a real simulator, with the clock of the test. */
let bench: ActivityBench;

/** The price of package 1001 at the simulator. */
const PRICE = '2.40';
const NOT_APPROVED = {
  kind: 'answer',
  status: 403,
  body: '{"error":{"code":"not_approved","message":"Not approved."}}',
} as const;

beforeEach(async () => {
  bench = await ActivityBench.start();
});
afterEach(async () => {
  await bench[Symbol.asyncDispose]();
});

const send = async (ref: AttemptRef) =>
  (await bench.activities.sendPurchase({ ...ref, resendWindowMs: 600_000 })).outcome;
const sends = async () => (await bench.admin.requests('createOrder')).length;
/** Advances the clock. */
const later = (ms: number) => (bench.clock.now += ms);
const look = async () => {
  const found = await bench.database.transaction((tx) => releaseHeldWork(tx, bench.clock.now, bench.gate));
  return found?.woken.map(({ id }) => id) ?? [];
};
const circuit = async (name: string) =>
  (await bench.database.run(listCircuits)).find((row) => row.name === name)?.state ?? 'closed';
/** The SQL of a call of the driver. */
function textOf(call: unknown): string {
  if (typeof call === 'string') return call;
  return typeof call === 'object' && call !== null && 'text' in call ? String(call.text) : '';
}

/** Orders accepted one second apart. */
async function begin(count: number): Promise<AttemptRef[]> {
  const refs: AttemptRef[] = [];
  for (let n = 0; n < count; n += 1) {
    refs.push(await bench.begin());
    later(1_000);
  }
  return refs;
}
/** Starts a simulator with this balance. */
async function balanceOf(amount: number): Promise<void> {
  await bench[Symbol.asyncDispose]();
  bench = await ActivityBench.start({ sandboxBalance: amount.toFixed(2) });
}

describe('the wallet balance', () => {
  it('is reserved once per order by ten concurrent orders, and the rest is held without a call', async () => {
    await balanceOf(4 * 2.4 + 1);
    await bench.admin.nextPurchases({ outcome: 'stay_processing', count: 20 });
    const outcomes = await Promise.all((await begin(10)).map(send));
    expect(outcomes.filter(({ kind }) => kind === 'accepted')).toHaveLength(4);
    const held = outcomes.filter((outcome) => outcome.kind === 'gated');
    expect(held).toHaveLength(6);
    expect(held[0]).toMatchObject({
      failure: 'insufficient_balance',
      detail: expect.stringContaining(`The price is ${PRICE} USD`),
    });
    expect(await sends()).toBe(4);
  });

  it('counts a debit exactly once after the next reading', async () => {
    await balanceOf(2 * 2.4);
    const [first, second, third] = await begin(3);
    expect(await send(first!)).toMatchObject({ kind: 'accepted' });
    await bench.activities.completePurchase({ ...first!, applied: [] });
    // The reading precedes the debit, so the money is still reserved.
    const before = await bench.database.run((db) => readGate(db, undefined, bench.clock.now));
    expect(before.wallet).toMatchObject({ balance: { amount: '4.800000' }, reserved: { amount: '2.400000' } });
    // A new reading contains the debit, so it is not subtracted again.
    later(bench.gate.debitShowsAfterMs + bench.gate.balanceAgeMs);
    expect(await send(second!)).toMatchObject({ kind: 'accepted' });
    const after = await bench.database.run((db) => readGate(db, undefined, bench.clock.now));
    expect(after.wallet).toMatchObject({ balance: { amount: '2.400000' }, reserved: { amount: '2.400000' } });
    expect(await send(third!)).toMatchObject({ kind: 'gated', failure: 'insufficient_balance' });
    expect(await sends()).toBe(2);
  });

  it('is released to other orders when the service refuses the purchase', async () => {
    await balanceOf(2.4);
    await bench.admin.onRequest('createOrder', { kind: 'rate_limited', retry_after: 1 });
    const [first, second] = await begin(2);
    expect(await send(first!)).toMatchObject({ kind: 'failure', failure: 'rate_limited' });
    expect(await send(second!)).toMatchObject({ kind: 'accepted' });
  });

  it('stays reserved while the outcome of a purchase is unknown, and a resend reserves nothing more', async () => {
    await balanceOf(2.4);
    await bench.admin.onRequest('createOrder', { kind: 'accepted_but_answer_lost' });
    const [first, second] = await begin(2);
    expect(await send(first!)).toMatchObject({ kind: 'failure' });
    expect(await send(second!)).toMatchObject({ kind: 'gated', failure: 'insufficient_balance' });
    expect(await send(first!)).toMatchObject({ kind: 'accepted' });
    const rows = await bench.database.run((db) => db.select().from(gateReservations));
    expect(rows).toHaveLength(1);
  });

  it('keeps other claims waiting for two statements and the commit', async () => {
    const [ref] = await begin(1);
    const query = vi.spyOn(pg.Client.prototype, 'query');
    expect(await send(ref!)).toMatchObject({ kind: 'accepted' });
    const texts = query.mock.calls.map(([call]) => textOf(call));
    query.mockRestore();
    const locked = texts.findLastIndex((text) => text.includes('purchase_gate.account'));
    expect(texts.slice(locked + 1, texts.indexOf('COMMIT', locked))).toEqual([
      expect.stringMatching(/^select\s[^;]* from "gate_reserved"/),
      expect.stringMatching(/^insert into "gate_reservations"/),
    ]);
  });

  it('releases the oldest orders that a deposit covers, before their timers', async () => {
    await balanceOf(0);
    const refs = await begin(3);
    for (const ref of refs) expect(await send(ref)).toMatchObject({ kind: 'gated', failure: 'insufficient_balance' });
    expect(await look()).toEqual([]);
    await bench.admin.deposit('5.00');
    later(bench.gate.balanceAgeMs + 1);
    await bench.wallet.refresh();
    bench.gate.releasesPerSecond = 50;
    expect(await look()).toEqual([refs[0]!.work.id]);
    later(1_000);
    expect(await send(refs[0]!)).toMatchObject({ kind: 'accepted' });
    expect(await look()).toEqual([refs[1]!.work.id]);
    expect(await sends()).toBe(1);
  });

  it('blocks no purchase when it is unreadable, and the timeline records the missing reservation', async () => {
    await bench.admin.onRequest('getWallet', { kind: 'server_error' }, { count: null });
    const [ref] = await begin(1);
    expect(await send(ref!)).toMatchObject({ kind: 'accepted' });
    const entries = await bench.database.run((db) =>
      db.select().from(timeline).where(eq(timeline.event, 'attempt.accepted')),
    );
    expect(entries[0]?.detail).toMatchObject({ reservation: 'balance_unknown' });
  });

  it('below a threshold is announced once, and so is its recovery', async () => {
    await balanceOf(9);
    bench.gate.lowBalance = { amount: '10.00', currency: 'USD' };
    await bench.wallet.refresh();
    await bench.wallet.refresh();
    await bench.admin.deposit('50.00');
    await bench.wallet.refresh();
    expect(bench.crossings).toEqual(['low', 'well']);
    const announced = await bench.database.run((db) =>
      db.select().from(events).where(eq(events.subjectKind, 'wallet')).orderBy(events.sequence),
    );
    expect(announced).toMatchObject([
      {
        type: 'wallet.balance_low',
        apiKeyId: null,
        data: { balance: { amount: '9.00', currency: 'USD' }, threshold: { amount: '10.00', currency: 'USD' } },
      },
      { type: 'wallet.balance_restored', apiKeyId: null, data: { balance: { amount: '59.00', currency: 'USD' } } },
    ]);
  });
});

describe('a daily spend limit', () => {
  it('of all keys holds further orders until the next day', async () => {
    bench.gate.spendLimit = { amount: '5.00', currency: 'USD' };
    const refs = await begin(3);
    const outcomes = await Promise.all(refs.map(send));
    expect(outcomes.map(({ kind }) => kind).toSorted()).toEqual(['accepted', 'accepted', 'gated']);
    const held = outcomes.findIndex(({ kind }) => kind === 'gated');
    expect(outcomes[held]).toMatchObject({
      failure: 'spend_limit_reached',
      detail: expect.stringContaining('4.80 USD are spent'),
    });
    expect(await look()).toEqual([]);
    later(24 * 3_600_000);
    expect(await look()).toEqual([refs[held]!.work.id]);
    expect(await send(refs[held]!)).toMatchObject({ kind: 'accepted' });
    expect(await sends()).toBe(3);
  });

  it('of an API key holds only the work of that key, and releases it when the limit is raised', async () => {
    const limited = {
      name: 'shop',
      prefix: 'limited',
      hash: Buffer.alloc(32),
      scopes: [],
      spendLimit: { amount: '1.00', currency: 'USD' },
    };
    const id = await bench.database.run((db) => addApiKey(db, limited));
    const [other, own] = [await bench.begin(), await bench.begin(1001, id)];
    expect(await send(other)).toMatchObject({ kind: 'accepted' });
    expect(await send(own)).toMatchObject({
      kind: 'gated',
      failure: 'spend_limit_reached',
      detail: expect.stringContaining('of this API key'),
    });
    await bench.database.run((db) => db.update(apiKeys).set({ spendLimitAmount: '3.00' }).where(eq(apiKeys.id, id)));
    expect(await look()).toEqual([own.work.id]);
    expect(await send(own)).toMatchObject({ kind: 'accepted' });
  });
});

describe('a circuit', () => {
  /** Three purchases fail and open the circuit. It holds the fourth and fifth. */
  async function open(): Promise<AttemptRef[]> {
    await bench.admin.onRequest('createOrder', { kind: 'rate_limited', retry_after: 1 }, { count: 3 });
    const refs = await begin(5);
    for (const ref of refs.slice(0, 3))
      expect(await send(ref)).toMatchObject({ kind: 'failure', failure: 'rate_limited' });
    expect(await circuit('rate_limited')).toBe('open');
    for (const ref of refs.slice(3)) expect(await send(ref)).toMatchObject({ kind: 'gated', failure: 'rate_limited' });
    expect(await sends()).toBe(3);
    return refs;
  }
  const ids = (refs: readonly AttemptRef[]) => refs.map(({ work }) => work.id);

  it('opens after consecutive failures, holds other orders without a call, and lets one canary test', async () => {
    const refs = await open();
    expect(await look()).toEqual([]);
    later(bench.gate.probeDelayMs * 2);
    // The third one opened the circuit and is held there.
    expect(await look()).toEqual([refs[2]!.work.id]);
    expect(await circuit('rate_limited')).toBe('probing');
    expect(await look()).toEqual([]);
    expect(await sends()).toBe(3);
  });

  it('closes when the canary succeeds, and releases the rest at the configured rate, oldest first', async () => {
    bench.gate.releasesPerSecond = 1;
    const refs = await open();
    later(bench.gate.probeDelayMaxMs * 2);
    const [canary] = await look();
    expect(canary).toBe(refs[2]!.work.id);
    // Only the canary passes; every other purchase is held.
    expect(await send(refs[3]!)).toMatchObject({ kind: 'gated' });
    expect(await send(refs[2]!)).toMatchObject({ kind: 'accepted' });
    expect(await circuit('rate_limited')).toBe('releasing');
    // A new order does not wait behind them. A held one waits for its turn.
    expect(await send((await begin(1))[0]!)).toMatchObject({ kind: 'accepted' });
    expect(await send(refs[4]!)).toMatchObject({ kind: 'gated' });
    const order = await look();
    expect(await look()).toEqual([]);
    later(1_000);
    order.push(...(await look()));
    expect(order).toEqual(ids(refs.slice(3)));
    later(1_000);
    await look();
    expect(await circuit('rate_limited')).toBe('closed');
    expect(await send(refs[4]!)).toMatchObject({ kind: 'accepted' });
  });

  it('opens again when the canary fails, and tries another canary next', async () => {
    const refs = await open();
    later(bench.gate.probeDelayMaxMs * 2);
    expect(await look()).toEqual([refs[2]!.work.id]);
    await bench.admin.onRequest('createOrder', { kind: 'rate_limited', retry_after: 1 });
    expect(await send(refs[2]!)).toMatchObject({ kind: 'failure' });
    expect(await circuit('rate_limited')).toBe('open');
    expect(await look()).toEqual([]);
    later(bench.gate.probeDelayMaxMs * 2);
    expect(await look()).toEqual([refs[3]!.work.id]);
  });

  it('replaces a canary without a result after its lease', async () => {
    const refs = await open();
    later(bench.gate.probeDelayMaxMs * 2);
    expect(await look()).toEqual([refs[2]!.work.id]);
    later(bench.gate.canaryLeaseMs + 1);
    expect(await look()).toEqual([]);
    later(bench.gate.probeDelayMaxMs);
    expect(await look()).toEqual([refs[3]!.work.id]);
  });

  it('opens at once when the service has not approved the account', async () => {
    await bench.admin.onRequest('createOrder', NOT_APPROVED);
    const [first, second] = await begin(2);
    expect(await send(first!)).toMatchObject({ kind: 'failure', failure: 'not_approved' });
    expect(await send(second!)).toMatchObject({ kind: 'gated', failure: 'not_approved' });
    expect(await sends()).toBe(1);
  });

  it('of a service outage never fails a possible purchase, and only delays its resend', async () => {
    await bench.admin.onRequest('createOrder', { kind: 'server_error' }, { count: 3 });
    const refs = await begin(4);
    for (const ref of refs.slice(0, 3)) await send(ref);
    expect(await circuit('service_down')).toBe('open');
    expect(await send(refs[0]!)).toMatchObject({ kind: 'gated', failure: 'service_down' });
    const [row] = await bench.database.run((db) =>
      db.select().from(attempts).where(eq(attempts.id, refs[0]!.attemptId)),
    );
    expect(row).toMatchObject({ state: 'unknown', anyUnknown: true });
    expect(await sends()).toBe(3);
  });
});

it('the release of held work reads some of each queue, however long it is', async () => {
  const plan = await bench.database.transaction(async (tx) => {
    for (const each of ['seqscan', 'sort', 'bitmapscan']) await tx.execute(`set local enable_${each} = off`);
    const queue = tx
      .select()
      .from(gateWaits)
      .where(eq(gateWaits.barrier, 'wallet'))
      .orderBy(asc(gateWaits.acceptedAt), asc(gateWaits.subjectId));
    return JSON.stringify((await tx.execute(sql`explain ${queue.getSQL()}`)).rows);
  });
  expect(plan).toContain(' using gate_waits_oldest ');
});

describe('a pause', () => {
  const pause = async (kind: 'order' | null, failureClass: 'package_unavailable' | null) =>
    (
      await bench.database.transaction((tx) =>
        addPause(
          tx,
          { origin: 'operator', kind, failureClass, reason: 'Stock-taking.', actor: 'key_ada' },
          new Date(bench.clock.now),
        ),
      )
    ).pause;
  const end = async (id: string) =>
    bench.database.transaction((tx) =>
      releasePause(tx, id, { actor: 'key_ada', reason: 'Done.' }, new Date(bench.clock.now)),
    );

  it('of all buying holds orders with its id in the reason, and its release continues them', async () => {
    const { id } = await pause(null, null);
    const [ref] = await begin(1);
    expect(await send(ref!)).toMatchObject({
      kind: 'gated',
      failure: 'purchases_paused',
      detail: expect.stringContaining(id),
    });
    expect(await look()).toEqual([]);
    await end(id);
    expect(await look()).toEqual([ref!.work.id]);
    expect(await send(ref!)).toMatchObject({ kind: 'accepted' });
  });

  it('by failure class holds only work stopped by that class, and exists once', async () => {
    const { id } = await pause(null, 'package_unavailable');
    expect((await pause(null, 'package_unavailable')).id).toBe(id);
    await bench.admin.setPackage(1001, { available: false });
    const [ref] = await begin(1);
    expect(await send(ref!)).toMatchObject({ kind: 'failure', failure: 'package_unavailable' });
    await bench.admin.setPackage(1001, { available: true });
    expect(await send(ref!)).toMatchObject({ kind: 'gated', failure: 'purchases_paused' });
    expect(await send((await begin(1))[0]!)).toMatchObject({ kind: 'accepted' });
  });

  it('of one kind does not affect other kinds', async () => {
    await pause('order', null);
    expect(await send(await bench.beginSubscription())).toMatchObject({ kind: 'accepted' });
    expect(await send((await begin(1))[0]!)).toMatchObject({ kind: 'gated' });
  });

  it('is passed once by work that an operator releases, and a second release changes nothing', async () => {
    await pause(null, null);
    const [ref] = await begin(1);
    await send(ref!);
    await bench.hold(ref!);
    const release = (actionId: string) =>
      bench.database.transaction((tx) =>
        actOnWork(
          tx,
          ref!.work,
          { action: 'release' },
          { actor: 'key_ada', reason: 'Urgent.', actionId },
          new Date(bench.clock.now),
        ),
      );
    expect([await release('1'), await release('1'), await release('2')]).toEqual([
      { kind: 'applied' },
      { kind: 'unchanged' },
      { kind: 'unchanged' },
    ]);
    expect(await send(ref!)).toMatchObject({ kind: 'accepted' });
    expect(await release('3')).toMatchObject({ kind: 'refused', refusal: 'not_held' });
    expect(await send((await begin(1))[0]!)).toMatchObject({ kind: 'gated' });
  });
});

describe('a release by an operator', () => {
  it('does not bypass the wallet check', async () => {
    await balanceOf(1);
    const [ref] = await begin(1);
    await send(ref!);
    await bench.hold(ref!);
    await bench.database.transaction((tx) =>
      actOnWork(
        tx,
        ref!.work,
        { action: 'release' },
        { actor: 'key_ada', reason: 'Urgent.', actionId: '1' },
        new Date(bench.clock.now),
      ),
    );
    expect(await send(ref!)).toMatchObject({ kind: 'gated', failure: 'insufficient_balance' });
    expect(await sends()).toBe(0);
  });

  it('at an open circuit makes the work the canary', async () => {
    await bench.admin.onRequest('createOrder', NOT_APPROVED);
    const [first, second] = await begin(2);
    await send(first!);
    await send(second!);
    await bench.hold(second!);
    await bench.database.transaction((tx) =>
      actOnWork(
        tx,
        second!.work,
        { action: 'release' },
        { actor: 'key_ada', reason: 'Approved now.', actionId: '1' },
        new Date(bench.clock.now),
      ),
    );
    expect(await send(second!)).toMatchObject({ kind: 'accepted' });
    expect(await circuit('not_approved')).toBe('releasing');
    expect(await look()).toEqual([first!.work.id]);
  });
});

it('released work is woken by the outbox, so the death of a process does not lose the wake', async () => {
  const { pause } = await bench.database.transaction((tx) =>
    addPause(
      tx,
      { origin: 'operator', kind: null, failureClass: null, reason: 'Stock-taking.', actor: 'key_ada' },
      new Date(bench.clock.now),
    ),
  );
  const [ref] = await begin(1);
  await send(ref!);
  await bench.database.transaction((tx) =>
    releasePause(tx, pause.id, { actor: 'key_ada', reason: 'Done.' }, new Date(bench.clock.now)),
  );
  await look();
  const rows = await bench.database.run((db) =>
    db.select().from(outbox).where(eq(outbox.topic, 'wake_work')).orderBy(asc(outbox.id)),
  );
  expect(rows.map(({ subjectId }) => subjectId)).toEqual([ref!.work.id]);
});
