import { allHandlersFinished, condition, continueAsNew, workflowInfo } from '@temporalio/workflow';
import { joinWitness, reasonOf, restoration, type Witness } from '#domain/purchase/recovery.ts';
import type { AttemptSnapshot, WorkSnapshot } from '#domain/purchase/results.ts';
import type { PurchaseWorkflowInput, PurchaseWorkflowResult } from '#workflows/messages.ts';
import type { CarriedState, PendingSend, Remembered } from '#workflows/work/run-state.ts';

/**
 * What a run remembers about its newest attempt, in case PostgreSQL loses its last commits. The following run receives
 * it.
 */
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
   * Epoch of the database at the send without a result; undefined: there is no such send, or the epoch is not known.
   */
  get pendingSendEpoch(): string | undefined {
    return this.#pendingSend?.epoch;
  }

  /** Stores an attempt as it was read, or as a send left it. */
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

  /** Stores a read of the work. */
  noteSnapshot({ attempt, epoch, isRestored }: WorkSnapshot): void {
    this.noteAttempt(attempt, isRestored);
    this.#epoch = epoch;
  }

  /** True when an attempt's row knows less than this run: PostgreSQL has lost commits since. */
  knowsMoreThan({ number, state, history }: AttemptSnapshot): boolean {
    const witness = this.#witness;
    return witness?.number === number && restoration(witness, { state, sends: history.sends }) === 'doubt';
  }

  /** Called before a send. */
  beginSend({ number, history: { sends } }: AttemptSnapshot): void {
    this.#pendingSend = { since: Date.now(), number, sends, ...(this.#epoch !== undefined && { epoch: this.#epoch }) };
  }

  /** Called when the result of the send is known, or when it did not begin. */
  endSend(): void {
    this.#pendingSend = undefined;
  }

  /**
   * Judges a row that does not show the pending send, or not its attempt. Such a row proves that no request has left
   * only if PostgreSQL cannot have lost commits since.
   * @returns true when the request may have left; the row must then be read again, with the witness.
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

  /** What the next run receives. */
  get remembered(): Remembered {
    return {
      ...(this.#witness !== undefined && { witness: this.#witness }),
      ...(this.#pendingSend !== undefined && { pendingSend: this.#pendingSend }),
    };
  }

  /**
   * As {@link remembered}, for a run that follows a terminated one. It also keeps the end of the work before PostgreSQL
   * lost commits: a person may not have judged that yet.
   */
  get handedOn(): Remembered {
    const before = this.#input.carried?.witness;
    if (this.#witness === undefined || before?.ended === undefined) return this.remembered;
    return { ...this.remembered, witness: { ...this.#witness, ended: before.ended, ...reasonOf(before) } };
  }

  /** True when the history is so long that the run must continue as new. */
  get isLong(): boolean {
    const { historyLength, continueAsNewSuggested } = workflowInfo();
    return continueAsNewSuggested || historyLength >= this.#input.policy.historyLimit;
  }

  /**
   * Continues as new. The next run reads everything else from PostgreSQL, unhandled reports included.
   * @param carried called when all handlers have finished, so that it includes the last operator action.
   */
  async continueAsNew(carried: () => Omit<CarriedState, keyof Remembered>): Promise<never> {
    await condition(allHandlersFinished);
    return continueAsNew<(input: PurchaseWorkflowInput) => Promise<PurchaseWorkflowResult>>({
      ...this.#input,
      carried: { ...carried(), ...this.remembered },
    });
  }
}
