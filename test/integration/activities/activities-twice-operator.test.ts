import { randomUUID } from 'node:crypto';
import { eq } from 'drizzle-orm';
import { afterEach, describe, expect, it } from 'vitest';
import { auditLog } from '#db/schema.ts';
import { openCase } from '#db/work/cases.ts';
import type { OperatorAction } from '#domain/operator/operator-actions.ts';
import type { AttemptRef } from '#domain/purchase/results.ts';
import type { AttentionReason } from '#domain/work/attention.ts';
import { PURCHASE_KINDS, WORK_KINDS, type WorkKind, type WorkRef } from '#domain/work/kinds.ts';
import { disposedAtEnd } from '#test/support/disposed-at-end.ts';
import { ActivityBench, SEND_CALLS } from '#test/support/work/activities/activity-bench.ts';
import { step } from '#test/support/work/activities/steps.ts';
import { twiceOver } from '#test/support/work/activities/twice.ts';

const bench = disposedAtEnd(await ActivityBench.start());
afterEach(() => bench.admin.calm());

const { twice } = twiceOver({ calls: () => bench.calls, state: () => bench.state() });

/** Runs an operator action twice. It takes effect, and is audited, once. */
async function expectOneEffect(work: WorkRef, action: OperatorAction): Promise<void> {
  const operator = { actor: 'key_test', reason: 'A test.', actionId: randomUUID() };
  const audited = () => bench.database.run((db) => db.$count(auditLog, eq(auditLog.subjectId, work.id)));
  const before = await audited();
  const run = () => bench.activities.actOnWork({ work, action, operator });
  expect(await twice('actOnWork', run)).toEqual(['applied', 'unchanged']);
  expect(await audited()).toBe(before + 1);
}

async function requireAttention({ work }: AttemptRef, reason: AttentionReason): Promise<void> {
  const attention = { reason, detail: 'A test.' };
  await bench.activities.recordStep(step(work, { status: 'needs_attention', attention }));
}

async function held(kind: WorkKind): Promise<WorkRef> {
  const ids = await bench.beginOf(kind);
  await bench.hold(ids);
  return ids.work;
}

/** Work that the service completed with an unreadable answer, which opens no circuit. It has an open case. */
async function unknown(kind: WorkKind): Promise<AttemptRef> {
  const ids = await bench.beginOf(kind);
  await bench.admin.onRequest(SEND_CALLS[kind], { kind: 'garbage_body' });
  await bench.activities.sendPurchase(ids);
  await requireAttention(ids, 'outcome_unknown');
  return ids;
}

const sold = async (kind: WorkKind): Promise<string> => {
  const { admin } = bench;
  const lists = {
    order: () => admin.orders(),
    topup: () => admin.topups(),
    vpn_subscription: () => admin.subscriptions(),
    cancellation: () => admin.refunds(),
  };
  return (await lists[kind]()).at(-1)!.id;
};

describe.each(WORK_KINDS)('a repeated action on work of the kind %s has one effect:', (kind) => {
  it('retry of held work', async () => {
    await expectOneEffect(await held(kind), { action: 'retry' });
  });

  it('retry that grants another attempt', async () => {
    const ids = await bench.beginOf(kind);
    await requireAttention(ids, 'attempts_used_up');
    await expectOneEffect(ids.work, { action: 'retry' });
    expect(await bench.row(ids)).toMatchObject({ status: 'held', extraAttempts: 1 });
  });

  it('change_retry', async () => {
    const work = await held(kind);
    await expectOneEffect(work, { action: 'change_retry', change: { maxDelayMs: 60_000 } });
    expect(await bench.row({ work })).toMatchObject({ retryOverrides: { maxDelayMs: 60_000 } });
    await expectOneEffect(work, { action: 'change_retry', change: { maxDelayMs: null } });
    expect(await bench.row({ work })).toMatchObject({ retryOverrides: null });
  });

  it('abandon', async () => {
    const work = await held(kind);
    await expectOneEffect(work, { action: 'abandon' });
    expect(await bench.row({ work })).toMatchObject({ status: 'abandoned' });
  });

  it('resolve: bought', async () => {
    const ids = await unknown(kind);
    const verdict = { reason: 'outcome_unknown', verdict: 'bought', serviceId: await sold(kind) } as const;
    await expectOneEffect(ids.work, { action: 'resolve', ...verdict });
    expect(await bench.row(ids)).toMatchObject({ status: 'processing', attentionReason: null });
  });

  it.each(['continue', 'abandon'] as const)('resolve: not bought, %s', async (next) => {
    const ids = await unknown(kind);
    await expectOneEffect(ids.work, { action: 'resolve', reason: 'outcome_unknown', verdict: 'not_bought', next });
    const status = next === 'abandon' ? 'abandoned' : 'held';
    expect(await bench.row(ids)).toMatchObject({ status, attentionReason: null });
  });

  it('resolve: dismissed', async () => {
    const ids = await unknown(kind);
    await bench.database.transaction((tx) => openCase(tx, ids.work, 'contradiction', 'A test.', ids.attemptId));
    await expectOneEffect(ids.work, { action: 'resolve', reason: 'contradiction', verdict: 'dismissed' });
  });
});

describe.each(PURCHASE_KINDS)('a repeated spending action on work of the kind %s has one effect:', (kind) => {
  it('release', async () => {
    await expectOneEffect(await held(kind), { action: 'release' });
  });

  it('change_limit', async () => {
    const work = await held(kind);
    await expectOneEffect(work, { action: 'change_limit', maxPrice: { amount: '9.99', currency: 'USD' } });
    await expectOneEffect(work, { action: 'change_limit', maxPrice: null });
    expect(await bench.row({ work })).toMatchObject({ maxPriceAmount: null });
  });
});

describe('a repeated action on a VPN subscription with a refused cancellation has one effect:', () => {
  it.each([
    ['retry', { action: 'retry' }],
    ['resolve: dismissed', { action: 'resolve', reason: 'cancellation_refused', verdict: 'dismissed' }],
  ] as const)('%s', async (_name, action) => {
    const ids = await bench.beginSubscription();
    await bench.buy(ids);
    const outcome = 'processing_then_cancelled';
    await bench.admin.nextPurchases({ operation: 'vpn_cancellation', outcome, delay_ms: 600_000 });
    await bench.activities.cancelSubscription(ids);
    await requireAttention(ids, 'cancellation_refused');
    await expectOneEffect(ids.work, action);
    expect(await bench.row(ids)).toMatchObject({ attentionReason: null });
    // It is sent again.
    const { subscription } = await bench.activities.beginWork(ids);
    expect(subscription).toMatchObject({ isActive: true, cancelAcceptedAt: undefined });
  });
});
