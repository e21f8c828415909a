import { allHandlersFinished, condition, continueAsNew, workflowInfo } from '@temporalio/workflow';
import type { PurchasePolicy } from '#domain/policy/purchase-policy.ts';
import type { RecordResult } from '#domain/purchase/purchase-decision.ts';
import { joinWitness } from '#domain/purchase/recovery.ts';
import type {
  AttemptSnapshot,
  CancellationSnapshot,
  SendResult,
  StepRecord,
  SubscriptionSnapshot,
  WorkSnapshot,
} from '#domain/purchase/results.ts';
import type { ServiceObservation } from '#domain/relay/observation.ts';
import {
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
import { knownAtStart, type PurchaseWorkflowInput, type PurchaseWorkflowResult } from '#workflows/messages.ts';
import { localActivities, taskPosition } from '#workflows/options.ts';
import { sendTerms } from '#workflows/purchase/send.ts';
import type { PurchaseRules, Step } from '#workflows/purchase/steps.ts';
import { display, NOTHING_STORED, type Shown } from '#workflows/run/display.ts';
import { assumedSend, NOTHING_YET, witnessOf, type RunState } from '#workflows/run/state.ts';
import type { WaitName } from '#workflows/wait-names.ts';

type StepToRecord = Omit<StepRecord, 'work' | 'stepKey' | 'applied' | 'attemptNumber' | 'event'> & {
  /** Named after the status by default. */
  readonly event?: string;
  readonly next: string;
};

export type WokenBy = 'time' | 'observation' | 'operator';

/** One run of the workflow of one work: its row as read, what has come since, and what the next run must know. */
export class Run {
  readonly input: PurchaseWorkflowInput;
  readonly work: WorkRef;
  readonly policy: PurchasePolicy;
  readonly rules: PurchaseRules;
  readonly noun: string;
  state: RunState;
  shown: Shown;
  /** Operators' actions since this run began. */
  actions: number;
  /** Ids of reports that the next recorded step marks as applied. */
  applied: string[] = [];
  /** Of the present hold: its rule also applies to the send that ends it. */
  heldFor: FailureClass | undefined;
  /** Result of the send that the first read has made. */
  sent: SendResult | undefined;
  #seenActions = 0;
  #reports: ServiceObservation[] = [];
  readonly #seenReports = new Set<string>();
  #snapshot: WorkSnapshot | undefined;
  /** As read, or as recorded since. */
  status: WorkStatus = 'submitting';
  attention: AttentionReason | undefined;
  failure: FailureClass | undefined;
  #recorded = 0;
  #searchKey: string | undefined;

  constructor(input: PurchaseWorkflowInput, rules: PurchaseRules) {
    this.input = input;
    this.work = input.work;
    this.policy = input.policy;
    this.rules = rules;
    this.noun = KINDS[input.work.kind].noun;
    this.state = { ...NOTHING_YET, ...knownAtStart(input, workflowInfo().runStartTime.getTime()) };
    this.actions = this.state.hasNewAction === true ? 1 : 0;
    this.shown = {
      status: 'submitting',
      now: `The ${this.noun} was accepted and is being sent to the service.`,
      next: 'The answer of the service.',
    };
    this.#searchKey = display(this.work, this.shown, input.firstSendIn === undefined ? undefined : NOTHING_STORED);
  }

  get snapshot(): WorkSnapshot {
    if (this.#snapshot === undefined) throw new Error(`${this.work.id} is not read yet`);
    return this.#snapshot;
  }

  get attempt(): AttemptSnapshot {
    return this.snapshot.attempt;
  }

  set attempt(attempt: AttemptSnapshot) {
    this.#snapshot = { ...this.snapshot, attempt };
    this.state.witness = joinWitness(this.state.witness, witnessOf(attempt));
  }

  get subscription(): SubscriptionSnapshot {
    if (this.snapshot.subscription === undefined) throw new Error(`${this.work.id} is no subscription`);
    return this.snapshot.subscription;
  }

  get cancellation(): CancellationSnapshot {
    if (this.snapshot.cancellation === undefined) throw new Error(`${this.work.id} is no cancellation`);
    return this.snapshot.cancellation;
  }

  get configuredRule(): RetryRule {
    // Before the first read no attempt has failed.
    const { number, failure } = this.#snapshot?.attempt ?? { number: 1, failure: undefined };
    const afterFirst = number > 1 ? 'supplier_failed' : undefined;
    return retryRule(this.heldFor ?? failure?.class ?? afterFirst, this.policy);
  }

  /** With the changes of operators. */
  get rule(): RetryRule {
    return ruleOfWork(this.configuredRule, this.retryOverrides, this.snapshot.extraAttempts);
  }

  get retryOverrides(): RetryOverrides {
    return this.snapshot.retryOverrides ?? {};
  }

  /** Epoch milliseconds. */
  get deadline(): number {
    return givesUpAt(this.snapshot, this.configuredRule, this.retryOverrides);
  }

  /**
   * A row that knows less than this run is made unknown. A send without a result counts as sent unless the row proves
   * the contrary. After the first read PostgreSQL refuses steps of earlier runs.
   */
  async read(isFirst = false): Promise<void> {
    if (!isFirst) this.#seenActions = this.actions;
    for (;;) {
      const { witness, pendingSend } = this.state;
      // Later reads, and runs that know of an attempt, leave the send to its step.
      const isSender = isFirst && witness === undefined && this.input.firstSendIn !== undefined;
      const summary = `Read the ${this.noun} from PostgreSQL${isSender ? '; send attempt 1' : ''}`;
      const sendsForMs = isSender ? this.policy.sendActivityTimeoutMs : 0;
      const { sent, ...snapshot } = await localActivities(summary, sendsForMs).beginWork({
        work: this.work,
        ...(witness !== undefined && { witness }),
        ...(pendingSend?.epoch !== undefined && { sentIn: pendingSend.epoch }),
        ...(isFirst && { run: workflowInfo().runId }),
        ...(isSender && { firstSend: sendTerms(this) }),
      });
      this.sent = sent;
      this.state.pendingSend = undefined;
      this.state.missing = undefined;
      const assumed = pendingSend && assumedSend(pendingSend, snapshot);
      this.state.witness = joinWitness(witness, assumed ?? witnessOf(snapshot.attempt, snapshot.isRestored));
      if (assumed !== undefined) continue;
      this.#snapshot = snapshot;
      ({ status: this.status, attention: this.attention, failure: this.failure } = snapshot);
      // A run that begins during a hold knows it from the row.
      this.heldFor = this.#isHeld ? (this.heldFor ?? this.failure) : undefined;
      for (const report of snapshot.observations) this.receive(report);
      return;
    }
  }

  /**
   * For the signal handler: never throws. Each inbox row counts once in each epoch of the database: signals repeat, and
   * a new run also reads the inbox. In another epoch PostgreSQL may give the same id to another row.
   */
  receive(report: ServiceObservation): void {
    const { inboxId, epoch = '' } = report;
    const name = `${inboxId} ${epoch}`;
    if (this.#seenReports.has(name)) return;
    this.#seenReports.add(name);
    this.#reports = [...this.#reports.filter((waiting) => waiting.inboxId !== inboxId), report];
  }

  get hasReports(): boolean {
    return this.#reports.length > 0;
  }

  /** Oldest first. @returns true when one contradicts what is known. */
  takeReports(): boolean {
    const taken = this.#reports;
    this.#reports = [];
    this.applied.push(...taken.map(({ inboxId }) => inboxId));
    return taken.some(({ decision }) => decision === 'contradiction');
  }

  get hasNewAction(): boolean {
    return this.actions > this.#seenActions;
  }

  /** The work has been read again after an operator's action. */
  async wait(ms: number, summary: WaitName): Promise<WokenBy> {
    await condition(() => this.hasNewAction || this.hasReports, Math.max(1, ms), { summary });
    if (this.hasReports) return 'observation';
    if (!this.hasNewAction) return 'time';
    await this.read();
    return 'operator';
  }

  /**
   * Continues as new when PostgreSQL has a step of a later task (the task was lost, or Temporal was set back), and
   * when PostgreSQL has started since the last read: the next run compares first.
   */
  async record(step: StepToRecord): Promise<Exclude<RecordResult, 'superseded' | 'not_compared'>> {
    const { next, event = `${this.work.kind}.${step.status}`, ...record } = step;
    const { status, message: now, nextStepAt, attention, failure } = record;
    const cause = attention?.reason ?? failure?.class;
    this.#recorded += 1;
    const applied = this.applied.splice(0);
    const task = taskPosition();
    const recorded = await localActivities(`Record ${event}${cause === undefined ? '' : ` (${cause})`}`).recordStep({
      ...record,
      event,
      work: this.work,
      attemptNumber: this.attempt.number,
      stepKey: `${task.runId}:${this.#recorded}`,
      task,
      applied,
    });
    if (recorded === 'superseded') return this.startOver();
    if (recorded === 'not_compared') return this.#continueAsNew();
    if (recorded !== 'recorded') {
      this.applied.unshift(...applied);
      return recorded;
    }
    this.status = status;
    this.attention = attention?.reason;
    this.failure = failure?.class;
    if (!this.#isHeld) this.heldFor = undefined;
    this.show({ status, attention: this.attention, failure: this.failure, now, next, nextStepAt });
    return recorded;
  }

  /** Sends that cannot begin do not end a hold. */
  get #isHeld(): boolean {
    return this.status === 'held' || this.attention === 'stalled';
  }

  get isWaiting(): boolean {
    return this.status === 'held' || this.status === 'needs_attention';
  }

  /** Recorded only when PostgreSQL shows the work as waiting, or when a report is not applied yet. */
  async goOn({ status, now, next }: Pick<Shown, 'status' | 'now' | 'next'>): Promise<void> {
    if (this.isWaiting || this.applied.length > 0) await this.record({ status, message: now, next });
    else this.show({ status, now, next });
  }

  /** PostgreSQL is not changed. */
  show(shown: Shown): void {
    const { status, attention } = shown;
    const isTriedAgain = status === 'submitting' || status === 'held' || attention === 'attempts_used_up';
    const retry = isTriedAgain ? retrySentence(this.rule, this.deadline, this.retryOverrides) : undefined;
    this.showAlone({ ...shown, attempt: this.attempt, retry, maxPrice: this.snapshot.maxPrice });
  }

  /** Without what the row says. */
  showAlone(shown: Shown): void {
    this.shown = shown;
    this.#searchKey = display(this.work, shown, this.#searchKey);
  }

  /** No activity may be under way. @param step the next run begins with it. */
  async continueAsNewIfLong(step?: Step): Promise<void> {
    if (step !== undefined) this.state.step = step;
    const { historyLength, continueAsNewSuggested } = workflowInfo();
    if (continueAsNewSuggested || historyLength >= this.policy.historyLimit) await this.#continueAsNew();
  }

  /** The next run knows only what PostgreSQL may have lost. */
  async startOver(missing?: number): Promise<never> {
    this.forget();
    this.state.missing = missing;
    return this.#continueAsNew();
  }

  forget(): void {
    const { witness, pendingSend } = this.state;
    this.state = { ...NOTHING_YET, witness, pendingSend };
  }

  async #continueAsNew(): Promise<never> {
    // A handler under way may be an operator's action.
    await condition(allHandlersFinished);
    const { firstSendIn: _ofFirstRun, ...later } = this.input;
    return continueAsNew<(input: PurchaseWorkflowInput) => Promise<PurchaseWorkflowResult>>({
      ...later,
      carried: { ...this.state, hasNewAction: this.hasNewAction },
    });
  }
}
