import { allHandlersFinished, condition, continueAsNew, workflowInfo } from '@temporalio/workflow';
import { hasLostRecords, joinWitness, reasonOf, type Witness } from '#domain/purchase/recovery.ts';
import type { AttemptSnapshot, WorkSnapshot } from '#domain/purchase/results.ts';
import type { PurchaseWorkflowInput, PurchaseWorkflowResult } from '#workflows/messages.ts';
import type { CarriedState, PendingSend, Remembered } from '#workflows/work/run-state.ts';

/** For the case that PostgreSQL loses its last commits. The following run receives it. */
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

  get witness(): Witness | undefined {
    return this.#witness;
  }

  /** Undefined: there is no send without a result, or its epoch is not known. */
  get pendingSendEpoch(): string | undefined {
    return this.#pendingSend?.epoch;
  }

  noteAttempt(attempt: AttemptSnapshot, isRestored = false): void {
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

  noteSnapshot({ attempt, epoch, isRestored }: WorkSnapshot): void {
    this.noteAttempt(attempt, isRestored);
    this.#epoch = epoch;
  }

  /** True when PostgreSQL has lost commits since. */
  knowsMoreThan({ number, state, history }: AttemptSnapshot): boolean {
    return hasLostRecords(this.#witness, { number, state, sends: history.sends });
  }

  beginSend({ number, history: { sends } }: AttemptSnapshot): void {
    this.#pendingSend = { since: Date.now(), number, sends, ...(this.#epoch !== undefined && { epoch: this.#epoch }) };
  }

  /** Also called when the send did not begin. */
  endSend(): void {
    this.#pendingSend = undefined;
  }

  /**
   * A row without the pending send proves that no request has left only if PostgreSQL cannot have lost commits since.
   * @returns true when it may have left; the row must then be read again, with the witness.
   */
  mustAssumeSent({ attempt, epoch }: WorkSnapshot): boolean {
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

  get remembered(): Remembered {
    return {
      ...(this.#witness !== undefined && { witness: this.#witness }),
      ...(this.#pendingSend !== undefined && { pendingSend: this.#pendingSend }),
    };
  }

  /** Keeps the end of the work before a loss of commits, too: a person may not have judged it yet. */
  get handedOn(): Remembered {
    const before = this.#input.carried?.witness;
    if (this.#witness === undefined || before?.ended === undefined) return this.remembered;
    return { ...this.remembered, witness: { ...this.#witness, ended: before.ended, ...reasonOf(before) } };
  }

  get isLong(): boolean {
    const { historyLength, continueAsNewSuggested } = workflowInfo();
    return continueAsNewSuggested || historyLength >= this.#input.policy.historyLimit;
  }

  /** `carried` is called when all handlers have finished, so that it includes the last operator action. */
  async continueAsNew(carried: () => Omit<CarriedState, keyof Remembered>): Promise<never> {
    await condition(allHandlersFinished);
    return continueAsNew<(input: PurchaseWorkflowInput) => Promise<PurchaseWorkflowResult>>({
      ...this.#input,
      carried: { ...carried(), ...this.remembered },
    });
  }
}
