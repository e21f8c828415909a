import { condition } from '@temporalio/workflow';
import type { PurchasePolicy } from '#domain/policy/purchase-policy.ts';
import type { RecordResult } from '#domain/purchase/purchase-decision.ts';
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
import type {
  AttemptSnapshot,
  CancellationSnapshot,
  StepRecord,
  SubscriptionSnapshot,
  WorkSnapshot,
} from '#domain/purchase/results.ts';
import { WAIT_NAMES, type WaitName } from '#workflows/wait-names.ts';
import type { Shown } from '#workflows/work/current-details.ts';
import type { RunParts } from '#workflows/work/handlers.ts';
import type { ObservationQueue } from '#workflows/work/observation-queue.ts';
import type { Progress } from '#workflows/work/progress.ts';
import type { RunMemory } from '#workflows/work/run-memory.ts';
import type { CarriedState, Remembered } from '#workflows/work/run-state.ts';
import { readWork, recordStep, taskPosition } from '#workflows/work/work-records.ts';

/** A step to record, and the next step to show. Its timeline event is named after the status by default. */
type StepToRecord = Omit<StepRecord, 'work' | 'stepKey' | 'applied' | 'attemptNumber' | 'event'> & {
  readonly event?: string;
  readonly next: string;
};

/** The state that a lifecycle passes to the next run; {@link WorkRun} adds the rest. */
export type LifecycleState = Omit<CarriedState, 'hasNewAction' | keyof Remembered>;

/** Cases that only a person's decision or retry closes. */
const UNTIL_DECIDED: ReadonlySet<AttentionReason> = new Set(['contradiction', 'cancellation_refused']);

/** A wait for a person has no end; the timer exists because a condition without one has no name in the history. */
const PERSON_WAIT = '365 days';

/** What ended a wait. */
export type WokenBy = 'time' | 'observation' | 'operator';

/**
 * One run of the workflow of one piece of work: the work as last read from PostgreSQL, and what every step does with
 * it: wait, record, show, read again, continue as new.
 */
export class WorkRun {
  readonly policy: PurchasePolicy;
  readonly memory: RunMemory;
  readonly observations: ObservationQueue;
  readonly work: WorkRef;
  /** The state that the last run passed on. */
  readonly carried: CarriedState | undefined;
  readonly #progress: Progress;
  readonly #actions: RunParts['actions'];
  #snapshot: WorkSnapshot;
  /** Status, case and failure class in PostgreSQL: as read, or as recorded since. */
  #stored: Pick<WorkSnapshot, 'status'> & Pick<Shown, 'attention' | 'failure'>;
  #heldFor: FailureClass | undefined;
  /** Operator actions that were handled; a later one ends the present wait. */
  #seenActions = 0;
  #recorded = 0;
  /** Inbox rows that the next recorded step marks as handled. */
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

  /** Such as `top-up`. */
  get noun(): string {
    return KINDS[this.work.kind].noun;
  }

  /** The work as PostgreSQL had it when it was last read. */
  get snapshot(): WorkSnapshot {
    return this.#snapshot;
  }

  /** The newest attempt. */
  get attempt(): AttemptSnapshot {
    return this.#snapshot.attempt;
  }

  set attempt(attempt: AttemptSnapshot) {
    this.#snapshot = { ...this.#snapshot, attempt };
    this.memory.noteAttempt(attempt);
  }

  /** Reason of the open case in PostgreSQL. */
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

  /** True when PostgreSQL shows the work as waiting, so that its progress must be recorded. */
  get isWaiting(): boolean {
    return this.status === 'held' || this.status === 'needs_attention';
  }

  /** Sets the failure class whose retry rule applies from now on. */
  set heldFor(failure: FailureClass) {
    this.#heldFor = failure;
  }

