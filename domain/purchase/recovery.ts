/**
 * PostgreSQL may lose its last commits: by a power cut on a disk that confirms writes too early, a failover to a
 * standby that was behind, or a restored backup. The workflow remembers its sends. When the row knows less than the
 * workflow, the row proves nothing: an attempt that looks unsent may have bought.
 */
import type { AttemptState } from '#domain/relay/observation.ts';
import type { FailureClass, FailureEnd } from '#domain/work/failure.ts';
import type { FinalStatus, WorkEnd } from '#domain/work/lifecycle.ts';

/** What a workflow knows about the newest attempt of its work. Every later run receives it. */
export interface Witness {
  /** Number of the attempt, from 1. */
  readonly number: number;
  readonly state: AttemptState;
  /** Sends that the workflow knows of, and sends that it has to assume. */
  readonly sends: number;
  /** Epoch milliseconds of the first send, when known. */
  readonly firstSentAt?: number;
  /** Epoch milliseconds of the start of the resend window. */
  readonly firstUnrefusedSendAt?: number;
  /** True when the result of a send is unknown. */
  readonly anyUnknown: boolean;
  /** The service's id of the purchase. */
  readonly serviceId?: string;
  /** The final status, when the witness is the result of a completed workflow. */
  readonly ended?: FinalStatus;
  /** The failure, when the work failed. */
  readonly failure?: FailureClass;
  /** What ended it beside that failure. */
  readonly endedBy?: FailureEnd;
  /** True after the row of the attempt was found to know less, until the service reports its state. */
  readonly isRestored?: boolean;
}

/** The row of the attempt with the number of the witness. */
export interface AttemptRecord {
  readonly state: AttemptState;
  readonly sends: number;
}

/**
 * `none`: the row knows at least as much as the workflow. `doubt`: the row knows less and does not prove that nothing
 * was bought, so the attempt counts as unknown.
 */
export type Restoration = 'none' | 'doubt';

/** States in which the service has the attempt. */
const HAD: ReadonlySet<AttemptState> = new Set(['processing', 'completed']);

/**
 * Compares what a workflow knows about an attempt with its row.
 *
 * It compares the number of sends, not whether the result of one is open: a claim stores the open results of earlier
 * sends. A row that says `failed` after `processing` knows more: the service or a person reported the failure since.
 * After a delivery, neither reports a failure.
 *
 * @param row undefined when the row is lost.
 */
export function restoration(witness: Witness, row: AttemptRecord | undefined): Restoration {
  // It was proven that nothing was bought: the work ends again as it ended before.
  if (endedWithoutEffect(witness) !== undefined) return 'none';
  // An attempt that was never sent is prepared again with the same key, and bought once.
  if (witness.sends === 0 && !HAD.has(witness.state)) return 'none';
  if (row === undefined) return 'doubt';
  if (HAD.has(row.state)) return 'none';
  if (row.state === 'failed') return wasBought(witness) ? 'doubt' : 'none';
  if (row.sends < witness.sends) return 'doubt';
  // The ordinary rules already treat these states as possibly bought.
  if (row.state === 'unknown' || row.state === 'sending') return 'none';
  // A row that calls the same send refused may be newer: a worker that counted as lost reported late that it sent
  // nothing.
  return HAD.has(witness.state) || witness.state === 'failed' ? 'doubt' : 'none';
}

/**
 * True when the row of the same attempt knows less than the workflow: nothing may be claimed or decided from it.
 * @param row of any attempt of the work; a row with another number is not compared.
 */
export function knowsMore(witness: Witness, row: AttemptRecord & { readonly number: number }): boolean {
  return witness.number === row.number && restoration(witness, row) === 'doubt';
}

/** True when the work had ended with a purchase. */
function wasBought({ ended }: Witness): boolean {
  return ended === 'completed' || ended === 'cancelled' || ended === 'expired';
}

/** The final status of work that bought nothing; undefined when the witness shows no such end. */
export function endedWithoutEffect({ ended }: Witness): 'failed' | 'abandoned' | 'refused' | undefined {
  return ended === 'failed' || ended === 'abandoned' || ended === 'refused' ? ended : undefined;
}

/** The fields that say why work had ended, as far as they are known. */
export function reasonOf({ failure, endedBy }: Pick<Witness, 'failure' | 'endedBy'>) {
  return { ...(failure !== undefined && { failure }), ...(endedBy !== undefined && { endedBy }) };
}

/**
 * The witness of a completed workflow.
 * @param known what its last run knew; undefined when it ended before it read its row, or when its version did not
 *   return it.
 */
export function witnessOfEnd(end: WorkEnd, known: Witness | undefined): Witness {
  const witness: Witness = known ?? { number: 1, state: 'prepared', sends: 0, anyUnknown: false };
  const ended: Witness = { ...witness, ended: end.status, ...reasonOf(end) };
  if (!wasBought(ended)) return ended;
  return { ...ended, state: 'completed', sends: Math.max(1, ended.sends) };
}

/**
 * Merges what two runs know about a work. The later attempt counts; for one attempt, whatever makes it more likely to
 * have been bought.
 */
export function joinWitness(known: Witness | undefined, next: Witness): Witness {
  if (known === undefined || next.number > known.number) return next;
  if (next.number < known.number) return known;
  const firstSentAt = next.firstSentAt ?? known.firstSentAt;
  const { firstUnrefusedSendAt = known.firstUnrefusedSendAt } = next;
  const serviceId = next.serviceId ?? known.serviceId;
  return {
    number: next.number,
    // The row was read and knows at least as much, or it was restored from the witness.
    state: next.state,
    sends: Math.max(known.sends, next.sends),
    anyUnknown: known.anyUnknown || next.anyUnknown,
    ...(firstSentAt !== undefined && { firstSentAt }),
    ...(firstUnrefusedSendAt !== undefined && { firstUnrefusedSendAt }),
    ...(serviceId !== undefined && { serviceId }),
    ...((known.isRestored === true || next.isRestored === true) && !HAD.has(next.state) && { isRestored: true }),
  };
}
