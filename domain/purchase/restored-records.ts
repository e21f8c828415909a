/**
 * PostgreSQL may lose its last commits: a power cut on a disk that lies, a failover to a standby that was behind, a
 * restored backup. The workflow remembers what it has sent. Where the row knows less than the workflow, the row proves
 * nothing any more: an attempt that looks as if it had never been sent may have bought.
 */
import type { AttemptState } from '#domain/relay/observation.ts';
import type { FailureClass } from '#domain/work/failure.ts';
import type { FinalStatus } from '#domain/work/lifecycle.ts';

/** What a workflow knows of the newest attempt of its work. It is carried into every later run. */
export interface Witness {
  /** Number of the attempt, from 1. */
  readonly number: number;
  readonly state: AttemptState;
  /** Sends that it knows of, and those that it must reckon with. */
  readonly sends: number;
  /** Epoch milliseconds of the first send, where it is known. */
  readonly firstSentAt?: number;
  /** Epoch milliseconds from which on the resend window counts. */
  readonly firstUnrefusedSendAt?: number;
  /** True when the outcome of a send is open. */
  readonly anyUnknown: boolean;
  /** The service's id of what it made for the attempt. */
  readonly serviceId?: string;
  /** How the work had ended, where the witness is the result of a completed workflow. */
  readonly ended?: FinalStatus;
  /** Why, if it had failed. */
  readonly failure?: FailureClass;
  /** True once the row of the attempt was found to know less, until the service says what it has. */
  readonly isRestored?: boolean;
}

/** What a row says of the attempt with the number of the witness. */
export interface AttemptRecord {
  readonly state: AttemptState;
  readonly sends: number;
}

/**
 * `none`: the row knows as much as the workflow, or more. `doubt`: the row knows less, and what it says is no proof
 * that nothing was bought: the attempt counts as unknown.
 */
export type Restoration = 'none' | 'doubt';

/** States by which the service has the attempt. */
const HAD: ReadonlySet<AttemptState> = new Set(['processing', 'completed']);

/**
 * Compares what a workflow knows of an attempt with its row.
 *
 * The number of sends is compared, not whether one of them is open: a claim stores what is open of the sends before it.
 * A row that says `failed` after `processing` knows more: the service or a person has said so since. After a delivery
 * nothing says that.
 *
 * @param row undefined when the row is lost.
 */
export function restoration(witness: Witness, row: AttemptRecord | undefined): Restoration {
  // That it bought nothing was proven: the work ends once more as it had ended.
  if (endedWithoutEffect(witness) !== undefined) return 'none';
  // What was never sent is prepared anew with the same key, and bought once.
  if (witness.sends === 0 && !HAD.has(witness.state)) return 'none';
  if (row === undefined) return 'doubt';
  if (HAD.has(row.state)) return 'none';
  if (row.state === 'failed') return wasBought(witness) ? 'doubt' : 'none';
  if (row.sends < witness.sends) return 'doubt';
  // Of these the ordinary rules reckon with everything already.
  if (row.state === 'unknown' || row.state === 'sending') return 'none';
  // A row that calls the same send refused may have learnt so since: its worker had been given up, and has reported
  // that nothing was sent.
  return HAD.has(witness.state) || witness.state === 'failed' ? 'doubt' : 'none';
}

/**
 * True when the row of the same attempt knows less than the workflow, so that nothing may be claimed or decided by it.
 *
 * @param row of any attempt of the work: one with another number is not compared.
 */
export function knowsMore(witness: Witness, row: AttemptRecord & { readonly number: number }): boolean {
  return witness.number === row.number && restoration(witness, row) === 'doubt';
}

/** True when the work had ended with what was bought. */
function wasBought({ ended }: Witness): boolean {
  return ended === 'completed' || ended === 'cancelled' || ended === 'expired';
}

/** How work had ended that bought nothing; undefined when the witness says no such thing. */
export function endedWithoutEffect({ ended }: Witness): 'failed' | 'abandoned' | 'refused' | undefined {
  return ended === 'failed' || ended === 'abandoned' || ended === 'refused' ? ended : undefined;
}

/**
 * The witness of a completed workflow.
 *
 * @param known what its last run knew; undefined where it ended before it read its row, or is from a version that did
 *   not tell.
 */
export function witnessOfEnd(
  { status, failure }: { status: FinalStatus; failure?: FailureClass },
  known: Witness | undefined,
): Witness {
  const witness: Witness = known ?? { number: 1, state: 'prepared', sends: 0, anyUnknown: false };
  const ended: Witness = { ...witness, ended: status, ...(failure !== undefined && { failure }) };
  if (!wasBought(ended)) return ended;
  return { ...ended, state: 'completed', sends: Math.max(1, ended.sends) };
}

/**
 * Joins what two runs know of a work: the later attempt counts, and of one attempt what makes it more likely to have
 * been bought.
 */
export function joinWitness(known: Witness | undefined, next: Witness): Witness {
  if (known === undefined || next.number > known.number) return next;
  if (next.number < known.number) return known;
  const firstSentAt = next.firstSentAt ?? known.firstSentAt;
  const { firstUnrefusedSendAt = known.firstUnrefusedSendAt } = next;
  const serviceId = next.serviceId ?? known.serviceId;
  return {
    number: next.number,
    // The row was read and knows at least as much, or it was restored from what was known.
    state: next.state,
    sends: Math.max(known.sends, next.sends),
    anyUnknown: known.anyUnknown || next.anyUnknown,
    ...(firstSentAt !== undefined && { firstSentAt }),
    ...(firstUnrefusedSendAt !== undefined && { firstUnrefusedSendAt }),
    ...(serviceId !== undefined && { serviceId }),
    ...((known.isRestored === true || next.isRestored === true) && !HAD.has(next.state) && { isRestored: true }),
  };
}
