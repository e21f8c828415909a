import { allHandlersFinished, condition, continueAsNew, workflowInfo } from '@temporalio/workflow';
import type { AttemptView, WorkSnapshot } from '#activities/work/work-types.ts';
import { joinWitness, restoration, type Witness } from '#domain/purchase/restored-records.ts';
import type { PurchaseWorkflowInput, PurchaseWorkflowResult } from '#workflows/messages.ts';
import type { Carried, PendingSend, Remembered } from '#workflows/purchase/carried.ts';

/** What a run remembers beside PostgreSQL, which may lose its last commits, and hands to the run that follows it. */
export class RunMemory {
  readonly #input: PurchaseWorkflowInput;
  #witness: Witness | undefined;
  #epoch: string | undefined;
  #pendingSend: PendingSend | undefined;

  constructor(input: PurchaseWorkflowInput) {
    this.#input = input;
    this.#witness = input.carried?.witness;
    this.#pendingSend = input.carried?.pendingSend;
  }

  /** What is known of the newest attempt; undefined before any was read. */
  get witness(): Witness | undefined {
    return this.#witness;
  }

  /**
   * Of the database, when a send was asked for of which nothing was heard; undefined: there is none, or it is not
   * known.
   */
  get pendingSendEpoch(): string | undefined {
    return this.#pendingSend?.epoch;
  }

  /** Takes note of an attempt as it was read, or as a send has left it. */
  noteAttempt(attempt: AttemptView, isRestored = false): void {
    const { number, state, serviceId, history } = attempt;
    const { sends, firstSentAt, firstUnrefusedSendAt, anyUnknown } = history;
    this.#witness = joinWitness(this.#witness, {
      number,
      state,
      sends,
      anyUnknown,
      ...(firstSentAt !== undefined && { firstSentAt }),
      ...(firstUnrefusedSendAt !== undefined && { firstUnrefusedSendAt }),
      ...(serviceId !== undefined && { serviceId }),
      ...(isRestored && { isRestored }),
    });
  }

  /** Takes note of what was read. */
  noteSnapshot({ attempt, epoch, isRestored }: WorkSnapshot): void {
    this.noteAttempt(attempt, isRestored);
    this.#epoch = epoch;
  }

  /** True when what a send has left of an attempt is less than what is known: PostgreSQL has lost commits since. */
  knowsMoreThan({ number, state, history }: AttemptView): boolean {
    const witness = this.#witness;
    return witness?.number === number && restoration(witness, { state, sends: history.sends }) === 'doubt';
  }

  /** A send of an attempt is about to be asked for. */
  beginSend({ number, history: { sends } }: AttemptView): void {
    this.#pendingSend = { since: Date.now(), number, sends, ...(this.#epoch !== undefined && { epoch: this.#epoch }) };
  }

  /** Its outcome is known, or it did not begin. */
  endSend(): void {
    this.#pendingSend = undefined;
  }

  /**
   * Judges a row that says that a send, of which nothing was heard, did not begin, or that does not know its attempt.
   * That is proof only while PostgreSQL cannot have lost commits since; else the send is reckoned with.
   *
   * @returns true when the send must be reckoned with, so that the row has to be read again with the witness.
   */
  reckonsWithSend({ attempt, epoch }: WorkSnapshot): boolean {
    const pending = this.#pendingSend;
    this.#pendingSend = undefined;
    if (pending === undefined || pending.epoch === epoch) return false;
    const isOfSent = attempt.number === pending.number;
    const isSilent = isOfSent
      ? attempt.state === 'prepared' || attempt.state === 'refused'
      : attempt.number < pending.number;
    if (!isSilent) return false;
    const { firstSentAt = pending.since } = isOfSent ? attempt.history : {};
    this.#witness = joinWitness(this.#witness, {
      number: pending.number,
      state: 'unknown',
      sends: Math.max(pending.sends, isOfSent ? attempt.history.sends : 0) + 1,
      firstSentAt,
      firstUnrefusedSendAt: pending.since,
      anyUnknown: true,
    });
    return true;
  }

  /** What a run that follows is handed. */
  get remembered(): Remembered {
    return {
      ...(this.#witness !== undefined && { witness: this.#witness }),
      ...(this.#pendingSend !== undefined && { pendingSend: this.#pendingSend }),
    };
  }

  /**
   * As {@link remembered}, for a run that follows one that was terminated: how the work had ended before PostgreSQL
   * lost commits stays known, since nobody may have judged it yet.
   */
  get handedOn(): Remembered {
    const { ended, failure } = this.#input.carried?.witness ?? {};
    if (this.#witness === undefined || ended === undefined) return this.remembered;
    return { ...this.remembered, witness: { ...this.#witness, ended, ...(failure !== undefined && { failure }) } };
  }

  /** True when its history is so long that it is to go on in a new run. */
  get isLong(): boolean {
    const { historyLength, continueAsNewSuggested } = workflowInfo();
    return continueAsNewSuggested || historyLength >= this.#input.policy.historyLimit;
  }

  /**
   * Goes on in a new run, which reads everything else from PostgreSQL. What the service said and nobody has answered
   * waits there.
   *
   * @param carried read when all handlers have finished: that a person has acted, which ends a wait, is handed on.
   */
  async goOnInNewRun(carried: () => Omit<Carried, keyof Remembered>): Promise<never> {
    await condition(allHandlersFinished);
    return continueAsNew<(input: PurchaseWorkflowInput) => Promise<PurchaseWorkflowResult>>({
      ...this.#input,
      carried: { ...carried(), ...this.remembered },
    });
  }
}
