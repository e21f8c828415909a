/** At most one send at a time, with any clocks, pauses and workers. None after an operator revoked resends. */
import { eq } from 'drizzle-orm';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createWorkActivities } from '#activities/work/work-activities.ts';
import { attempts, orders, topups } from '#db/schema.ts';
import type { AttemptRef, PurchaseActivities } from '#domain/purchase/results.ts';
import { WORK_KINDS } from '#domain/work/kinds.ts';
import type { WorkDependencies } from '#fulfilment/purchase/dependencies.ts';
import { waitFor } from '#test/support/wait-for.ts';
import { ActivityBench } from '#test/support/work/activities/activity-bench.ts';

const WINDOW = 600_000;
let bench: ActivityBench;
beforeEach(async () => {
  bench = await ActivityBench.start();
});
afterEach(async () => {
  vi.restoreAllMocks();
  await bench[Symbol.asyncDispose]();
});

/** The activities of another worker on the same database. */
const otherWorker = (more: Partial<WorkDependencies>): PurchaseActivities =>
  createWorkActivities({ ...bench.dependencies, ...more });
const send = (ref: AttemptRef, by = bench.activities as PurchaseActivities) =>
  by.sendPurchase({ ...ref, resendWindowMs: WINDOW });
const outcomeOf = async (ref: AttemptRef, by?: PurchaseActivities) => (await send(ref, by)).outcome;
const sent = () => bench.admin.requests('createOrder');

describe('two workers with different clocks', () => {
  it.each([
    ['an hour ahead', 3_600_000],
    ['an hour behind', -3_600_000],
  ])('never send concurrently when the second is %s', async (_how, byMs) => {
    await bench.admin.onRequest('createOrder', { kind: 'latency', ms: 2_000, at: 'answer' });
    const ref = await bench.begin();
    const second = otherWorker({ now: () => bench.clock.now + byMs });
    const sending = send(ref);
    await waitFor('the first is sending', async () => (await sent()).length === 1);
    expect(await outcomeOf(ref, second)).toMatchObject({ kind: 'lease_held', retryAfterMs: 30_000 });
    expect(await sending).toMatchObject({ outcome: { kind: 'accepted' } });
    expect(await sent()).toHaveLength(1);
  });

  it('resend only within the window by the clock of the database', async () => {
    await bench.admin.onRequest('createOrder', { kind: 'accepted_but_answer_lost' });
    const ref = await bench.begin();
    const slow = otherWorker({ now: () => bench.clock.now - 3_600_000 });
    await send(ref, slow);
    expect((await bench.attempt(ref)).firstUnrefusedSendAt).toEqual(new Date(bench.clock.now));
    await bench.pass(WINDOW + 1);
    expect(await outcomeOf(ref)).toMatchObject({ kind: 'too_late' });
    expect(await outcomeOf(ref, slow)).toMatchObject({ kind: 'too_late' });
    expect(await sent()).toHaveLength(1);
  });
});

describe('a worker suspended between claim and request', () => {
  const clock = { now: 0 };
  /** Runs `happens` after the commit of the claim and before the request. */
  const afterTheClaim = (happens: () => Promise<unknown> | void, looksAtItsLease = true): WorkDependencies => {
    const service = { ...bench.service };
    service.createOrder = async (order) => {
      await happens();
      return bench.service.createOrder(looksAtItsLease ? order : { ...order, leaseLeftMs: () => Infinity });
    };
    return { ...bench.dependencies, service, monotonicNow: () => clock.now };
  };

  /** Is suspended beyond its lease. Meanwhile another worker sends, and the answer is lost. */
  const overtaken = async (ref: AttemptRef, looksAtItsLease = true) => {
    await bench.admin.onRequest('createOrder', { kind: 'accepted_but_answer_lost' });
    const meanwhile = async () => {
      clock.now += 31_000;
      await bench.pass(31_000);
      await send(ref);
    };
    return createWorkActivities(afterTheClaim(meanwhile, looksAtItsLease));
  };

  it('beyond its lease sends nothing and reports it, so the attempt can be sent again at once', async () => {
    const ref = await bench.begin();
    const stalled = createWorkActivities(afterTheClaim(() => void (clock.now += 27_000)));
    expect(await send(ref, stalled)).toMatchObject({
      outcome: { kind: 'failure', failure: 'not_sent' },
      detail: expect.stringContaining('was suspended'),
    });
    const unsent = { state: 'refused', anyUnknown: false, leaseToken: null, firstUnrefusedSendAt: null };
    expect(await bench.attempt(ref)).toMatchObject(unsent);
    expect(await sent()).toEqual([]);
    expect(await outcomeOf(ref)).toMatchObject({ kind: 'accepted' });
    expect(await sent()).toHaveLength(1);
  });

  it('by a sleeping machine, which stops its monotonic clock too, sends nothing', async () => {
    const ref = await bench.begin();
    const slept = afterTheClaim(() => void (bench.clock.now += 27_000));
    const stalled = createWorkActivities({ ...slept, monotonicNow: () => 0 });
    expect(await outcomeOf(ref, stalled)).toMatchObject({ failure: 'not_sent' });
    expect(await sent()).toEqual([]);
  });

  it('until another worker has sent neither sends again nor changes the stored result', async () => {
    const ref = await bench.begin();
    const stalled = await overtaken(ref);
    expect(await send(ref, stalled)).toMatchObject({ attempt: { state: 'unknown', history: { anyUnknown: true } } });
    const unknown = { state: 'unknown', anyUnknown: true, sends: 2, failureClass: 'connection_lost' };
    expect(await bench.attempt(ref)).toMatchObject(unknown);
    expect(await sent()).toHaveLength(1);
  });

  it('would send a second time without the check of its lease', async () => {
    const ref = await bench.begin();
    await send(ref, await overtaken(ref, false));
    expect(await sent()).toHaveLength(2);
  });

  it('measures its lease from before the claim, so time spent waiting for PostgreSQL counts', async () => {
    const ref = await bench.begin();
    const transaction = bench.database.transaction.bind(bench.database);
    vi.spyOn(bench.database, 'transaction').mockImplementation(async (work) => {
      const result = await transaction(work);
      if ((await bench.attempt(ref)).leaseToken !== null) {
        vi.restoreAllMocks();
        // The commit took this long.
        clock.now += 27_000;
      }
      return result;
    });
    const slow = createWorkActivities({ ...bench.dependencies, monotonicNow: () => clock.now });
    expect(await outcomeOf(ref, slow)).toMatchObject({ failure: 'not_sent' });
    expect(await sent()).toEqual([]);
  });
});

