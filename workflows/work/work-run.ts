import { condition } from '@temporalio/workflow';
import type { PurchasePolicy } from '#domain/policy/purchase-policy.ts';
import type { RecordResult } from '#domain/purchase/purchase-decision.ts';
import type {
  AttemptSnapshot,
  CancellationSnapshot,
  StepRecord,
  SubscriptionSnapshot,
  WorkSnapshot,
} from '#domain/purchase/results.ts';
import {
  equalOverrides,
  givesUpAt,
  retryRule,
  retrySentence,
  ruleOfWork,
  type RetryOverrides,
  type RetryRule,
} from '#domain/retry/retry-rules.ts';
import type { AttentionReason } from '#domain/work/attention.ts';
import type { FailureClass } from '#domain/work/failure.ts';
import { KINDS, type WorkRef } from '#domain/work/kinds.ts';
import type { WorkStatus } from '#domain/work/lifecycle.ts';
import { WAIT_NAMES, type WaitName } from '#workflows/wait-names.ts';
import type { RunParts } from '#workflows/work/handlers.ts';
import type { ObservationQueue } from '#workflows/work/observation-queue.ts';
import type { Shown, Progress } from '#workflows/work/progress.ts';
import type { RunMemory } from '#workflows/work/run-memory.ts';
import type { CarriedState, Remembered } from '#workflows/work/run-state.ts';
import { readWork, recordStep, taskPosition } from '#workflows/work/work-records.ts';

/** Its timeline event is named after the status by default. */
type StepToRecord = Omit<StepRecord, 'work' | 'stepKey' | 'applied' | 'attemptNumber' | 'event'> & {
  readonly event?: string;
  readonly next: string;
};

export type LifecycleState = Omit<CarriedState, 'hasNewAction' | keyof Remembered>;

/** Cases that only a person's decision or retry closes. */
const UNTIL_DECIDED: ReadonlySet<AttentionReason> = new Set(['contradiction', 'cancellation_refused']);

/** A wait for a person has no end; the timer exists because a condition without one has no name in the history. */
const PERSON_WAIT = '365 days';

export type WokenBy = 'time' | 'observation' | 'operator';

export class WorkRun {
  readonly policy: PurchasePolicy;
  readonly memory: RunMemory;
  readonly observations: ObservationQueue;
  readonly work: WorkRef;
  readonly carried: CarriedState | undefined;
  readonly #progress: Progress;
  readonly #actions: RunParts['actions'];
  #snapshot: WorkSnapshot;
  /** As read, or as recorded since. */
  #stored: Pick<WorkSnapshot, 'status'> & Pick<Shown, 'attention' | 'failure'>;
  #heldFor: FailureClass | undefined;
  #seenActions = 0;
  #recorded = 0;
  /** The next recorded step marks them as handled. */
  #answered: string[] = [];
  #lifecycleState: () => LifecycleState = () => ({ holds: 0 });

  constructor({ input, memory, observations, progress, actions }: RunParts, snapshot: WorkSnapshot) {
    this.policy = input.policy;
    this.memory = memory;
    this.observations = observations;
    this.carried = input.carried;
    this.work = input.work;
    this.#progress = progress;
    this.#actions = actions;
    this.#snapshot = snapshot;
    this.#stored = snapshot;
    for (const observation of snapshot.observations) observations.offer(observation);
  }

  get noun(): string {
    return KINDS[this.work.kind].noun;
  }

  get snapshot(): WorkSnapshot {
    return this.#snapshot;
  }

  get attempt(): AttemptSnapshot {
    return this.#snapshot.attempt;
  }

  set attempt(attempt: AttemptSnapshot) {
    this.#snapshot = { ...this.#snapshot, attempt };
    this.memory.noteAttempt(attempt);
  }

  get attention(): AttentionReason | undefined {
    return this.#stored.attention;
  }

  get failure(): FailureClass | undefined {
    return this.#stored.failure;
  }

