import { eq } from 'drizzle-orm';
import { afterEach, describe, expect, it } from 'vitest';
import { newId } from '#db/connection/ids.ts';
import { topups } from '#db/schema.ts';
import type { AttemptRef } from '#domain/purchase/results.ts';
import { WORK_KINDS } from '#domain/work/kinds.ts';
import { disposedAtEnd } from '#test/support/disposed-at-end.ts';
import { ActivityBench, SEND_CALLS } from '#test/support/work/activities/activity-bench.ts';
import { sendsOf, step } from '#test/support/work/activities/steps.ts';
import { twiceOver } from '#test/support/work/activities/twice.ts';
import { orderWork } from '#test/support/work/order-rows.ts';

/** Longer than a debit may take to appear. */
const UNTIL_EVIDENCE_MS = 700_000;

const bench = disposedAtEnd(await ActivityBench.start());
afterEach(() => bench.admin.calm());

const { twice, expectTwiceToTheEnd } = twiceOver({ calls: () => bench.calls, state: () => bench.state() });
const expectCompletedTwice = async (ids: AttemptRef) =>
  expectTwiceToTheEnd('completePurchase', () => bench.activities.completePurchase({ ...ids, applied: [] }), {
    status: 'completed',
    esimId: expect.stringMatching(/^esim_/),
  });

