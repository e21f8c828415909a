import { ApplicationFailure } from '@temporalio/common';
import { describe, expect, it } from 'vitest';
import { witnessOfEnd, type Witness } from '#domain/purchase/recovery.ts';
import type { PurchaseActivities, WorkSnapshot } from '#domain/purchase/results.ts';
import { timeSkippingEnvironment } from '#test/support/servers/time-skipping.ts';
import {
  needsAttention,
  orderWith,
  report,
  resultOf,
  shownAfter,
  withOrder,
} from '#test/support/work/workflows/order-workflow.ts';
import { operatorActedSignal, WORK_MISSING } from '#workflows/messages.ts';

const environment = await timeSkippingEnvironment();

type BeginInput = Parameters<PurchaseActivities['beginWork']>[0];

/** Another `beginWork`, for {@link FakeOrder.change}. */
function beginning(begin: (input: BeginInput, next: () => Promise<WorkSnapshot>) => Promise<WorkSnapshot>) {
  return (fakes: PurchaseActivities): Partial<PurchaseActivities> => ({
    beginWork: (input) => begin(input, () => fakes.beginWork(input)),
  });
}

describe('a workflow whose step is earlier than the last recorded one', () => {
  it('continues as new, and the next run begins with what PostgreSQL has', async () => {
    const order = await orderWith([{ fails: 'insufficient_balance' }, 'answers completed']);
    const runs: (string | undefined)[] = [];
    let isRefused = false;
    order.change = (fakes) => ({
      beginWork: (input) => {
        runs.push(input.run);
        return fakes.beginWork(input);
      },
      recordStep: async (step) => {
        if (isRefused) return fakes.recordStep(step);
        isRefused = true;
        return 'superseded';
      },
    });
    expect(await resultOf(order)).toMatchObject({ status: 'completed' });
    expect(new Set(runs.filter((run) => run !== undefined)).size).toBe(2);
  });
});

