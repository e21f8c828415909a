import { randomUUID } from 'node:crypto';
import { ApplicationFailure } from '@temporalio/common';
import type { OperatorAction } from '#domain/operator/operator-actions.ts';
import { costNothing } from '#domain/purchase/purchase-decision.ts';
import { hasLostRecords, type Witness } from '#domain/purchase/recovery.ts';
import type {
  AttemptSnapshot,
  PurchaseActivities,
  WorkSnapshot,
  SendResult,
  StepRecord,
} from '#domain/purchase/results.ts';
import type { AttemptState } from '#domain/relay/observation.ts';
import { changedOverrides, type RetryOverrides, type WhenUsedUp } from '#domain/retry/retry-rules.ts';
import type { FailureClass } from '#domain/work/failure.ts';
import { judgeAction, newAttempt } from '#test/support/work/workflows/fake-order-rules.ts';
import { ACTION_REFUSED, WORK_FINISHED } from '#workflows/messages.ts';

const ANSWERS = {
  'answers processing': 'processing',
  'answers completed': 'completed',
  'answers failed': 'failed',
} as const;

/** The result of one scripted send. */
export type ScriptedSend =
  | keyof typeof ANSWERS
  | { readonly fails: FailureClass; readonly retryAfterMs?: number }
  /** The worker is killed: the activity fails without a result. */
  | 'dies before the send'
  | 'dies after the send'
  | { readonly leasedForMs: number }
  /** A report of the service is not judged yet. */
  | 'is barred'
  /** The activity started after the end of the window. */
  | 'comes too late'
  | 'is revoked'
  /** The activity started after the deadline of the order. */
  | 'misses the deadline'
  /** The purchase gate does not let it through. */
  | { readonly gated: FailureClass; readonly recheckMs: number };

/**
 * Typed fakes of the order activities for one order, with scripted sends. They store the same state as the real ones
 * store in PostgreSQL, so that a workflow can read it again.
 */
export class FakeOrder {
  readonly orderId = `ord_${randomUUID()}`;
  readonly steps: StepRecord[] = [];
  readonly sent: { attempt: number; at: number }[] = [];
  readonly calls: string[] = [];
  /** The fakes that a test replaces. */
  change: (fakes: PurchaseActivities, now: () => Promise<number>) => Partial<PurchaseActivities> = () => ({});
  attemptsInForce = Infinity;
  /** A restore or a verdict has taken away the proof that an earlier attempt cost nothing. */
  isEarlierUnsettled = false;
  /** What the caller or the policy wants when the attempts are used up. */
  whenUsedUp: WhenUsedUp = 'fail';
  lookUps: ('found processing' | 'found completed' | 'found failed' | 'not_found')[] = [];
  evidence: ('no_debit' | 'credited' | 'debited' | 'unavailable' | 'awaited')[] = [];
  absences: ('absent' | 'awaited' | 'unproven' | 'not asked')[] = [];
  deadlineAt: number | undefined;
  finished: { status: 'completed' | 'failed' | 'abandoned'; esimId?: string } | undefined;
  delivery: 'delivered' | 'unreadable' | 'fails' = 'delivered';
  /** What is completed in the answer to a send is delivered by the same activity. */
  deliversAtOnce = false;
  readonly acts: OperatorAction[] = [];
  /** PostgreSQL once loses the record of this many sends. */
  losesSendsAfter: number | undefined;
  retryOverrides: RetryOverrides = {};
  /** Time of the next step in its row. */
  #nextStepAt: number | undefined;
  #extraAttempts = 0;
  readonly #sends: ScriptedSend[];
  readonly #acceptedAt: number;
  #attempt: AttemptSnapshot = newAttempt(1);

  constructor(sends: ScriptedSend[], acceptedAt: number) {
    this.#sends = [...sends];
    this.#acceptedAt = acceptedAt;
  }

  /** Stores a report, as the relay does before it signals the workflow. */
  observe(state: AttemptState): void {
    this.#set({ state });
  }

  /** Stores the effect of a retry in the row of held work. */
  continueNow(): void {
    this.#nextStepAt = 0;
  }

  get attempt(): AttemptSnapshot {
    return this.#attempt;
  }

  /** How often an entry is in `calls`. */
  timesCalled(name: string): number {
    return this.calls.filter((call) => call === name).length;
  }

  activities(now: () => Promise<number>): PurchaseActivities {
    const fakes = this.#fakes(now);
    return { ...fakes, ...this.change(fakes, now) };
  }

