/**
 * PostgreSQL may lose its last commits: by a power cut, a failover, or a restored backup. When the row knows less than
 * the workflow, it proves nothing: an attempt that looks unsent may have bought.
 */
import type { AttemptState } from '#domain/relay/observation.ts';
import type { FailureClass, FailureEnd } from '#domain/work/failure.ts';
import type { FinalStatus, WorkEnd } from '#domain/work/lifecycle.ts';

export interface Witness {
  readonly number: number;
  readonly state: AttemptState;
  /** Includes sends that the workflow has to assume. */
  readonly sends: number;
  /** Unix milliseconds. */
  readonly firstSentAt?: number;
  /** Start of the resend window, in Unix milliseconds. */
  readonly firstUnrefusedSendAt?: number;
  readonly anyUnknown: boolean;
  readonly serviceId?: string;
  readonly ended?: FinalStatus;
  readonly failure?: FailureClass;
  readonly endedBy?: FailureEnd;
  /** Its row was found to know less. True until the service reports its state. */
  readonly isRestored?: boolean;
}

const HAD: ReadonlySet<AttemptState> = new Set(['processing', 'completed']);

/**
 * The row knows less than the workflow and does not prove that nothing was bought: nothing may be claimed or decided
 * from it. Compares the number of sends, not whether a result is open: a claim stores the open results of earlier
 * sends. A row that says `failed` after `processing` knows more; after a delivery nobody reports a failure.
 * @param row undefined when it is lost. One with another number is not compared.
 */
export function hasLostRecords(
  witness: Witness | undefined,
  row: Pick<Witness, 'number' | 'state' | 'sends'> | undefined,
): boolean {
  // It was proven that nothing was bought: the work ends again as it ended before.
  if (witness === undefined || endedWithoutEffect(witness) !== undefined) return false;
  // An attempt that was never sent is prepared again with the same key, and bought once.
  if (witness.sends === 0 && !HAD.has(witness.state)) return false;
  if (row === undefined) return true;
  if (row.number !== witness.number || HAD.has(row.state)) return false;
  if (row.state === 'failed') return wasBought(witness);
  if (row.sends < witness.sends) return true;
  // The ordinary rules already treat these states as possibly bought.
  if (row.state === 'unknown' || row.state === 'sending') return false;
  // The row may be newer: a worker that counted as lost reported late that it sent nothing.
  return HAD.has(witness.state) || witness.state === 'failed';
}

function wasBought({ ended }: Witness): boolean {
  return ended === 'completed' || ended === 'cancelled' || ended === 'expired';
}

/** Undefined when the witness shows no such end. */
export function endedWithoutEffect({ ended }: Witness): 'failed' | 'abandoned' | 'refused' | undefined {
  return ended === 'failed' || ended === 'abandoned' || ended === 'refused' ? ended : undefined;
}

export function reasonOf({ failure, endedBy }: Pick<Witness, 'failure' | 'endedBy'>) {
  return { ...(failure !== undefined && { failure }), ...(endedBy !== undefined && { endedBy }) };
}

/** @param known undefined when the run ended before it read its row, or when its version did not return it. */
export function witnessOfEnd(end: WorkEnd, known: Witness | undefined): Witness {
  const witness: Witness = known ?? { number: 1, state: 'prepared', sends: 0, anyUnknown: false };
  const ended: Witness = { ...witness, ended: end.status, ...reasonOf(end) };
  if (!wasBought(ended)) return ended;
  return { ...ended, state: 'completed', sends: Math.max(1, ended.sends) };
}

/** Of two attempts the later one; of one attempt, what makes it more likely to have been bought. */
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
