import type { Witness } from '#domain/purchase/restored-records.ts';
import type { FailureDetail } from '#domain/work/failure.ts';
import type { Step } from '#workflows/purchase/steps.ts';

/** Something on our side that does not work. */
export interface Stall {
  /** Epoch milliseconds. */
  readonly since: number;
  readonly tries: number;
}

/** A send that was asked for and has no result yet. */
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

/** What every following run must know, also one that follows a terminated run. */
export interface Remembered {
  /** The newest attempt as this run knows it. Its row may know less, where PostgreSQL has lost commits. */
  readonly witness?: Witness;
  readonly pendingSend?: PendingSend;
}

/** What a run hands to the run that it continues as: everything that PostgreSQL does not know. */
export interface Carried extends Remembered {
  /** Holds in a row. */
  readonly holds: number;
  /** True when a person has acted and this run has not taken it into account: the next wait ends at once. */
  readonly hasNewAction?: boolean;
  /** The next step, valid while the attempt is unchanged. */
  readonly step?: Step;
  readonly stall?: Stall;
  /** Questions in a row that the service did not answer. */
  readonly unansweredReads?: number;
  /** Proofs of absence since the service last answered a send of the attempt. */
  readonly proofs?: number;
  /** What was bought and could not be read so far. */
  readonly unread?: { readonly since: number; readonly reads: number };
  /** When the wait for the service began, in epoch milliseconds. */
  readonly awaitedSince?: number;
  /** Of a subscription. */
  readonly silence?: Silence;
  /** Of a subscription that is to be cancelled. */
  readonly unanswered?: Unanswered;
  /** Reads of a subscription since the service accepted its cancellation. */
  readonly cancelChecks?: number;
  /** Reads in a row that did not find the row. */
  readonly missing?: number;
}