  get subscription(): SubscriptionSnapshot {
    if (this.#snapshot.subscription === undefined) throw new Error(`${this.work.id} is no subscription`);
    return this.#snapshot.subscription;
  }

  get cancellation(): CancellationSnapshot {
    if (this.#snapshot.cancellation === undefined) throw new Error(`${this.work.id} is no cancellation`);
    return this.#snapshot.cancellation;
  }

  get status(): WorkStatus {
    return this.#stored.status;
  }

  /** Progress must be recorded then. */
  get isWaiting(): boolean {
    return this.status === 'held' || this.status === 'needs_attention';
  }

  set heldFor(failure: FailureClass) {
    this.#heldFor = failure;
  }

  get configuredRule(): RetryRule {
    const { number, failure } = this.attempt;
    const afterFirst = number > 1 ? 'supplier_failed' : undefined;
    return retryRule(this.#heldFor ?? failure?.class ?? afterFirst, this.policy);
  }

  /** With the changes of operators. */
  get rule(): RetryRule {
    return ruleOfWork(this.configuredRule, this.retryOverrides, this.#snapshot.extraAttempts);
  }

  get retryOverrides(): RetryOverrides {
    return this.#snapshot.retryOverrides ?? {};
  }

  /** Epoch milliseconds. */
  get deadline(): number {
    return givesUpAt(this.#snapshot, this.configuredRule, this.retryOverrides);
  }

  /**
   * A change of the retry rule, or the comparison with a restarted database, ended the wait: the work must not
   * continue at once. `wakeAt` is in epoch milliseconds.
   */
  isOnlyRescheduled(before: RetryOverrides, wakeAt: number): boolean {
    const { isFirstSinceRestart = false, nextStepAt = 0 } = this.#snapshot;
    return (isFirstSinceRestart || !equalOverrides(before, this.retryOverrides)) && nextStepAt >= Math.floor(wakeAt);
  }

  get hasNewAction(): boolean {
    return this.#actions.count > this.#seenActions;
  }

  async reload(): Promise<void> {
    this.#seenActions = this.#actions.count;
    const snapshot = await readWork(this.work, this.memory);
    this.#snapshot = snapshot;
    this.#stored = snapshot;
    for (const observation of snapshot.observations) this.observations.offer(observation);
  }

  /** The work has been read again after an operator's action. */
  async wait(ms: number, summary: WaitName): Promise<WokenBy> {
    await condition(() => this.hasNewAction || !this.observations.isEmpty, Math.max(1, ms), { summary });
    if (!this.observations.isEmpty) return 'observation';
    if (!this.hasNewAction) return 'time';
    await this.reload();
    return 'operator';
  }

  /** Other actions do not end it when only a verdict or a retry can close the case. `until` in epoch milliseconds. */
  async waitForPerson(reason: AttentionReason, until?: number): Promise<WokenBy> {
    for (;;) {
      await this.continueAsNewIfLong();
      const left = until === undefined ? PERSON_WAIT : Math.max(1, until - Date.now());
      const isWoken = await condition(() => this.hasNewAction || !this.observations.isEmpty, left, {
        summary: WAIT_NAMES.person(reason),
      });
      if (!isWoken && until !== undefined) return 'time';
      if (!isWoken) continue;
      if (!this.observations.isEmpty) return 'observation';
      await this.reload();
      if (this.attention === undefined || !UNTIL_DECIDED.has(this.attention)) return 'operator';
    }
  }

  /**
   * Continues as new when PostgreSQL has a step of a later task (the task was lost, or Temporal was set back), and
   * when PostgreSQL has started since the last read: the next run compares first.
   */
  async record(step: StepToRecord): Promise<Exclude<RecordResult, 'superseded' | 'not_compared'>> {
    const { next, event = `${this.work.kind}.${step.status}`, ...record } = step;
    this.#recorded += 1;
    const applied = this.takeAnswered();
    const task = taskPosition();
    const recorded = await recordStep({
      ...record,
      event,
      work: this.work,
      attemptNumber: this.attempt.number,
      stepKey: `${task.runId}:${this.#recorded}`,
      task,
      applied,
    });
    if (recorded === 'superseded') return this.#continueAsNew(() => ({ holds: 0 }));
    if (recorded === 'not_compared') return this.#continueAsNew(this.#lifecycleState);
    if (recorded !== 'recorded') {
      this.#answered.unshift(...applied);
      return recorded;
    }
    const { status, message: now, nextStepAt, attention, failure } = step;
    this.#stored = { status, attention: attention?.reason, failure: failure?.class };
    this.show({ ...this.#stored, now, next, nextStepAt });
    return recorded;
  }

  /** Recorded only when PostgreSQL shows the work as waiting, or when a report is not handled yet. */
  async goOn({ status, now, next }: Pick<Shown, 'status' | 'now' | 'next'>): Promise<void> {
    if (this.isWaiting || this.owesAnswers) await this.record({ status, message: now, next });
    else this.show({ status, now, next });
  }

  answer(inboxIds: readonly string[]): void {
    this.#answered.push(...inboxIds);
  }

  get owesAnswers(): boolean {
    return this.#answered.length > 0;
  }

  takeAnswered(): string[] {
    const taken = this.#answered;
    this.#answered = [];
    return taken;
  }

  /** PostgreSQL is not changed. */
  show(shown: Shown): void {
    const isTriedAgain =
      shown.status === 'submitting' || shown.status === 'held' || shown.attention === 'attempts_used_up';
    const retry = isTriedAgain ? retrySentence(this.rule, this.deadline, this.retryOverrides) : undefined;
    this.#progress.show({ ...shown, attempt: this.attempt, retry, maxPrice: this.#snapshot.maxPrice });
  }

  /** `state` is called when this run continues as new. */
  handOver(state: () => LifecycleState): void {
    this.#lifecycleState = state;
  }

  /** No activity or handler may be under way. */
  async continueAsNewIfLong(): Promise<void> {
    if (this.memory.isLong) await this.#continueAsNew(this.#lifecycleState);
  }

  async #continueAsNew(state: () => LifecycleState): Promise<never> {
    return this.memory.continueAsNew(() => ({ ...state(), ...(this.hasNewAction && { hasNewAction: true }) }));
  }
}
