import type { Witness } from '#domain/purchase/recovery.ts';
import type { FailureDetail } from '#domain/work/failure.ts';
import type { Step } from '#workflows/purchase/steps.ts';

/** A failure on our side that blocks the work. */
export interface Stall {
  /** Epoch milliseconds. */
  readonly since: number;
  readonly tries: number;
}

/** A send without a result so far. */
export interface PendingSend {
  /** Epoch of the database when the attempt was last read; undefined: not known. */
  readonly epoch?: string;
  /** Epoch milliseconds before which the request cannot have left. */
  readonly since: number;
  /** Number of the attempt. */
  readonly number: number;
  /** Sends of the attempt before this one. */
  readonly sends: number;
}

/** Evidence that is awaited for an attempt: since when (epoch milliseconds), after how many readings, and why. */
interface Awaited {
  readonly attempt: number;
  readonly since: number;
  readonly readings: number;
  readonly reason: string;
}

/** Failed reads of a subscription, in a row. Times are in epoch milliseconds. */
export interface Silence {
  /** The first failed read. */
  readonly since: number;
  readonly reads: number;
  readonly failure: FailureDetail;
  readonly readAgainAt: number;
  /** True once a case is open for it. */
  readonly isEscalated: boolean;
}

/** Requests to cancel that the service neither accepted nor refused, in a row. */
export interface Unanswered {
  /** The first one, in epoch milliseconds. */
  readonly since: number;
  readonly requests: number;
}

/** What every following run must know, even one that follows a terminated run. */
export interface Remembered {
  /** The newest attempt as this run knows it. Its row may know less, where PostgreSQL has lost commits. */
  readonly witness?: Witness;
  readonly pendingSend?: PendingSend;
}

/** The state that a run passes to the run that it continues as: everything that is not in PostgreSQL. */
export interface CarriedState extends Remembered {
  /** Holds in a row. */
  readonly holds: number;
  /** True when an operator action was not handled in this run: the next wait then ends at once. */
  readonly hasNewAction?: boolean;
  /** The next step, valid while the attempt is unchanged. */
  readonly step?: Step;
  readonly stall?: Stall;
  /** Look-ups in a row without an answer. */
  readonly unansweredReads?: number;
  /** Proofs of absence since the service last answered a send of the attempt. */
  readonly proofs?: number;
  /** Failed reads of a delivery. */
  readonly unread?: { readonly since: number; readonly reads: number };
  /** The evidence that is awaited. */
  readonly awaited?: Awaited;
  /** When the wait for the service began, in epoch milliseconds. */
  readonly awaitedSince?: number;
  /** Set for a subscription. */
  readonly silence?: Silence;
  /** Set for a subscription that is being cancelled. */
  readonly unanswered?: Unanswered;
  /** Reads of a subscription since the service accepted its cancellation. */
  readonly cancelChecks?: number;
  /** Reads in a row that did not find the row. */
  readonly missing?: number;
}
