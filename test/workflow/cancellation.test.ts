import { randomUUID } from 'node:crypto';
import type { WorkflowHandle } from '@temporalio/client';
import { describe, expect, it } from 'vitest';
import type {
  CancellationSnapshot,
  CompletionResult,
  PurchaseActivities,
  StepRecord,
  WorkSnapshot,
} from '#domain/purchase/results.ts';
import type { AttemptState } from '#domain/relay/observation.ts';
import type { WorkStatus } from '#domain/work/lifecycle.ts';
import { timeSkippingEnvironment } from '#test/support/servers/time-skipping.ts';
import { newAttempt } from '#test/support/work/workflows/fake-order-rules.ts';
import { needsAttention, POLICY, report, shownAfter, withWorker } from '#test/support/work/workflows/order-workflow.ts';
import { cancellationWorkflow } from '#workflows/cancellation.ts';
import { operatorActedSignal } from '#workflows/messages.ts';

const DAY_MS = 86_400_000;

const environment = await timeSkippingEnvironment();

/** Typed fakes of the activities for one cancellation in review. */
class FakeCancellation {
  readonly id = `can_${randomUUID()}`;
  readonly steps: StepRecord[] = [];
  readonly completions: number[] = [];
  lookUps = 0;
  /** What the look-ups find. */
  found: 'processing' | 'failed' | 'nothing' = 'failed';
  status: WorkStatus = 'accepted';
  state: AttemptState = 'prepared';
  view: CancellationSnapshot;
  /** Results of the calls that look for the refund. The last one is repeated. */
  results: (CompletionResult | 'not in the wallet')[] = [{ kind: 'completed', esimId: 'esim_1' }];
  readonly #startedAt: number;

  constructor(startedAt: number, acceptWithoutRefund = false) {
    this.#startedAt = startedAt;
    this.view = { acceptWithoutRefund, refundFailed: false, refundOpen: false, refundPaid: false };
  }

