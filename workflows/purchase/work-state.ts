import { condition, workflowInfo } from '@temporalio/workflow';
import type {
  AttemptView,
  CancellationView,
  RecordResult,
  StepRecord,
  SubscriptionView,
  WorkSnapshot,
} from '#activities/work/work-types.ts';
import { ATTENTION_REASONS, type AttentionReason } from '#domain/work/attention.ts';
import type { FailureClass } from '#domain/work/failure.ts';
import type { WorkStatus } from '#domain/work/lifecycle.ts';
import {
  equalOverrides,
  givesUpAt,
  retryRule,
  retrySentence,
  ruleOfWork,
  type RetryOverrides,
  type RetryRule,
} from '#domain/work/retry-rules.ts';
import { KINDS, type WorkRef } from '#domain/work/work.ts';
import type { PurchaseWorkflowInput } from '#workflows/messages.ts';
import type { ObservationQueue } from '#workflows/observations.ts';
import type { Carried, Remembered } from '#workflows/purchase/carried.ts';
import type { Progress, Standing } from '#workflows/purchase/progress.ts';
import type { RunMemory } from '#workflows/purchase/run-memory.ts';
import { WAIT_NAMES, type WaitName } from '#workflows/purchase/wait-names.ts';
import { database, readWork } from '#workflows/purchase/work-records.ts';

/** What a run of a workflow that buys works with. */
export interface RunContext {
  readonly input: PurchaseWorkflowInput;
  readonly snapshot: WorkSnapshot;
  readonly memory: RunMemory;
  readonly observations: ObservationQueue;
  readonly progress: Progress;
  /** How often a person has acted on the work in this run. */
  readonly acts: { count: number };
}

/** What is recorded of a step, and what follows it. Its event is named after the status by default. */
export type StepToRecord = Omit<StepRecord, 'work' | 'stepKey' | 'applied' | 'attemptNumber' | 'event'> & {
  readonly event?: string;
  readonly next: string;
};

/** Work that is parked for these goes on once PostgreSQL says that a person has judged or retried it, not before. */
const UNTIL_JUDGED: ReadonlySet<AttentionReason> = new Set(['contradiction', 'cancellation_refused']);

/**
 * A wait for a person ends with no time. It has a timer all the same, since a condition without one has no name in the
 * history.
 */
const PARKED_WAIT = '365 days';

/** Why work of every kind is parked for a contradiction. */
export const CONTRADICTED = 'The service said two things about it that cannot both be true.';

/** What woke a wait. */
export type WokenBy = 'time' | 'observation' | 'operator';

/** What a run knows of its work, and the ways in which it keeps PostgreSQL and the Temporal UI up to date. */
export class WorkState {
  readonly #context: RunContext;
  #attempt: AttemptView;
  #extraAttempts: number;
  #retryOverrides: RetryOverrides;
  /** Of the row. */
  #nextStepAt: number | undefined;
  #isFirstSinceRestart = false;
  #heldFor: FailureClass | undefined;
  #status: WorkStatus;
  #attention: AttentionReason | undefined;
  #failure: FailureClass | undefined;
  #subscription: SubscriptionView | undefined;
  #cancellation: CancellationView | undefined;
  /** Acts of people that were taken into account; a later one wakes whatever waits. */
  #seenActs = 0;
  #recorded = 0;
  /** Inbox rows that the next recorded step answers. */
  #answered: string[] = [];
  /** What the run hands over beside what is known here. */
  #toCarry: () => Omit<Carried, 'isActedOn' | keyof Remembered> = () => ({ holds: 0 });

  constructor(context: RunContext) {
    this.#context = context;
    this.#attempt = context.snapshot.attempt;
    this.#extraAttempts = context.snapshot.extraAttempts;
    this.#retryOverrides = context.snapshot.retryOverrides ?? {};
    this.#nextStepAt = context.snapshot.nextStepAt;
    this.#status = context.snapshot.status;
    this.#attention = context.snapshot.attention;
    this.#failure = context.snapshot.failure;
    this.#subscription = context.snapshot.subscription;
    this.#cancellation = context.snapshot.cancellation;
    for (const observation of context.snapshot.observations) context.observations.offer(observation);
  }

