import { eq, isNull } from 'drizzle-orm';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { inboxKey } from '#db/queues/inbox.ts';
import { attempts, cancellations, cases, esims, inbox, orderBatches, orders, topups } from '#db/schema.ts';
import { openCase } from '#db/work/cases.ts';
import { recordReport } from '#fulfilment/attempts/report.ts';
import { ActivityBench } from '#test/support/work/activities/activity-bench.ts';
import { step } from '#test/support/work/activities/steps.ts';
import { deliverTestEvent } from '#test/support/work/order-rows.ts';
import { WORK_FINISHED } from '#workflows/messages.ts';

/** Concurrent changes by late workers, operators, and other work of the same eSIM. */
let bench: ActivityBench;
beforeEach(async () => {
  bench = await ActivityBench.start();
  return () => bench[Symbol.asyncDispose]();
});

/** Runs `happens` after all reads and before the claim. @param nth transaction of the activity, which claims. */
function justBeforeTheClaim(nth: number, happens: () => Promise<unknown>): void {
  const transaction = bench.database.transaction.bind(bench.database);
  let begun = 0;
  vi.spyOn(bench.database, 'transaction').mockImplementation(async (work) => {
    begun += 1;
    if (begun === nth) await happens();
    return transaction(work);
  });
}

it('a late report about an active subscription does not return it to a state that cannot be cancelled', async () => {
  const ref = await bench.beginSubscription();
  await bench.buy(ref);
  expect((await bench.row(ref)).status).toBe('active');
  expect(await bench.activities.lookUpPurchase(ref)).toMatchObject({ kind: 'found' });
  expect((await bench.row(ref)).status).toBe('active');
});

describe('the verdict bought', () => {
  it('leads to a new wallet check when the service then reports a failure', async () => {
    const ref = await bench.begin(1001);
    await bench.settle(ref);
    await bench.database.run((db) => db.update(attempts).set({ failureClass: 'supplier_failed' }));
    await bench.database.run((db) => openCase(db, ref.work, 'contradiction', 'It says otherwise.', ref.attemptId));
    const action = { action: 'resolve', reason: 'contradiction', verdict: 'bought', serviceId: 'so_1' } as const;
    expect(await bench.act(ref, action)).toBe('applied');
    expect(await bench.attempt(ref)).toMatchObject({ state: 'unknown', settled: false });
  });

  it('with a mistyped id of the service leads to no report and no contradiction until the id is right', async () => {
    const ref = await bench.begin(1001);
    await bench.admin.onRequest('createOrder', { kind: 'accepted_but_answer_lost' });
    await bench.activities.sendPurchase(ref);
    const { reference } = await bench.attempt(ref);
    const [sold] = await bench.admin.orders(reference!);
    const bought = async (serviceId: string) => {
      await bench.database.run((db) => openCase(db, ref.work, 'outcome_unknown', 'Who knows.', ref.attemptId));
      await bench.act(ref, { action: 'resolve', reason: 'outcome_unknown', verdict: 'bought', serviceId });
    };
    await bought('so_mistyped');
    const before = await bench.attempt(ref);
    for (let nth = 1; nth <= 2; nth += 1)
      expect(await bench.activities.lookUpPurchase(ref)).toEqual({
        kind: 'unavailable',
        failure: {
          class: 'contract_drift',
          detail: `The service gives one attempt two ids: so_mistyped and ${sold!.id}.`,
        },
      });
    expect(await bench.attempt(ref)).toEqual(before);
    const open = await bench.database.run((db) => db.select().from(cases).where(isNull(cases.closedAt)));
    expect(open.map(({ reason }) => reason)).toEqual([]);
    await bought(sold!.id);
    expect(await bench.activities.lookUpPurchase(ref)).toEqual({ kind: 'found', outcome: 'completed' });
  });

  it('about an earlier attempt bars a later one that was never sent, until the wallet has shown its cost again', async () => {
    const ref = await bench.begin(1001);
    await bench.settle(ref);
    const opened = await bench.activities.openNextAttempt({ work: ref.work, number: 2 });
    const second = { work: ref.work, attemptId: opened.kind === 'opened' ? opened.attempt.id : '' };
    await bench.database.run((db) => openCase(db, ref.work, 'contradiction', 'It says otherwise.', ref.attemptId));
    const action = { action: 'resolve', reason: 'contradiction', verdict: 'bought', serviceId: 'so_1' } as const;
    expect(await bench.act(ref, action)).toBe('applied');
    const current = async () => (await bench.activities.beginWork({ work: ref.work })).attempt;

    // A send that was under way to a worker when the operator acted.
    expect(await bench.activities.sendPurchase(second)).toMatchObject({ outcome: { kind: 'not_current' } });
    expect(await current()).toMatchObject({ id: ref.attemptId, state: 'unknown' });

    // The service then says that it failed.
    await bench.database.run((db) =>
      db.update(attempts).set({ state: 'failed' }).where(eq(attempts.id, ref.attemptId)),
    );
    expect(await current()).toMatchObject({ id: ref.attemptId, state: 'failed', settled: false });
    expect(await bench.activities.sendPurchase(second)).toMatchObject({ outcome: { kind: 'not_current' } });
    await expect(bench.act(ref, { action: 'abandon' })).rejects.toThrow('may have bought it or may keep money');
    expect(await bench.admin.requests('createOrder')).toEqual([]);

    await bench.settle(ref);
    expect(await current()).toMatchObject({ id: second.attemptId });
    expect(await bench.activities.sendPurchase(second)).toMatchObject({ outcome: { kind: 'accepted' } });
  });

  it('contradicts an earlier report of the service, also when the workflow has not read it', async () => {
    const ref = await bench.begin(1001);
    const { reference } = await bench.attempt(ref);
    await deliverTestEvent(bench.database, { outcome: 'completed', serviceId: 'so_1', reference: reference! });
    const [row] = await bench.database.run((db) =>
      db.update(inbox).set({ state: 'relayed', subjectId: ref.work.id, decision: 'contradiction' }).returning(),
    );
    // The case is already closed when the workflow records it.
    const attention = { reason: 'contradiction', detail: 'It says otherwise.' } as const;
    const parked = step(ref.work, { status: 'needs_attention', attention, applied: [inboxKey(row!)] });
    expect(await bench.activities.recordStep(parked)).toBe('judged');
    const [after] = await bench.database.run((db) => db.select().from(inbox));
    expect(after?.state).toBe('applied');
    expect(await bench.activities.sendPurchase(ref)).toMatchObject({ outcome: { kind: 'accepted' } });
  });
});

