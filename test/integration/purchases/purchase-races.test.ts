import { randomUUID } from 'node:crypto';
import { eq } from 'drizzle-orm';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { AttemptRef } from '#activities/work/work-types.ts';
import { findAttemptById } from '#db/attempts/attempts.ts';
import { inboxKey } from '#db/queues/inbox-keys.ts';
import { attempts, cancellations, esims, inbox, topups } from '#db/schema.ts';
import { openCase } from '#db/work/cases.ts';
import { ActivityBench } from '#test/support/work/activities/activity-bench.ts';
import { deliverTestEvent } from '#test/support/work/order-rows.ts';

/**
 * What several do at once who each know only a part: workers that everybody had given up, persons, and other work of
 * the same eSIM.
 */
let bench: ActivityBench;
beforeEach(async () => {
  bench = await ActivityBench.start();
});
afterEach(() => bench[Symbol.asyncDispose]());

const attemptOf = ({ attemptId }: AttemptRef) => bench.database.run((db) => findAttemptById(db, attemptId));
const statusOf = async ({ work }: AttemptRef) => (await bench.activities.beginWork({ work })).status;

/**
 * Something that happens after everything was read, and before the send is claimed. @param nth transaction of the
 * activity that claims it.
 */
function justBeforeTheClaim(nth: number, happens: () => Promise<unknown>): void {
  const transaction = bench.database.transaction.bind(bench.database);
  let begun = 0;
  vi.spyOn(bench.database, 'transaction').mockImplementation(async (work) => {
    begun += 1;
    if (begun === nth) await happens();
    return transaction(work);
  });
}

describe('a send that its workflow takes for never begun', () => {
  it('is not repeated once it was made after all, where nothing may be sent again', async () => {
    const ref = await bench.begin(1001);
    await bench.admin.onRequest('createOrder', { kind: 'accepted_but_answer_lost' });
    // The worker that nobody hears of any more.
    expect(await bench.activities.sendPurchase(ref)).toMatchObject({ outcome: { kind: 'failure' } });
    expect(await attemptOf(ref)).toMatchObject({ state: 'unknown' });
    expect(await bench.activities.sendPurchase(ref)).toMatchObject({ outcome: { kind: 'resend_not_allowed' } });
    expect(await bench.admin.requests('createOrder')).toHaveLength(1);
    // Where it may be, it is.
    expect(await bench.activities.sendPurchase({ ...ref, resendWindowMs: 600_000 })).toMatchObject({
      outcome: { kind: 'accepted' },
    });
  });
});

describe('a word about a subscription that comes when it is active already', () => {
  it('does not take it back to what cannot be cancelled', async () => {
    const ref = await bench.beginSubscription();
    await bench.activities.sendPurchase(ref);
    await bench.activities.completePurchase({ ...ref, applied: [] });
    expect(await statusOf(ref)).toBe('active');
    expect(await bench.activities.lookUpPurchase(ref)).toMatchObject({ kind: 'found' });
    expect(await statusOf(ref)).toBe('active');
  });
});

describe('what a person calls bought', () => {
  it('is looked for in the wallet anew, should the service call it failed: what was seen before says nothing of it', async () => {
    const ref = await bench.begin(1001);
    await bench.database.run((db) =>
      db
        .update(attempts)
        .set({ state: 'failed', settled: true, failureClass: 'supplier_failed' })
        .where(eq(attempts.id, ref.attemptId)),
    );
    await bench.database.run((db) => openCase(db, ref.work, 'contradiction', 'It says otherwise.', ref.attemptId));
    const action = { action: 'resolve', reason: 'contradiction', verdict: 'bought', serviceId: 'so_1' } as const;
    expect(
      await bench.activities.actOnWork({
        work: ref.work,
        action,
        operator: { actor: 'Ada', reason: 'Seen in the console.', actionId: randomUUID() },
      }),
    ).toBe('applied');
    expect(await attemptOf(ref)).toMatchObject({ state: 'unknown', settled: false });
  });

  it('answers what the service had said before, even if the workflow has not heard of that yet', async () => {
    const ref = await bench.begin(1001);
    const { reference } = await attemptOf(ref);
    await deliverTestEvent(bench.database, { outcome: 'completed', serviceId: 'so_1', reference: reference! });
    const [row] = await bench.database.run((db) =>
      db.update(inbox).set({ state: 'relayed', subjectId: ref.work.id, decision: 'contradiction' }).returning(),
    );
    // The case is closed already when the workflow comes to park it.
    const step = {
      work: ref.work,
      stepKey: 'run:1',
      status: 'needs_attention',
      event: 'order.needs_attention',
      message: 'It says otherwise.',
      attemptNumber: 1,
    } as const;
    const attention = { reason: 'contradiction', detail: 'It says otherwise.' } as const;
    expect(await bench.activities.recordStep({ ...step, attention, applied: [inboxKey(row!)] })).toBe('judged');
    const [after] = await bench.database.run((db) => db.select().from(inbox));
    expect(after?.state).toBe('applied');
    expect(await bench.activities.sendPurchase(ref)).toMatchObject({ outcome: { kind: 'accepted' } });
  });
});

describe('other work of the same eSIM that ends while a send is prepared', () => {
  it('has a cancellation judged anew: a top-up costs it its refund', async () => {
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
    expect(await bench.activities.sendPurchase(ref)).toMatchObject({
      outcome: { kind: 'failure', failure: 'refund_not_expected' },
    });
    expect(await bench.admin.requests('cancelEsim')).toEqual([]);
  });

  it('keeps a top-up from being bought for an eSIM that is cancelled by then', async () => {
    const ref = await bench.beginTopup(1001);
    const [{ esimId } = { esimId: null }] = await bench.database.run((db) =>
      db.select().from(topups).where(eq(topups.id, ref.work.id)),
    );
    const run = bench.database.transaction.bind(bench.database);
    let isCancelled = false;
    vi.spyOn(bench.database, 'transaction').mockImplementation(async (work) => {
      // As soon as the options were read.
      if (!isCancelled && (await bench.admin.requests('listTopupOptions')).length > 0) {
        isCancelled = true;
        await bench.database.run((db) => db.update(esims).set({ status: 'cancelled' }).where(eq(esims.id, esimId!)));
      }
      return run(work);
    });
    expect(await bench.activities.sendPurchase(ref)).toMatchObject({
      outcome: { kind: 'failure', failure: 'topup_not_offered' },
    });
    expect(isCancelled).toBe(true);
    expect(await bench.admin.requests('createTopup')).toEqual([]);
  });
});