  get work(): WorkRef {
    return this.#context.input.work;
  }

  /** How a sentence names it. */
  get noun(): string {
    return KINDS[this.work.kind].noun;
  }

  get attempt(): AttemptView {
    return this.#attempt;
  }

  set attempt(attempt: AttemptView) {
    this.#attempt = attempt;
    this.#context.memory.noteAttempt(attempt);
  }

  /** What it is held for from now on: the rules of that class apply. */
  set heldFor(failure: FailureClass) {
    this.#heldFor = failure;
  }

  /** How it is tried again, as configured for what it failed with last. */
  get configuredRule(): RetryRule {
    const afterFirst = this.#attempt.number > 1 ? 'supplier_failed' : undefined;
    return retryRule(this.#heldFor ?? this.#attempt.failure?.class ?? afterFirst, this.#context.input.policy);
  }

  /** The same with what operators have set for it. */
  get rule(): RetryRule {
    return ruleOfWork(this.configuredRule, this.#retryOverrides, this.#extraAttempts);
  }

  /** Epoch milliseconds after which what is held fails. */
  get deadline(): number {
    return givesUpAt(this.#context.snapshot, this.configuredRule, this.#retryOverrides);
  }

  /** What operators have set for how it is tried again, by PostgreSQL. */
  get retryOverrides(): RetryOverrides {
    return this.#retryOverrides;
  }

  /**
   * True when all that was done during a wait was to change how it is tried again, or to compare it with a restarted
   * database: it is not to go on at once then.
   *
   * @param before what was set when the wait began. @param wakeAt when it was to end, as it was recorded.
   */
  isOnlyRescheduled(before: RetryOverrides, wakeAt: number): boolean {
    const isOnly = this.#isFirstSinceRestart || !equalOverrides(before, this.#retryOverrides);
    return isOnly && (this.#nextStepAt ?? 0) >= Math.floor(wakeAt);
  }

  /** True when a person has acted since PostgreSQL was last read. */
  get isActedOn(): boolean {
    return this.#context.acts.count > this.#seenActs;
  }

  /** What it waits for a person for, by PostgreSQL. */
  get attention(): AttentionReason | undefined {
    return this.#attention;
  }

  /** What stands in its way, by PostgreSQL. */
  get failure(): FailureClass | undefined {
    return this.#failure;
  }

  /** What PostgreSQL knew of a subscription when it was last read. */
  get subscription(): SubscriptionView {
    if (this.#subscription === undefined) throw new Error(`${this.work.id} is no subscription`);
    return this.#subscription;
  }

  /** What PostgreSQL knew of a cancellation when it was last read; undefined for every other kind. */
  get cancellation(): CancellationView | undefined {
    return this.#cancellation;
  }

  get isCancelling(): boolean {
    return this.#status === 'cancelling';
  }

  /** True when PostgreSQL has it as waiting, so that it is to be told when the work goes on. */
  get isHeldOrParked(): boolean {
    return this.#status === 'held' || this.#status === 'needs_attention';
  }

  /** Reads the newest attempt from PostgreSQL, with what the service said meanwhile. */
  async reload(): Promise<void> {
    this.#seenActs = this.#context.acts.count;
    const snapshot = await readWork(this.#context);
    const { retryOverrides = {}, status, attention, failure, observations } = snapshot;
    this.#attempt = snapshot.attempt;
    this.#extraAttempts = snapshot.extraAttempts;
    this.#retryOverrides = retryOverrides;
    this.#nextStepAt = snapshot.nextStepAt;
    this.#isFirstSinceRestart = snapshot.isFirstSinceRestart === true;
    this.#status = status;
    this.#attention = attention;
    this.#failure = failure;
    this.#subscription = snapshot.subscription;
    this.#cancellation = snapshot.cancellation;
    for (const observation of observations) this.#context.observations.offer(observation);
  }

  /** Waits under a name that the Temporal UI shows. What a person did is known when it returns. */
  async wait(ms: number, summary: WaitName): Promise<WokenBy> {
    const { observations } = this.#context;
    await condition(() => this.isActedOn || !observations.isEmpty, Math.max(1, ms), { summary });
    if (!observations.isEmpty) return 'observation';
    if (!this.isActedOn) return 'time';
    await this.reload();
    return 'operator';
  }

  /**
   * Waits for a word of a person or of the service, however long it takes. Where only a judgement or a retry can move
   * the work on, an act that is neither (another price limit, say), or that came to this, does not end the wait:
   * PostgreSQL tells.
   *
   * @param reason names the wait in the Temporal UI.
   */
  async waitForWord(reason: AttentionReason): Promise<'observation' | 'operator'> {
    const { observations } = this.#context;
    for (;;) {
      await this.changeOverIfLong();
      const isTold = await condition(() => this.isActedOn || !observations.isEmpty, PARKED_WAIT, {
        summary: WAIT_NAMES.person(reason),
      });
      if (!isTold) continue;
      if (!observations.isEmpty) return 'observation';
      await this.reload();
      if (this.#attention === undefined || !UNTIL_JUDGED.has(this.#attention)) return 'operator';
    }
  }

  /** Moves the work on in PostgreSQL, and shows it. */
  async record(step: StepToRecord): Promise<RecordResult> {
    const { next, event = `${this.work.kind}.${step.status}`, ...record } = step;
    this.#recorded += 1;
    const applied = this.takeAnswered();
    const recorded = await database.recordStep({
      ...record,
      event,
      work: this.work,
      attemptNumber: this.#attempt.number,
      stepKey: `${workflowInfo().runId}:${this.#recorded}`,
      applied,
    });
    if (recorded !== 'recorded') {
      this.#answered.unshift(...applied);
      return recorded;
    }
    this.#status = step.status;
    this.#attention = step.attention?.reason;
    this.#failure = step.failure?.class;
    const { status, message: now, nextStepAt } = step;
    this.show({ status, now, next, failure: this.#failure, attention: this.#attention, nextStepAt });
    return recorded;
  }

  /**
   * Shows that the work goes on. It is recorded where PostgreSQL has it as waiting, which is to be over before whatever
   * comes next, however long that takes, and where a word of the service has not been answered yet.
   */
  async goOn({ status, now, next }: Pick<Standing, 'status' | 'now' | 'next'>): Promise<void> {
    if (this.isHeldOrParked || this.owesAnswers) await this.record({ status, message: now, next });
    else this.show({ status, now, next });
  }

  /** These rows of the inbox are answered by the next step that is recorded. */
  answer(inboxIds: readonly string[]): void {
    this.#answered.push(...inboxIds);
  }

  /** True while rows of the inbox wait for a step to be recorded that answers them. */
  get owesAnswers(): boolean {
    return this.#answered.length > 0;
  }

  takeAnswered(): string[] {
    const taken = this.#answered;
    this.#answered = [];
    return taken;
  }

  show(standing: Standing): void {
    const { state, settled } = this.#attempt;
    const isTriedAgain =
      standing.status === 'submitting' || standing.status === 'held' || standing.attention === 'attempts_used_up';
    const retry = isTriedAgain ? retrySentence(this.rule, this.deadline, this.#retryOverrides) : undefined;
    this.#context.progress.show({ ...standing, attempt: { state, settled }, retry });
  }

  /**
   * Shows what a run that begins anew finds parked, so that a person who looks for what waits finds it whichever run it
   * is in. What is not parked is shown by the first step of the run.
   */
  showParked(): void {
    const attention = this.#attention;
    if (attention === undefined) return;
    const now = `Waits for a person. ${ATTENTION_REASONS[attention].meaning}`;
    this.show({
      status: this.#status,
      now,
      next: 'A person decides, or the service says more.',
      failure: this.#failure,
      attention,
    });
  }

  /** Says what a new run is to be handed. @param toCarry asked when it goes on in one. */
  onChangeOver(toCarry: () => Omit<Carried, 'isActedOn' | keyof Remembered>): void {
    this.#toCarry = toCarry;
  }

  /** Goes on in a new run where the history has grown long. Called in every loop, wherever nothing is under way. */
  async changeOverIfLong(): Promise<void> {
    const { memory } = this.#context;
    if (!memory.isLong) return;
    await memory.goOnInNewRun(() => ({ ...this.#toCarry(), ...(this.isActedOn && { isActedOn: true }) }));
  }
}