  /** The configured retry rule for the last failure. */
  get configuredRule(): RetryRule {
    const { number, failure } = this.attempt;
    const afterFirst = number > 1 ? 'supplier_failed' : undefined;
    return retryRule(this.#heldFor ?? failure?.class ?? afterFirst, this.policy);
  }

  /** The retry rule with what operators have changed for this work. */
  get rule(): RetryRule {
    return ruleOfWork(this.configuredRule, this.retryOverrides, this.#snapshot.extraAttempts);
  }

  /** Overrides of operators for the retry rule of this work. */
  get retryOverrides(): RetryOverrides {
    return this.#snapshot.retryOverrides ?? {};
  }

  /** When held work fails, in epoch milliseconds. */
  get deadline(): number {
    return givesUpAt(this.#snapshot, this.configuredRule, this.retryOverrides);
  }

  /**
   * True when only a change of the retry rule, or the comparison with a restarted database, ended a wait. The work must
   * then not continue at once.
   * @param before the overrides when the wait began.
   * @param wakeAt the recorded end of the wait, in epoch milliseconds.
   */
  isOnlyRescheduled(before: RetryOverrides, wakeAt: number): boolean {
    const { isFirstSinceRestart = false, nextStepAt = 0 } = this.#snapshot;
    return (isFirstSinceRestart || !equalOverrides(before, this.retryOverrides)) && nextStepAt >= Math.floor(wakeAt);
  }

  /** True when an operator has acted since PostgreSQL was last read. */
  get hasNewAction(): boolean {
    return this.#actions.count > this.#seenActions;
  }

  /** Reads the work from PostgreSQL again, with new reports. */
  async reload(): Promise<void> {
    this.#seenActions = this.#actions.count;
    const snapshot = await readWork(this.work, this.memory);
    this.#snapshot = snapshot;
    this.#stored = snapshot;
    for (const observation of snapshot.observations) this.observations.offer(observation);
  }

  /**
   * Waits for a time, a report of the service or an operator's action. After an action the work has been read again.
   * @param ms in milliseconds.
   */
  async wait(ms: number, summary: WaitName): Promise<WokenBy> {
    await condition(() => this.hasNewAction || !this.observations.isEmpty, Math.max(1, ms), { summary });
    if (!this.observations.isEmpty) return 'observation';
    if (!this.hasNewAction) return 'time';
    await this.reload();
    return 'operator';
  }

  /**
   * Waits for a person or a report. When only a verdict or a retry can close the case, other actions do not end it.
   * @param reason of the case; names the wait in the Temporal UI.
   * @param until epoch milliseconds at which the wait ends; undefined: it has no end.
   */
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
   * Records a step in PostgreSQL and shows it in the Temporal UI. Continues as new when PostgreSQL has a step of a
   * later workflow task (this worker has lost its task, or Temporal was set back), and when PostgreSQL has started
   * since the last read: the next run first compares what it knows with the row.
   * @returns `recorded`, or why PostgreSQL refused it without a change.
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

  /**
   * Shows that the work continues. Recorded only when PostgreSQL shows it as waiting, or when a report is not handled
   * yet.
   */
  async goOn({ status, now, next }: Pick<Shown, 'status' | 'now' | 'next'>): Promise<void> {
    if (this.isWaiting || this.owesAnswers) await this.record({ status, message: now, next });
    else this.show({ status, now, next });
  }

  /** Lets the next recorded step mark these inbox rows as handled. */
  answer(inboxIds: readonly string[]): void {
    this.#answered.push(...inboxIds);
  }

  /** True while inbox rows wait for a step that marks them as handled. */
  get owesAnswers(): boolean {
    return this.#answered.length > 0;
  }

  /** Returns the inbox rows to be marked, and clears the list. */
  takeAnswered(): string[] {
    const taken = this.#answered;
    this.#answered = [];
    return taken;
  }

  /** Shows the work in the Temporal UI; PostgreSQL is not changed. */
  show(shown: Shown): void {
    const isTriedAgain =
      shown.status === 'submitting' || shown.status === 'held' || shown.attention === 'attempts_used_up';
    const retry = isTriedAgain ? retrySentence(this.rule, this.deadline, this.retryOverrides) : undefined;
    this.#progress.show({ ...shown, attempt: this.attempt, retry, maxPrice: this.#snapshot.maxPrice });
  }

  /** @param state for the next run; called when this run continues as new. */
  handOver(state: () => LifecycleState): void {
    this.#lifecycleState = state;
  }

  /** Continues as new when the history is long. Every loop calls it while no activity or handler is under way. */
  async continueAsNewIfLong(): Promise<void> {
    if (this.memory.isLong) await this.#continueAsNew(this.#lifecycleState);
  }

  async #continueAsNew(state: () => LifecycleState): Promise<never> {
    return this.memory.continueAsNew(() => ({ ...state(), ...(this.hasNewAction && { hasNewAction: true }) }));
  }
}
