import { describe, expect, it } from 'vitest';
import { timeSkippingEnvironment } from '#test/support/servers/time-skipping.ts';
import {
  needsAttention,
  POLICY,
  orderWith,
  resultOf,
  retry,
  withOrder,
  shownAfter,
} from '#test/support/work/workflows/order-workflow.ts';

const environment = await timeSkippingEnvironment();

describe('an order that the service reports as failed', () => {
  it('gets a new attempt only after the wallet shows no net debit for it', async () => {
    const order = await orderWith(['answers failed', 'answers completed'], { evidence: ['debited', 'credited'] });
    expect((await resultOf(order)).status).toBe('completed');
    expect(order.sent.map(({ attempt }) => attempt)).toEqual([1, 2]);
    expect(order.timesCalled('readDebitEvidence')).toBe(2);
    const [first, second] = order.sent;
    expect((second?.at ?? 0) - (first?.at ?? 0)).toBeGreaterThanOrEqual(2 * POLICY.settleDelayMs);
  });

  it('gets one whose absence is proven before any case, whatever was proven of the attempt before', async () => {
    const late = [{ fails: 'timeout' }, 'comes too late'] as const;
    const order = await orderWith([...late, ...late, ...late, 'answers completed']);
    // Attempt 1 is not found, proven absent, sent again without an answer, and found failed.
    order.lookUps = ['not_found', 'not_found', 'not_found', 'found failed'];
    order.absences = ['absent', 'absent'];
    order.evidence = ['no_debit'];
    expect(await resultOf(order)).toMatchObject({ status: 'completed' });
    expect(order.sent.map(({ attempt }) => attempt)).toEqual([1, 1, 2, 2]);
    expect(order.timesCalled('proveAbsence')).toBe(2);
    expect(order.steps.flatMap(({ attention }) => attention?.reason ?? [])).toEqual([]);
  });

  it('gets one, too, when an earlier version has started its workflow, without the settings of this version', async () => {
    const order = await orderWith(['answers failed', 'answers completed'], { evidence: ['debited', 'credited'] });
    const noSettings = Object.fromEntries(Object.keys(POLICY).map((name) => [name, undefined]));
    expect((await resultOf(order, noSettings)).status).toBe('completed');
    expect(order.sent.map(({ attempt }) => attempt)).toEqual([1, 2]);
  });

  it.each([
    ['debited', 'failed_but_charged'],
    ['unavailable', 'evidence_unavailable'],
  ] as const)('needs attention if the wallet evidence is %s, and gets no new attempt', async (evidence, attention) => {
    const order = await orderWith(['answers failed'], { evidence: Array.from({ length: 20 }, () => evidence) });
    await withOrder(order, {}, async (handle) => {
      expect(await shownAfter('2 days', handle)).toMatchObject(needsAttention(attention));
    });
    expect(order.sent).toHaveLength(1);
  });

  it('fails if further attempts were revoked since its workflow began', async () => {
    const order = await orderWith(['answers failed', 'answers completed'], { evidence: ['credited'] });
    order.attemptsInForce = 1;
    expect(await resultOf(order)).toMatchObject({ status: 'failed', endedBy: 'attempts_used_up' });
    expect(order.sent).toHaveLength(1);
  });

  it('waits while nothing proves what it cost, says since when, and is bought again with the proof', async () => {
    const order = await orderWith(['answers failed', 'answers completed']);
    order.evidence = ['awaited', 'awaited', 'awaited', 'no_debit'];
    expect((await resultOf(order)).status).toBe('completed');
    expect(order.sent.map(({ attempt }) => attempt)).toEqual([1, 2]);
    const awaited = order.steps.filter(({ event }) => event === 'attempt.evidence_awaited');
    expect(awaited).toHaveLength(1);
    expect(awaited[0]).toMatchObject({
      status: 'processing',
      failure: { detail: expect.stringMatching(/^Evidence is awaited since \d{4}-.*: The reading ends too early\.$/) },
    });
  });

  it('opens a case after an hour without a proof, and still continues by itself when the proof comes', async () => {
    const order = await orderWith(['answers failed', 'answers completed']);
    order.evidence = Array.from({ length: 500 }, () => 'awaited');
    await withOrder(order, {}, async (handle) => {
      await expect.poll(() => shownAfter('10 minutes', handle)).toMatchObject({ status: 'processing' });
      await expect.poll(() => shownAfter('1 hour', handle)).toMatchObject({ attention: 'evidence_unavailable' });
      expect(order.sent).toHaveLength(1);
      order.evidence = ['no_debit'];
      expect(await handle.result()).toMatchObject({ status: 'completed' });
    });
    expect(order.sent.map(({ attempt }) => attempt)).toEqual([1, 2]);
  });

  it.each(['no_debit', 'credited'] as const)('fails after its last attempt (%s)', async (evidence) => {
    const order = await orderWith(['answers failed', 'answers failed', 'answers failed']);
    order.evidence = [evidence, evidence, evidence];
    const end = { status: 'failed', failure: 'supplier_failed', endedBy: 'attempts_used_up' };
    expect(await resultOf(order)).toMatchObject(end);
    expect(order.sent.map(({ attempt }) => attempt)).toEqual([1, 2, 3]);
    expect(order.steps.at(-1)?.message).toContain(`All 3 attempts failed. Evidence: ${evidence}.`);
  });

  it('asks a person when an earlier attempt has no proof, after one more reading', async () => {
    const order = await orderWith(['answers failed'], { evidence: ['no_debit', 'no_debit'], isEarlierUnsettled: true });
    await withOrder(order, { maxAttempts: 1 }, async (handle) => {
      expect(await shownAfter('1 hour', handle)).toMatchObject({ attention: 'evidence_unavailable' });
    });
    expect(order.timesCalled('readDebitEvidence')).toBe(2);
  });

  it('asks a person after its last attempt, if its caller wants that, until its deadline', async () => {
    const order = await orderWith(['answers failed'], { evidence: ['no_debit'], whenUsedUp: 'ask' });
    order.deadlineAt = (await environment.currentTimeMs()) + 6 * 3_600_000;
    await withOrder(order, { maxAttempts: 1 }, async (handle) => {
      expect(await shownAfter('5 hours', handle)).toMatchObject({ attention: 'attempts_used_up' });
      expect(await handle.result()).toMatchObject({ status: 'failed', endedBy: 'deadline_passed' });
    });
    expect(await environment.currentTimeMs()).toBeGreaterThanOrEqual(order.deadlineAt);
    expect(order.sent).toHaveLength(1);
  });
});