describe('an activity repeated with the same input leaves the same rows and one effect at the service:', () => {
  it('beginWork opens one attempt with one key and one body', async () => {
    const work = orderWork(await bench.accept());
    const [first, second] = await twice('beginWork', () => bench.activities.beginWork({ work }));
    expect(second).toEqual(first);
  });

  it('concurrent beginWork by two workers opens one attempt', async () => {
    const work = orderWork(await bench.accept());
    const both = await Promise.all([bench.activities.beginWork({ work }), bench.activities.beginWork({ work })]);
    expect(both[1]).toEqual(both[0]);
  });

  it('sendPurchase with a lost answer sends the same key and bytes again, and the service buys once', async () => {
    await bench.admin.onRequest('createOrder', { kind: 'accepted_but_answer_lost' });
    const ids = await bench.begin();
    const sent = { ...ids, resendWindowMs: 600_000 };
    const lost = (await bench.activities.sendPurchase(sent)).outcome;
    expect(lost).toMatchObject({ kind: 'failure', failure: 'connection_lost' });
    const ledger = await bench.admin.ledger();
    expect((await bench.activities.sendPurchase(sent)).outcome).toEqual({ kind: 'accepted', outcome: 'completed' });
    expect(await bench.admin.ledger()).toEqual(ledger);
    const sends = await sendsOf(bench, ids.work.id);
    expect(sends).toHaveLength(2);
    expect(sends[1]!.body_sha256).toBe(sends[0]!.body_sha256);
  });

  it('lookUpPurchase', async () => {
    await bench.admin.onRequest('createOrder', { kind: 'accepted_but_answer_lost' });
    const ids = await bench.begin();
    await bench.activities.sendPurchase(ids);
    const [first, second] = await twice('lookUpPurchase', () => bench.activities.lookUpPurchase(ids));
    expect(first).toEqual({ kind: 'found', outcome: 'completed' });
    expect(second).toEqual(first);
  });

  it('proveAbsence', async () => {
    await bench.admin.onRequest('createOrder', { kind: 'connection_reset' });
    const ids = await bench.begin();
    await bench.activities.sendPurchase(ids);
    await bench.pass(UNTIL_EVIDENCE_MS);
    const results = await twice('proveAbsence', () => bench.activities.proveAbsence(ids));
    expect(results).toEqual([{ kind: 'absent' }, { kind: 'absent' }]);
  });

  it.each([
    ['a debit and its credit', 'credited', { outcome: 'failed_at_once' }],
    ['a debit alone', 'debited', { outcome: 'failed_at_once', credit_after_ms: null }],
    ['no debit', 'no_debit', { outcome: 'failed_at_once', debited: false }],
  ] as const)('readDebitEvidence of %s', async (_what, evidence, behaviour) => {
    await bench.admin.nextPurchases(behaviour);
    const ids = await bench.begin();
    await bench.activities.sendPurchase(ids);
    await bench.pass(UNTIL_EVIDENCE_MS);
    const [first, second] = await twice('readDebitEvidence', () => bench.activities.readDebitEvidence(ids));
    expect(first.evidence).toBe(evidence);
    expect(second).toEqual(first);
  });

  it.each(WORK_KINDS)('openNextAttempt (%s)', async (kind) => {
    const ref = await bench.beginOf(kind);
    const { work } = ref;
    await bench.settle(ref);
    const [first, second] = await twice('openNextAttempt', () => bench.activities.openNextAttempt({ work, number: 2 }));
    expect(second).toEqual(first);
    expect(first).toMatchObject({ kind: 'opened', attempt: { number: 2 } });
  });

  it.each(['order', 'topup', 'cancellation'] as const)('each step of a purchase (%s)', async (kind) => {
    const ids = await bench.beginOf(kind);
    const sends = async () => (await bench.admin.requests(SEND_CALLS[kind])).length;
    const before = await sends();
    await twice('beginWork', () => bench.activities.beginWork({ work: ids.work }));
    const [first, second] = await twice('sendPurchase', () => bench.activities.sendPurchase(ids));
    expect([first.outcome, second.outcome]).toEqual([{ kind: 'accepted', outcome: 'completed' }, first.outcome]);
    expect(await sends()).toBe(before + 1);
    await twice('lookUpPurchase', () => bench.activities.lookUpPurchase(ids));
    await expectCompletedTwice(ids);
  });

  it('completePurchase of a failed refund opens a case, and the verdict refunded completes it', async () => {
    const ids = await bench.beginCancellation();
    await bench.admin.nextPurchases({ operation: 'cancellation', outcome: 'refund_failed' });
    await bench.activities.sendPurchase(ids);
    const complete = () => bench.activities.completePurchase({ ...ids, applied: [] });
    const [first, second] = await twice('completePurchase', complete);
    expect(first).toMatchObject({ kind: 'needs_attention', reason: 'refund_failed' });
    expect(second).toEqual(first);

    const attention = { reason: 'refund_failed', detail: 'Failed.' } as const;
    await bench.activities.recordStep(step(ids.work, { status: 'needs_attention', attention }));
    const refundsBooked = async () =>
      (await bench.rows()).filter((row) => row.startsWith('journal') && row.includes(',refund,')).length;
    const before = await refundsBooked();
    const operator = { actor: 'key_test', reason: 'Their support has paid it by hand.', actionId: 'act_1' };
    const action = { action: 'resolve', reason: 'refund_failed', verdict: 'refunded' } as const;
    const act = () => bench.activities.actOnWork({ work: ids.work, action, operator });
    expect(await twice('actOnWork', act)).toEqual(['applied', 'unchanged']);
    await expectCompletedTwice(ids);
    expect(await refundsBooked()).toBe(before + 1);
  });

  it('sendPurchase, completePurchase, lookUpSubscription and cancelSubscription of a VPN subscription', async () => {
    const ids = await bench.beginSubscription();
    await twice('sendPurchase', () => bench.activities.sendPurchase(ids));
    // The access data are encrypted again each time, with the same key and AAD.
    const state = async () => JSON.stringify(await bench.state(), null, 1).replaceAll(/\\+x[0-9a-f]+/g, 'encrypted');
    const encryptedAnew = twiceOver({ calls: () => bench.calls, state });
    await encryptedAnew.twice('completePurchase', () => bench.activities.completePurchase({ ...ids, applied: [] }));
    await encryptedAnew.twice('lookUpSubscription', () => bench.activities.lookUpSubscription(ids));
    const cancelled = await encryptedAnew.twice('cancelSubscription', () => bench.activities.cancelSubscription(ids));
    expect(cancelled).toEqual([{ kind: 'accepted' }, { kind: 'accepted' }]);
    // The call has no key. The service gets it twice and cancels once.
    const answers = (await bench.admin.requests('cancelVpnSubscription')).map(({ result_status: status }) => status);
    expect(answers).toEqual([200, 409]);
    const view = (await bench.activities.beginWork(ids)).subscription;
    expect(view).toMatchObject({ isActive: true, cancelAcceptedAt: expect.any(Number), endedAs: 'cancelled' });
  });

  it('concurrent sendPurchase of two top-ups of one eSIM sends one, and the other waits', async () => {
    await bench.admin.onRequest('createTopup', { kind: 'latency', ms: 2_000, at: 'answer' });
    const first = await bench.beginTopup();
    const [row] = await bench.database.run((db) => db.select().from(topups).where(eq(topups.id, first.work.id)));
    const work = { kind: 'topup', id: newId('topup') } as const;
    await bench.database.run((db) => db.insert(topups).values({ ...row!, id: work.id }));
    const { attempt } = await bench.activities.beginWork({ work });
    const both = [first, { work, attemptId: attempt.id }];
    const results = await Promise.all(both.map((ids) => bench.activities.sendPurchase(ids)));
    const outcomes = results.map(({ outcome }) => outcome).toSorted((one, two) => one.kind.localeCompare(two.kind));
    expect(outcomes).toEqual([
      { kind: 'accepted', outcome: 'completed' },
      { kind: 'failure', failure: 'esim_busy' },
    ]);
  });

  it('recordStep with a hold, and with a case', async () => {
    const { work } = await bench.begin();
    const failure = { class: 'rate_limited', detail: 'Slow down.' } as const;
    const held = step(work, { failure, nextStepAt: bench.clock.now + 1_000 });
    expect(await twice('recordStep', () => bench.activities.recordStep(held))).toEqual(['recorded', 'recorded']);
    const attention = { reason: 'outcome_unknown', detail: 'The outcome is unknown.' } as const;
    const withCase = step(work, { status: 'needs_attention', attention });
    expect(await twice('recordStep', () => bench.activities.recordStep(withCase))).toEqual(['recorded', 'recorded']);
  });

  it('recordStep with the end of the order', async () => {
    const { work } = await bench.begin();
    const failed = step(work, { status: 'failed', failure: { class: 'invalid_request', detail: 'No.' } });
    const end = { status: 'failed', failure: 'invalid_request' };
    await expectTwiceToTheEnd('recordStep', () => bench.activities.recordStep(failed), end);
  });
});