it('a failure that is reported while the wallet is read is not settled by that reading', async () => {
  const ref = await bench.begin(1001);
  await bench.admin.onRequest('createOrder', { kind: 'server_error' });
  await bench.activities.sendPurchase(ref);
  await bench.pass(3_600_000);
  // The reading is stored in the first transaction of the activity.
  justBeforeTheClaim(1, async () => {
    vi.restoreAllMocks();
    await bench.pass(1);
    const failed = { outcome: 'failed', serviceId: 'so_1' } as const;
    await bench.database.transaction((tx) => recordReport(tx, ref.attemptId, failed, new Date(bench.clock.now)));
  });
  await bench.activities.readDebitEvidence(ref);
  expect(await bench.attempt(ref)).toMatchObject({ state: 'failed', settled: false });
  expect(await bench.activities.openNextAttempt({ work: ref.work, number: 2 })).toEqual({ kind: 'unsettled' });
});

it('an order of a cancelled batch is not sent before PostgreSQL, which has restarted, is compared', async () => {
  const ref = await bench.begin(1001);
  const at = new Date(bench.clock.now);
  const batch = { id: 'bat_1', apiKeyId: 'key_test', externalBatchId: 'b-1', items: [], size: 1, createdAt: at };
  const cancelled = { ...batch, cancelRequestedAt: at, cancelRequestedBy: 'key_ada', cancelReason: 'A mistake.' };
  await bench.database.run((db) => db.insert(orderBatches).values({ ...cancelled, metadata: {} }));
  await bench.database.run((db) =>
    db.update(orders).set({ batchId: 'bat_1', batchPosition: 1, comparedEpoch: 'before' }),
  );
  expect(await bench.activities.sendPurchase(ref)).toMatchObject({ outcome: { kind: 'not_current' } });
  expect(await bench.admin.requests('createOrder')).toEqual([]);
  await bench.activities.beginWork({ work: ref.work });
  await expect(bench.activities.sendPurchase(ref)).rejects.toMatchObject({ type: WORK_FINISHED });
  expect((await bench.row(ref)).status).toBe('abandoned');
});

