import { randomUUID } from 'node:crypto';
import { eq } from 'drizzle-orm';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { inboxKey } from '#db/queues/inbox.ts';
import { attempts, cancellations, esims, inbox, topups } from '#db/schema.ts';
import { findAttemptById } from '#db/work/attempts.ts';
import { openCase } from '#db/work/cases.ts';
import type { AttemptRef } from '#domain/purchase/results.ts';
import { ActivityBench } from '#test/support/work/activities/activity-bench.ts';
import { deliverTestEvent } from '#test/support/work/order-rows.ts';

/** Concurrent changes by late workers, operators, and other work of the same eSIM. */
let bench: ActivityBench;
beforeEach(async () => {
  bench = await ActivityBench.start();
});
afterEach(() => bench[Symbol.asyncDispose]());

const attemptOf = ({ attemptId }: AttemptRef) => bench.database.run((db) => findAttemptById(db, attemptId));
const statusOf = async ({ work }: AttemptRef) => (await bench.activities.beginWork({ work })).status;

/**
 * Runs `happens` after all reads and before the claim. @param nth transaction of the activity, which claims the send.
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

describe('a send that its workflow believes never began', () => {
  it('is not repeated when it was made and resends are not allowed', async () => {
    const ref = await bench.begin(1001);
    await bench.admin.onRequest('createOrder', { kind: 'accepted_but_answer_lost' });
    // The worker whose result never reached the workflow.
    expect(await bench.activities.sendPurchase(ref)).toMatchObject({ outcome: { kind: 'failure' } });
    expect(await attemptOf(ref)).toMatchObject({ state: 'unknown' });
    expect(await bench.activities.sendPurchase(ref)).toMatchObject({ outcome: { kind: 'resend_not_allowed' } });
    expect(await bench.admin.requests('createOrder')).toHaveLength(1);
    // With resends allowed, it is sent again.
    expect(await bench.activities.sendPurchase({ ...ref, resendWindowMs: 600_000 })).toMatchObject({
      outcome: { kind: 'accepted' },
    });
  });
});

describe('a late report about an active subscription', () => {
  it('does not return it to a state that cannot be cancelled', async () => {
    const ref = await bench.beginSubscription();
    await bench.activities.sendPurchase(ref);
    await bench.activities.completePurchase({ ...ref, applied: [] });
    expect(await statusOf(ref)).toBe('active');
    expect(await bench.activities.lookUpPurchase(ref)).toMatchObject({ kind: 'found' });
    expect(await statusOf(ref)).toBe('active');
  });
});

describe('the verdict bought', () => {
  it('leads to a new wallet check when the service then reports a failure', async () => {
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

  it('contradicts an earlier report of the service, also when the workflow has not read it', async () => {
    const ref = await bench.begin(1001);
    const { reference } = await attemptOf(ref);
    await deliverTestEvent(bench.database, { outcome: 'completed', serviceId: 'so_1', reference: reference! });
    const [row] = await bench.database.run((db) =>
      db.update(inbox).set({ state: 'relayed', subjectId: ref.work.id, decision: 'contradiction' }).returning(),
    );
    // The case is already closed when the workflow records it.
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
    expect(await bench.activities.sendPurchase(ref)).toMatchObject({
      outcome: { kind: 'failure', failure: 'refund_not_expected' },
    });
    expect(await bench.admin.requests('cancelEsim')).toEqual([]);
  });

  it('prevents a top-up of an eSIM that was cancelled meanwhile', async () => {
    const ref = await bench.beginTopup(1001);
    const [{ esimId } = { esimId: null }] = await bench.database.run((db) =>
      db.select().from(topups).where(eq(topups.id, ref.work.id)),
    );
    const run = bench.database.transaction.bind(bench.database);
    let isCancelled = false;
    vi.spyOn(bench.database, 'transaction').mockImplementation(async (work) => {
      // Cancels the eSIM as soon as the options were read.
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