describe('a workflow after PostgreSQL lost commits', () => {
  it('compares what it knows with the row before it records a step', async () => {
    const order = await orderWith([{ fails: 'insufficient_balance' }, 'answers completed']);
    const witnesses: (Witness | undefined)[] = [];
    let isCompared = true;
    order.change = (fakes) => ({
      beginWork: (input) => {
        if (input.run !== undefined) witnesses.push(input.witness);
        isCompared = true;
        return fakes.beginWork(input);
      },
      sendPurchase: async (input) => {
        isCompared = order.sent.length > 0;
        return fakes.sendPurchase(input);
      },
      recordStep: async (step) => (isCompared ? fakes.recordStep(step) : 'not_compared'),
    });
    expect(await resultOf(order)).toMatchObject({ status: 'completed' });
    expect(witnesses).toEqual([undefined, expect.objectContaining({ number: 1, state: 'refused', sends: 1 })]);
    expect(order.steps.map(({ event }) => event)).toContain('order.held');
  });

  it.each([
    ['opens a further attempt after it has compared the row', false],
    ['first learns from the service again that an attempt with a lost row has failed', true],
  ])('%s', async (_name, isLost) => {
    const failures = Array.from({ length: isLost ? 2 : 1 }, () => 'answers failed' as const);
    const order = await orderWith([...failures, 'answers completed'], { evidence: failures.map(() => 'no_debit') });
    const calls: string[] = [];
    let isCompared = false;
    order.change = (fakes) => ({
      beginWork: (input) => {
        isCompared = calls.length > 0;
        // The row is that before the first send.
        if (isCompared && isLost && order.sent.length === 1) order.observe('prepared');
        if (isCompared) calls.push(`compared with ${input.witness?.number} ${input.witness?.state}`);
        return fakes.beginWork(input);
      },
      openNextAttempt: async (input) => {
        calls.push(`open ${input.number}`);
        return isCompared ? fakes.openNextAttempt(input) : { kind: 'not_compared' };
      },
    });
    expect(await resultOf(order)).toMatchObject({ status: 'completed' });
    expect(calls.slice(0, 2)).toEqual(['open 2', 'compared with 1 failed']);
    expect(calls.filter((call) => call === 'open 2')).toHaveLength(2);
    expect(order.sent.map(({ attempt }) => attempt)).toEqual(isLost ? [1, 1, 2] : [1, 2]);
  });

  it.each([
    [
      'counts a send of a lost worker if the database has changed since',
      'after',
      [{ sends: 1, anyUnknown: true, state: 'unknown' }],
    ],
    ['trusts a row without sends while the database is the same', 'before', []],
  ])('%s', async (_what, later, expected) => {
    const order = await orderWith(['dies before the send', 'answers completed']);
    const witnesses: (Witness | undefined)[] = [];
    order.change = beginning(async ({ witness }, next) => {
      witnesses.push(witness);
      return { ...(await next()), epoch: witnesses.length === 1 ? 'before' : later };
    });
    await resultOf(order);
    const counted = witnesses.filter((each) => (each?.sends ?? 0) > 0);
    expect(counted.slice(0, 1)).toMatchObject(expected);
    expect(order.sent).toHaveLength(1);
  });

  it('counts the send of an interrupted first task if the database has changed since its start', async () => {
    const order = await orderWith(['answers completed']);
    const inputs: BeginInput[] = [];
    order.change = beginning(async (input, next) => {
      inputs.push(input);
      return { ...(await next()), epoch: 'after' };
    });
    await resultOf(order, { firstSendIn: 'before' });
    expect(inputs[0]).toMatchObject({ sentIn: 'before', firstSend: {} });
    expect(inputs[1]).toMatchObject({ witness: { number: 1, sends: 1, state: 'unknown', anyUnknown: true } });
    expect(inputs.slice(1).some(({ firstSend }) => firstSend !== undefined)).toBe(false);
  });

  it('counts a send of a further attempt whose row is lost', async () => {
    const order = await orderWith(['answers failed', 'dies before the send', 'answers completed']);
    order.evidence = ['no_debit'];
    const witnesses: (Witness | undefined)[] = [];
    order.change = beginning(async ({ witness }, next) => {
      witnesses.push(witness);
      const isLost = order.calls.includes('openNextAttempt 2');
      const snapshot = await next();
      if (!isLost || (witness?.sends ?? 0) > 0) return { ...snapshot, epoch: isLost ? 'after' : 'before' };
      // PostgreSQL has only the first attempt.
      const attempt = { ...snapshot.attempt, number: 1, state: 'failed', settled: true } as const;
      return { ...snapshot, epoch: 'after', attempt };
    });
    await resultOf(order);
    const sent = { number: 2, sends: 1, anyUnknown: true, state: 'unknown' };
    expect(witnesses).toContainEqual(expect.objectContaining(sent));
    expect(order.timesCalled('openNextAttempt 2')).toBe(1);
  });

  it.each([
    ['judges all attempts by one more reading', 1, 'openNextAttempt 2'],
    ['opens a case when that proves nothing for the earlier one', Infinity, 'case evidence_unavailable'],
  ] as const)('%s, if an earlier attempt has lost its proof', async (_what, refusals, expected) => {
    const order = await orderWith(['answers failed', 'answers completed'], { evidence: ['no_debit', 'no_debit'] });
    let refused = 0;
    order.change = (fakes) => ({
      openNextAttempt: async (input) =>
        (refused += 1) <= refusals ? { kind: 'unsettled' } : fakes.openNextAttempt(input),
    });
    await withOrder(order, {}, async (handle) => {
      await (refusals === 1 ? handle.result() : environment.sleep('10 minutes'));
    });
    const cases = order.steps.flatMap(({ attention }) => attention?.reason ?? []);
    expect([...order.calls, ...cases.map((reason) => `case ${reason}`)]).toContain(expected);
    expect(order.evidence).toEqual([]);
  });

  it.each(['unknown', 'failed'] as const)(
    'opens a case first, if it had ended without effect and the row of its attempt is %s',
    async (state) => {
      const order = await orderWith(['answers completed']);
      order.observe(state);
      order.lookUps = ['not_found'];
      order.evidence = ['no_debit'];
      const witness: Witness = { number: 1, state: 'failed', sends: 1, anyUnknown: true, ended: 'abandoned' };
      await withOrder(order, { carried: { holds: 0, witness } }, async (handle) => {
        expect(await shownAfter('2 days', handle)).toMatchObject(needsAttention('records_lost'));
      });
      expect(order.sent).toEqual([]);
    },
  );

  it('handles a report whose row has the id of a report that it handled before', async () => {
    const order = await orderWith(['answers processing']);
    await withOrder(order, {}, async (handle) => {
      await environment.sleep('1 minute');
      order.observe('processing');
      await report(handle, { inboxId: '17', epoch: 'before', outcome: 'processing' });
      await environment.sleep('1 minute');
      order.observe('completed');
      await report(handle, { inboxId: '17', epoch: 'after', outcome: 'completed' });
      expect(await handle.result()).toMatchObject({ status: 'completed' });
    });
    // Without the second report, the order would have been looked up after a week.
    expect(order.calls).not.toContain('lookUpPurchase');
  });

  it('no longer waits for the service if its row is unknown again', async () => {
    const order = await orderWith(['answers processing'], { lookUps: ['found completed'] });
    await withOrder(order, {}, async (handle) => {
      await environment.sleep('1 hour');
      order.observe('unknown');
      await handle.signal(operatorActedSignal);
      await environment.sleep('1 day');
      expect(order.calls).toContain('lookUpPurchase');
      expect(await handle.result()).toMatchObject({ status: 'completed' });
    });
  });

  it('opens its lost case again when it is woken', async () => {
    const order = await orderWith([{ fails: 'timeout' }, { fails: 'timeout' }]);
    await withOrder(order, {}, async (handle) => {
      await environment.sleep('2 days');
      const cases = () => order.steps.filter(({ attention }) => attention !== undefined).length;
      const before = cases();
      expect(before).toBeGreaterThan(0);
      await handle.signal(operatorActedSignal);
      await environment.sleep('1 day');
      expect(cases()).toBeGreaterThan(before);
      order.observe('completed');
      await report(handle, { inboxId: '17', epoch: 'after', outcome: 'completed' });
      return handle.result();
    });
  });

  it.each([
    ['stays open', undefined, false],
    ['is judged again after a retry that came first', 0, true],
  ])('whose case is open while its row is compared: the case %s', async (_what, nextStepAt, isJudged) => {
    const order = await orderWith(['answers failed'], { evidence: Array.from({ length: 20 }, () => 'debited') });
    let isRestarted = false;
    order.change = beginning(async (_input, next) => {
      const snapshot = await next();
      if (!isRestarted) return snapshot;
      const compared = { isFirstSinceRestart: true, attention: 'failed_but_charged' } as const;
      return { ...snapshot, ...compared, ...(nextStepAt !== undefined && { nextStepAt }) };
    });
    await withOrder(order, {}, async (handle) => {
      await environment.sleep('1 hour');
      expect(order.steps.at(-1)?.attention?.reason).toBe('failed_but_charged');
      const steps = order.steps.length;
      isRestarted = true;
      await handle.signal(operatorActedSignal);
      await environment.sleep('40 seconds');
      expect(order.steps.length > steps).toBe(isJudged);
    });
  });

  // The second limit causes a new run at each step.
  it.each([1_000, 15])(
    'looks up at its time also if it is woken many times while it waits for the service (history: %s)',
    async (historyLimit) => {
      const order = await orderWith(['answers processing'], { lookUps: ['found completed'] });
      const result = await withOrder(order, { historyLimit }, async (handle) => {
        for (let minute = 1; minute <= 6; minute += 1) {
          await environment.sleep('1 minute');
          await handle.signal(operatorActedSignal);
        }
        expect(order.calls).not.toContain('lookUpPurchase');
        await environment.sleep('8 days');
        expect(order.calls).toContain('lookUpPurchase');
        return handle.result();
      });
      expect(result).toMatchObject({ status: 'completed' });
    },
  );

  it('claims no send with a row that has lost earlier sends', async () => {
    const order = await orderWith([{ fails: 'timeout' }, { fails: 'insufficient_balance' }], { losesSendsAfter: 1 });
    order.lookUps = ['found completed'];
    expect(await resultOf(order)).toMatchObject({ status: 'completed' });
    expect(order.steps.map(({ status }) => status)).not.toContain('held');
  });

  it('without its row waits with a case, over many runs, and continues when the row is restored', async () => {
    const order = await orderWith(['answers completed']);
    let isMissing = true;
    order.change = beginning(async (_input, next) => {
      if (isMissing) throw ApplicationFailure.nonRetryable('it does not exist', WORK_MISSING);
      return next();
    });
    const witness: Witness = { number: 1, state: 'prepared', sends: 0, anyUnknown: false };
    await withOrder(order, { carried: { holds: 0, witness } }, async (handle) => {
      const withCase = { ...needsAttention('records_lost'), nextStepAt: expect.any(Number) };
      expect(await shownAfter(6 * 3_600_000, handle)).toMatchObject(withCase);
      isMissing = false;
      expect(await handle.result()).toMatchObject({ status: 'completed' });
    });
  });

  it('reads its row again if the row of the attempt is lost while the wallet is read', async () => {
    const order = await orderWith(['answers failed', 'answers completed'], { evidence: ['no_debit'] });
    const calls: string[] = [];
    order.change = (fakes) => ({
      beginWork: (input) => {
        calls.push('beginWork');
        return fakes.beginWork(input);
      },
      readDebitEvidence: (input) => {
        calls.push('readDebitEvidence');
        if (calls.filter((name) => name === 'readDebitEvidence').length > 1) return fakes.readDebitEvidence(input);
        throw ApplicationFailure.nonRetryable('attempt att_1 does not exist', WORK_MISSING);
      },
    });
    expect(await resultOf(order)).toMatchObject({ status: 'completed' });
    expect(calls).toEqual(expect.arrayContaining(['beginWork', 'readDebitEvidence', 'beginWork', 'readDebitEvidence']));
  });

  it('ends again with its former result if nothing was bought', async () => {
    const order = await orderWith();
    const end = { failure: 'supplier_failed', endedBy: 'attempts_used_up' } as const;
    const witness: Witness = { number: 1, state: 'refused', sends: 1, anyUnknown: false, ended: 'failed', ...end };
    expect(await resultOf(order, { carried: { holds: 0, witness } })).toMatchObject({ status: 'failed', ...end });
    expect(order.steps.at(-1)?.failure).toMatchObject({ class: end.failure, endedBy: end.endedBy });
    expect(witnessOfEnd({ status: 'failed', ...end }, undefined)).toMatchObject({ ended: 'failed', ...end });
    expect(order.sent).toEqual([]);
  });
});