it('a send that waited for a worker until the time of its retry rule is over buys nothing', async () => {
  const ref = await bench.begin(1001);
  const retryRule = { attempts: 3, firstDelayMs: 1_000, maxDelayMs: 1_000, totalMs: 60_000 };
  bench.clock.now += 60_000;
  const { outcome } = await bench.activities.sendPurchase({ ...ref, retryRule });
  expect(outcome).toEqual({ kind: 'failure', failure: 'deadline_passed' });
  expect(await bench.admin.requests('createOrder')).toEqual([]);
});

it('work that goes on after a contradiction closes the case that it had before, and can end', async () => {
  const ref = await bench.begin(1001);
  await bench.settle(ref);
  const parked = { status: 'needs_attention', failure: { class: 'supplier_failed', detail: 'It failed.' } } as const;
  for (const reason of ['failed_but_charged', 'contradiction'] as const) {
    if (reason === 'contradiction')
      await bench.database.run((db) => openCase(db, ref.work, reason, 'It says otherwise.', ref.attemptId));
    await bench.activities.recordStep(step(ref.work, { ...parked, attention: { reason, detail: 'A test.' } }));
  }
  await bench.act(ref, { action: 'resolve', reason: 'contradiction', verdict: 'not_bought' });
  const failure = { ...parked.failure, endedBy: 'attempts_used_up' } as const;
  await bench.activities.recordStep(step(ref.work, { status: 'failed', failure }));
  const open = await bench.database.run((db) => db.select().from(cases).where(isNull(cases.closedAt)));
  expect([(await bench.row(ref)).status, open.map(({ reason }) => reason)]).toEqual(['failed', []]);
});

describe('other work of the same eSIM that ends during the preparation of a send', () => {
  it('makes a cancellation check its conditions again, because a top-up ends the refund', async () => {
    const ref = await bench.beginCancellation();
    const [{ esimId } = { esimId: null }] = await bench.database.run((db) =>
      db.select().from(cancellations).where(eq(cancellations.id, ref.work.id)),
    );
    justBeforeTheClaim(2, async () => {
      vi.restoreAllMocks();
      const topup = await bench.beginTopup(1001, esimId!);
      await bench.database.run((db) =>
        db.update(topups).set({ status: 'completed' }).where(eq(topups.id, topup.work.id)),
      );
    });
    expect(await bench.activities.sendPurchase(ref)).toMatchObject({
      outcome: { kind: 'failure', failure: 'not_sent' },
      detail: expect.stringContaining('recharged'),
    });
    const { outcome } = await bench.activities.sendPurchase(ref);
    expect(outcome).toMatchObject({ kind: 'failure', failure: 'refund_not_expected' });
    expect(await bench.admin.requests('cancelEsim')).toEqual([]);
  });

  it('prevents a top-up of an eSIM that was cancelled meanwhile', async () => {
    const esimId = await bench.deliveredEsim();
    const ref = await bench.beginTopup(1001, esimId);
    const run = bench.database.transaction.bind(bench.database);
    let isCancelled = false;
    vi.spyOn(bench.database, 'transaction').mockImplementation(async (work) => {
      // Cancels the eSIM as soon as the options were read.
      if (!isCancelled && (await bench.admin.requests('listTopupOptions')).length > 0) {
        isCancelled = true;
        await bench.database.run((db) => db.update(esims).set({ status: 'cancelled' }).where(eq(esims.id, esimId)));
      }
      return run(work);
    });
    const { outcome } = await bench.activities.sendPurchase(ref);
    expect(outcome).toMatchObject({ kind: 'failure', failure: 'topup_not_offered' });
    expect(isCancelled).toBe(true);
    expect(await bench.admin.requests('createTopup')).toEqual([]);
  });
});