describe('an accepted order that the service denies later', () => {
  it('becomes a case after an hour and never fails; it is read on, and delivered when it is found', async () => {
    const order = await orderWith(['answers processing']);
    order.lookUps = ['not_found', 'not_found', 'not_found', 'found completed'];
    await withOrder(order, {}, async (handle) => {
      expect(await shownAfter('59 minutes', handle)).toMatchObject({ status: 'processing' });
      await expect.poll(() => shownAfter('90 seconds', handle)).toMatchObject(needsAttention('outcome_unknown'));
      expect(await handle.result()).toMatchObject({ status: 'completed' });
    });
    expect(order.sent).toHaveLength(1);
  });

  it('goes on waiting when the service shows it again', async () => {
    const order = await orderWith(['answers processing']);
    order.lookUps = ['not_found', 'found processing', 'found completed'];
    expect(await resultOf(order)).toMatchObject({ status: 'completed' });
    expect(order.steps.map(({ status }) => status)).toContain('needs_attention');
    expect(order.sent).toHaveLength(1);
  });
});

it('a delivery that cannot be read opens the case contract_drift', async () => {
  const order = await orderWith(['answers completed'], { delivery: 'unreadable' });
  await withOrder(order, {}, async (handle) => {
    // The worker may need longer than the time that is skipped.
    await expect.poll(() => shownAfter('10 seconds', handle)).toMatchObject({ attention: 'contract_drift' });
    order.delivery = 'delivered';
    await retry(handle);
    expect(await handle.result()).toMatchObject({ status: 'completed' });
  });
});