  activities(
    now: () => Promise<number>,
  ): Pick<
    PurchaseActivities,
    'beginWork' | 'sendPurchase' | 'recordStep' | 'completePurchase' | 'lookUpPurchase' | 'proveAbsence'
  > {
    return {
      beginWork: async () => this.#snapshot(),
      sendPurchase: async () => {
        this.state = 'processing';
        return { outcome: { kind: 'accepted', outcome: 'processing' }, attempt: this.#snapshot().attempt };
      },
      recordStep: async (step) => {
        this.steps.push(step);
        this.status = step.status;
        return 'recorded';
      },
      lookUpPurchase: async () => {
        this.lookUps += 1;
        // A loop without waits would stop the time of all tests.
        const outcome = this.lookUps > 100 ? 'failed' : this.found;
        if (outcome === 'nothing') return { kind: 'not_found' };
        this.state = outcome;
        return { kind: 'found', outcome };
      },
      proveAbsence: async () => ({ kind: 'changed' }),
      completePurchase: async () => {
        this.completions.push(await now());
        const result = this.results.length > 1 ? this.results.shift()! : this.results[0]!;
        if (result === 'not in the wallet')
          return { kind: 'not_yet', reason: 'refund_not_in_wallet', detail: 'The wallet does not show it (yet).' };
        return result;
      },
    };
  }

  #snapshot(): WorkSnapshot {
    const attention = this.steps.at(-1)?.attention?.reason;
    const isSent = this.state !== 'prepared';
    return {
      status: this.status,
      acceptedAt: this.#startedAt,
      attempt: {
        ...newAttempt(1),
        state: this.state,
        history: { firstSentAt: isSent ? this.#startedAt : undefined, sends: isSent ? 1 : 0, anyUnknown: false },
      },
      extraAttempts: 0,
      observations: [],
      cancellation: this.view,
      ...(attention !== undefined && this.status === 'needs_attention' && { attention }),
    };
  }
}

async function withCancellation(
  cancellation: FakeCancellation,
  work: (running: WorkflowHandle<typeof cancellationWorkflow>) => Promise<void>,
): Promise<void> {
  const { id } = cancellation;
  await withWorker(cancellation, async (taskQueue) => {
    const running = await environment.client.workflow.start(cancellationWorkflow, {
      workflowId: `cancellation/${id}`,
      taskQueue,
      args: [{ work: { kind: 'cancellation', id }, policy: POLICY }],
    });
    await work(running);
  });
}

describe('a cancellation', () => {
  it('in review for ten days explains its wait, and ends with the report of the service', async () => {
    const cancellation = new FakeCancellation(await environment.currentTimeMs());
    await withCancellation(cancellation, async (running) => {
      expect(await shownAfter('10 days', running)).toMatchObject({ status: 'processing' });
      cancellation.state = 'completed';
      await report(running);
      expect(await running.result()).toMatchObject({ status: 'completed', esimId: 'esim_1' });
      const { events } = await running.fetchHistory();
      expect(events?.filter(({ timerStartedEventAttributes: timer }) => timer)).toHaveLength(1);
    });
  });

  it('whose review does not end needs attention after two weeks, and continues with a later report', async () => {
    const begun = await environment.currentTimeMs();
    const cancellation = new FakeCancellation(begun);
    cancellation.results = [
      { kind: 'needs_attention', reason: 'refund_missing', detail: 'Not decided.' },
      { kind: 'completed', esimId: 'esim_1' },
    ];
    await withCancellation(cancellation, async (running) => {
      expect(await shownAfter('15 days', running)).toMatchObject(needsAttention('refund_missing'));
      expect(cancellation.completions[0]! - begun).toBeGreaterThanOrEqual(14 * DAY_MS);
      cancellation.state = 'completed';
      await report(running);
      expect(await running.result()).toMatchObject({ status: 'completed' });
    });
  });

  it('without an expected refund waits ten minutes for its events, not two weeks', async () => {
    const begun = await environment.currentTimeMs();
    const cancellation = new FakeCancellation(begun, true);
    await withCancellation(cancellation, async (running) => {
      cancellation.view = { ...cancellation.view, cancelledAt: begun };
      await report(running, { outcome: 'processing' });
      expect(await running.result()).toMatchObject({ status: 'completed' });
    });
    expect(cancellation.completions[0]! - begun).toBeLessThan(DAY_MS);
  });

  it('whose refund the wallet does not show for an hour needs attention, and looks again when woken', async () => {
    const cancellation = new FakeCancellation(await environment.currentTimeMs());
    cancellation.results = ['not in the wallet'];
    await withCancellation(cancellation, async (running) => {
      cancellation.state = 'completed';
      await report(running);
      expect(await shownAfter('2 hours', running)).toMatchObject(needsAttention('refund_missing'));
      cancellation.results = [{ kind: 'completed', esimId: 'esim_1' }];
      await running.signal(operatorActedSignal);
      expect(await running.result()).toMatchObject({ status: 'completed' });
    });
  });

  it('whose refund failed looks up the eSIM, because only its status shows the cancellation', async () => {
    const cancellation = new FakeCancellation(await environment.currentTimeMs());
    await withCancellation(cancellation, async (running) => {
      await environment.sleep('1 minute');
      cancellation.view = { ...cancellation.view, refundFailed: true };
      await report(running, { outcome: 'processing' });
      expect(await running.result()).toMatchObject({ status: 'refused' });
    });
  });

  it.each(['processing', 'nothing'] as const)(
    'whose refund failed while look-ups find %s is looked up a few times, then awaits the service',
    async (found) => {
      const cancellation = new FakeCancellation(await environment.currentTimeMs());
      cancellation.found = found;
      await withCancellation(cancellation, async (running) => {
        await environment.sleep('1 minute');
        cancellation.view = { ...cancellation.view, refundFailed: true };
        await report(running, { outcome: 'processing' });
        expect(await shownAfter('1 hour', running)).toMatchObject({ status: 'processing' });
        expect(cancellation.lookUps).toBe(POLICY.lookUps);
        cancellation.state = 'completed';
        await report(running, { inboxId: '2' });
        expect(await running.result()).toMatchObject({ status: 'completed' });
      });
      expect(cancellation.steps.flatMap(({ attention }) => attention ?? [])).toEqual([]);
    },
  );
});