describe('a change of the policy by an operator', () => {
  it('stops resends of a possible purchase, also with an older policy in its workflow', async () => {
    const ref = await bench.begin();
    await bench.admin.onRequest('createOrder', { kind: 'accepted_but_answer_lost' });
    await send(ref);
    bench.purchaseInForce.resendAllowed = false;
    expect(await outcomeOf(ref)).toMatchObject({ kind: 'resend_not_allowed' });
    expect(await sent()).toHaveLength(1);
    bench.purchaseInForce.resendAllowed = true;
    expect(await outcomeOf(ref)).toMatchObject({ kind: 'accepted' });
  });

  it('does not stop the send of an attempt that bought nothing', async () => {
    const ref = await bench.begin();
    bench.purchaseInForce.resendAllowed = false;
    expect(await outcomeOf(ref)).toMatchObject({ kind: 'accepted' });
  });

  it('shortens the resend window of running work, and never lengthens it', async () => {
    const ref = await bench.begin();
    await bench.admin.onRequest('createOrder', { kind: 'accepted_but_answer_lost' });
    await send(ref);
    await bench.pass(31_000);
    bench.purchaseInForce.resendWindowMs = 30_000;
    expect(await outcomeOf(ref)).toMatchObject({ kind: 'too_late' });
    bench.purchaseInForce.resendWindowMs = WINDOW;
    const { outcome } = await bench.activities.sendPurchase({ ...ref, resendWindowMs: 30_000 });
    expect(outcome).toMatchObject({ kind: 'too_late' });
  });

  it('stops new attempts, except one that an operator grants for this work', async () => {
    const ref = await bench.begin();
    const { work } = ref;
    await bench.settle(ref);
    bench.purchaseInForce.maxAttempts = 1;
    const next = () => bench.activities.openNextAttempt({ work, number: 2 });
    expect(await next()).toEqual({ kind: 'not_allowed', attempts: 1 });
    await bench.database.run((db) => db.update(orders).set({ extraAttempts: 1 }).where(eq(orders.id, work.id)));
    expect(await next()).toMatchObject({ kind: 'opened', attempt: { number: 2 } });
    // An existing attempt remains.
    await bench.database.run((db) => db.update(orders).set({ extraAttempts: 0 }).where(eq(orders.id, work.id)));
    expect(await next()).toMatchObject({ kind: 'opened' });
  });
});

describe('an attempt with a lost row', () => {
  it.each(WORK_KINDS)('of work of the kind %s is opened again with the same key, reference and bytes', async (kind) => {
    const ref = await bench.beginOf(kind);
    await bench.settle(ref);
    await bench.activities.openNextAttempt({ work: ref.work, number: 2 });
    const ofWork = eq(attempts.subjectId, ref.work.id);
    const read = () =>
      bench.database.run(async (db) => {
        const rows = await db.select().from(attempts).where(ofWork).orderBy(attempts.number);
        return rows.map(({ id, number, idempotencyKey, reference, serviceEsimId, encryptedRequestBody }) => {
          const body = bench.keyRing.decryptText(encryptedRequestBody, `attempts.encrypted_request_body/${id}`);
          return { number, idempotencyKey, reference, serviceEsimId, body };
        });
      });
    const before = await read();
    expect(new Set(before.map(({ idempotencyKey }) => idempotencyKey)).size).toBe(2);
    await bench.database.run((db) => db.delete(attempts).where(ofWork));
    const { attempt } = await bench.activities.beginWork({ work: ref.work });
    await bench.settle({ ...ref, attemptId: attempt.id });
    await bench.activities.openNextAttempt({ work: ref.work, number: 2 });
    expect(await read()).toEqual(before);
  });

  it('does not buy a second time, because the service knows its key', async () => {
    const ref = await bench.beginTopup();
    await bench.activities.sendPurchase(ref);
    const ledger = await bench.admin.ledger();
    // PostgreSQL has lost its last commits and with them the attempt.
    await bench.database.run((db) => db.delete(attempts).where(eq(attempts.subjectId, ref.work.id)));
    await bench.database.run((db) => db.update(topups).set({ status: 'accepted' }).where(eq(topups.id, ref.work.id)));
    const { attempt } = await bench.activities.beginWork({ work: ref.work });
    const { outcome } = await bench.activities.sendPurchase({ work: ref.work, attemptId: attempt.id });
    expect(outcome).toMatchObject({ kind: 'accepted' });
    expect(await bench.admin.ledger()).toEqual(ledger);
    expect(await bench.admin.requests('createTopup')).toHaveLength(2);
  });
});