  #fakes(now: () => Promise<number>): PurchaseActivities {
    return {
      beginWork: async ({ witness }) => {
        this.calls.push('beginWork');
        this.#refuseFinished();
        const { number, state, history } = this.#attempt;
        if (witness !== undefined && hasLostRecords(witness, { number, state, sends: history.sends })) {
          const sends = Math.max(history.sends, witness.sends);
          this.#set({
            state: 'unknown',
            history: {
              firstSentAt: witness.firstSentAt,
              firstUnrefusedSendAt: witness.firstUnrefusedSendAt,
              sends,
              anyUnknown: true,
            },
          });
        }
        return this.#snapshot();
      },
      openNextAttempt: async ({ number }) => {
        this.calls.push(`openNextAttempt ${number}`);
        if (number > this.attemptsInForce) return { kind: 'not_allowed', attempts: this.attemptsInForce };
        if (this.#attempt.number !== number) this.#attempt = newAttempt(number);
        return { kind: 'opened', attempt: this.#attempt };
      },
      sendPurchase: async ({ witness, delivers }) => {
        const outcome = this.#send(await now(), witness);
        const result = { outcome, attempt: this.#attempt };
        if (!this.deliversAtOnce || delivers !== true || this.#attempt.state !== 'completed') return result;
        this.finished = { status: 'completed', esimId: 'esim_1' };
        return { ...result, delivered: { esimId: 'esim_1' } };
      },
      lookUpPurchase: async () => {
        this.calls.push('lookUpPurchase');
        const next = this.lookUps.shift() ?? 'not_found';
        if (next === 'not_found') return { kind: 'not_found' };
        const outcome = next.split(' ')[1] as 'processing' | 'completed' | 'failed';
        this.#set({ state: outcome });
        return { kind: 'found', outcome };
      },
      proveAbsence: async () => {
        this.calls.push('proveAbsence');
        const next = this.absences.shift() ?? 'unproven';
        if (next === 'absent') this.#set({ history: { ...this.#attempt.history, firstUnrefusedSendAt: await now() } });
        if (next === 'awaited')
          return { kind: 'awaited', reason: 'out_of_reach', detail: 'The reading ends too early.' };
        return next === 'absent'
          ? { kind: 'absent' }
          : { kind: 'unproven', mayPass: next === 'not asked', detail: 'The wallet shows nothing.' };
      },
      readDebitEvidence: async () => {
        this.calls.push('readDebitEvidence');
        const evidence = this.evidence.shift() ?? 'unavailable';
        if (evidence === 'awaited') return { evidence, reason: 'out_of_reach', detail: 'The reading ends too early.' };
        if (costNothing(evidence)) this.#set({ settled: true });
        return { evidence, detail: `Evidence: ${evidence}.` };
      },
      completePurchase: async () => {
        this.calls.push('completePurchase');
        if (this.delivery === 'fails')
          return { kind: 'not_yet', reason: 'timeout', detail: 'The service does not answer.' };
        if (this.delivery === 'unreadable') return { kind: 'unreadable', detail: 'No activation code.' };
        this.finished = { status: 'completed', esimId: 'esim_1' };
        return { kind: 'completed', esimId: 'esim_1' };
      },
      recordStep: async (step) => {
        this.#refuseFinished();
        const { state, settled } = this.#attempt;
        const mayBeBought =
          ['sending', 'unknown', 'processing', 'completed'].includes(state) || (state === 'failed' && !settled);
        if (step.status === 'failed' && (mayBeBought || this.isEarlierUnsettled)) return 'may_be_bought';
        if (step.failure?.endedBy === 'attempts_used_up' && this.whenUsedUp === 'ask') return 'attempts_used_up';
        this.steps.push(step);
        this.#nextStepAt = step.nextStepAt;
        if (step.status === 'failed') this.finished = { status: 'failed' };
        return 'recorded';
      },
      actOnWork: async ({ action }) => this.#act(action),
    };
  }

  /** Applies an action by the rules of the real activity. */
  #act(action: OperatorAction): 'applied' {
    const last = this.steps.at(-1);
    const attention = last?.attention?.reason ?? null;
    const work = {
      status: last?.status ?? ('submitting' as const),
      attempt: this.#attempt,
      openContradiction: attention === 'contradiction',
      observationsPending: false,
    };
    const judged = judgeAction(work, action, this.retryOverrides, this.#acceptedAt);
    if (judged !== 'allowed') throw ApplicationFailure.nonRetryable(judged, ACTION_REFUSED);
    this.acts.push(action);
    if (action.action === 'change_retry') this.retryOverrides = changedOverrides(this.retryOverrides, action.change);
    if (action.action === 'retry' || action.action === 'change_limit') this.#nextStepAt = 0;
    if (action.action === 'retry' && attention === 'attempts_used_up') this.#extraAttempts += 1;
    if (action.action === 'abandon') this.finished = { status: 'abandoned' };
    if (action.action === 'resolve' && action.verdict === 'not_bought') this.#set({ state: 'failed', settled: true });
    if (action.action === 'resolve' && action.verdict === 'bought') this.#set({ state: 'completed' });
    return 'applied';
  }

  #send(at: number, witness?: Witness): SendResult['outcome'] {
    this.#refuseFinished();
    const { state } = this.#attempt;
    if (state === 'processing' || state === 'completed' || state === 'failed')
      return { kind: 'accepted', outcome: state };
    if (this.losesSendsAfter === this.sent.length) {
      this.losesSendsAfter = undefined;
      this.#attempt = newAttempt(this.#attempt.number);
    }
    const { number, state: inRow, history } = this.#attempt;
    if (hasLostRecords(witness, { number, state: inRow, sends: history.sends })) return { kind: 'records_lost' };
    const script = this.#sends.shift();
    if (script === undefined) throw ApplicationFailure.nonRetryable('the test scripted no further send');
    if (script === 'is barred') return { kind: 'barred', by: 'observations_pending' };
    if (script === 'misses the deadline') return { kind: 'failure', failure: 'deadline_passed' };
    if (script === 'comes too late') return { kind: 'too_late' };
    if (script === 'is revoked') return { kind: 'resend_not_allowed' };
    if (script === 'dies before the send') throw ApplicationFailure.nonRetryable('killed');
    if (typeof script === 'object' && 'leasedForMs' in script)
      return { kind: 'lease_held', retryAfterMs: script.leasedForMs };
    if (typeof script === 'object' && 'gated' in script) {
      const { gated: failure, recheckMs } = script;
      return { kind: 'gated', failure, detail: 'The gate is closed.', recheckMs };
    }

    this.sent.push({ attempt: number, at });
    const { firstSentAt = at, firstUnrefusedSendAt = at } = history;
    this.#set({
      state: 'sending',
      history: { ...history, sends: history.sends + 1, firstSentAt, firstUnrefusedSendAt },
    });
    if (script === 'dies after the send') {
      this.#set({ history: { ...this.#attempt.history, anyUnknown: true } });
      throw ApplicationFailure.nonRetryable('killed');
    }
    if (typeof script === 'object') return this.#fail(script);
    const outcome = ANSWERS[script];
    this.#set({ state: outcome });
    return { kind: 'accepted', outcome };
  }

  #fail(script: { fails: FailureClass; retryAfterMs?: number }): SendResult['outcome'] {
    const definite = ![
      'timeout',
      'connection_lost',
      'server_error',
      'unreadable_answer',
      'contract_drift',
      'key_or_reference_used',
    ].includes(script.fails);
    const anyUnknown = this.#attempt.history.anyUnknown || !definite;
    this.#set({
      state: anyUnknown ? 'unknown' : 'refused',
      history: {
        ...this.#attempt.history,
        anyUnknown,
        firstUnrefusedSendAt: anyUnknown ? this.#attempt.history.firstUnrefusedSendAt : undefined,
      },
      failure: { class: script.fails, detail: `It was ${script.fails}.` },
    });
    const { fails: failure, retryAfterMs } = script;
    return { kind: 'failure', failure, ...(retryAfterMs !== undefined && { retryAfterMs }) };
  }

  #snapshot(): WorkSnapshot {
    const { status = 'accepted', attention, failure }: Partial<StepRecord> = this.steps.at(-1) ?? {};
    return {
      status,
      acceptedAt: this.#acceptedAt,
      attempt: this.#attempt,
      extraAttempts: this.#extraAttempts,
      retryOverrides: this.retryOverrides,
      ...(this.#nextStepAt !== undefined && { nextStepAt: this.#nextStepAt }),
      observations: [],
      ...(this.deadlineAt !== undefined && { deadlineAt: this.deadlineAt }),
      ...(attention !== undefined && { attention: attention.reason }),
      ...(failure !== undefined && { failure: failure.class }),
    };
  }

  #refuseFinished(): void {
    if (this.finished !== undefined) throw ApplicationFailure.nonRetryable('ended', WORK_FINISHED, this.finished);
  }

  #set(change: Partial<AttemptSnapshot>): void {
    this.#attempt = { ...this.#attempt, ...change };
  }
}
