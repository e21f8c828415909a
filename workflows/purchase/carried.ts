import type { Witness } from '#domain/purchase/restored-records.ts';
import type { FailureDetail } from '#domain/work/failure.ts';
import type { Step } from '#workflows/purchase/purchase-steps.ts';

/** Since when and how often something of ours does not move. Times are in epoch milliseconds. */
export interface Stall {
  readonly since: number;
  readonly tries: number;
}

/** A send that was asked for, and of which nothing was heard yet. */
export interface PendingSend {
  /** Of the database, when the attempt was read last; undefined: not known. */
  readonly epoch?: string;
  /** Epoch milliseconds before which it cannot have been sent. */
  readonly since: number;
  /** Of the attempt, and its sends before this one. */
  readonly number: number;
  readonly sends: number;
}

/** A service that was asked how a subscription stands, and did not say it. Times are in epoch milliseconds. */
export interface Silence {
  /** The first question in vain. */
  readonly since: number;
  readonly questions: number;
  readonly failure: FailureDetail;
  readonly askAgainAt: number;
  /** True once a person has been told, and is waited for. */
  readonly isTold: boolean;
}

/** A service that was asked to cancel, and neither took nor refused it. */
export interface Unanswered {
  /** The first request in vain, in epoch milliseconds. */
  readonly since: number;
  readonly requests: number;
}

/** What every run that follows must know, also one that follows a run that was terminated. */
export interface Remembered {
  /** What is known of the newest attempt: its row may know less, where PostgreSQL has lost commits. */
  readonly witness?: Witness;
  readonly pendingSend?: PendingSend;
}

/** What a run that goes on in a new one must remember: everything that PostgreSQL does not know. */
export interface Carried extends Remembered {
  /** How often in a row it was held for what an attempt met. */
  readonly holds: number;
  /** True when a person has acted and the run before had not taken it into account: the next wait ends at once. */
  readonly isActedOn?: boolean;
  /** The step that comes next, where the attempt is as it was. */
  readonly step?: Step;
  readonly stall?: Stall;
  /** How often in a row the service could not be asked. */
  readonly asks?: number;
  /** How often it was proven absent since the service last answered a send of it. */
  readonly proofs?: number;
  /** What was bought and could not be completed so far. */
  readonly unread?: { readonly since: number; readonly reads: number };
  /** Since when the service is waited for, in epoch milliseconds. */
  readonly awaitedSince?: number;
  /** Of a subscription. */
  readonly silence?: Silence;
  readonly unanswered?: Unanswered;
  readonly cancelChecks?: number;
  /** How often in a row its row was not found. */
  readonly missing?: number;
}
