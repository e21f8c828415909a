import type { Witness } from '#domain/purchase/recovery.ts';
import type { FailureDetail } from '#domain/work/failure.ts';
import type { Step } from '#workflows/purchase/steps.ts';

/** A failure on our side. */
export interface Stall {
  /** Epoch milliseconds. */
  readonly since: number;
  readonly tries: number;
}

export interface PendingSend {
  /** Of the last read of the attempt; undefined: not known. */
  readonly epoch?: string;
  /** Epoch milliseconds before which the request cannot have left. */
  readonly since: number;
  readonly number: number;
  readonly sends: number;
}

/** `since` in epoch milliseconds. */
interface Awaited {
  readonly attempt: number;
  readonly since: number;
  readonly readings: number;
  readonly reason: string;
}

/** Failed reads in a row; times in epoch milliseconds. */
export interface Silence {
  readonly since: number;
  readonly reads: number;
  readonly failure: FailureDetail;
  readonly readAgainAt: number;
  readonly isEscalated: boolean;
}

/** Requests to cancel, neither accepted nor refused, in a row. */
export interface Unanswered {
  /** Epoch milliseconds. */
  readonly since: number;
  readonly requests: number;
}

/** Every following run must know it, even one that follows a terminated run. */
export interface Remembered {
  /** Its row may know less, where PostgreSQL has lost commits. */
  readonly witness?: Witness;
  readonly pendingSend?: PendingSend;
}

/** Everything that is not in PostgreSQL. */
export interface CarriedState extends Remembered {
  readonly holds: number;
  /** The next wait then ends at once. */
  readonly hasNewAction?: boolean;
  /** Valid while the attempt is unchanged. */
  readonly step?: Step;
  readonly stall?: Stall;
  readonly unansweredReads?: number;
  /** Since the service last answered a send of the attempt. */
  readonly proofs?: number;
  readonly unread?: { readonly since: number; readonly reads: number };
  readonly awaited?: Awaited;
  /** Epoch milliseconds. */
  readonly awaitedSince?: number;
  readonly silence?: Silence;
  readonly unanswered?: Unanswered;
  readonly cancelChecks?: number;
  readonly missing?: number;
}
