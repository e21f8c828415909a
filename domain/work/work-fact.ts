import type { AttentionReason } from '#domain/work/attention.ts';
import type { FailureClass } from '#domain/work/failure.ts';
import type { WorkKind } from '#domain/work/kinds.ts';
import type { WorkStatus } from '#domain/work/lifecycle.ts';

interface AboutWork {
  readonly kind: WorkKind;
  readonly id: string;
  /** `X-Request-Id` of the request that created the work; null: unknown. */
  readonly requestId: string | null;
  /** `traceparent` of that request; null: it was not traced. */
  readonly traceparent: string | null;
}

/** Work was accepted, or its status or the reason of its status has changed. */
interface StatusFact extends AboutWork {
  readonly fact: 'status';
  readonly status: WorkStatus;
  /** Undefined for work that was accepted now. */
  readonly previous: WorkStatus | undefined;
  readonly failureClass: FailureClass | null;
  readonly attentionReason: AttentionReason | null;
  /** When the work was accepted. */
  readonly acceptedAt: Date;
  /** True when it was bought or carried out now, for the first time. */
  readonly isCompletion: boolean;
}

/** The service answered a send, or did not answer it in time. */
interface SendFact extends AboutWork {
  readonly fact: 'send';
  /** Number of the attempt, from 1. */
  readonly attempt: number;
  /** Number of the send of this attempt, from 1. */
  readonly send: number;
  /** The state of the attempt after the send. */
  readonly state: string;
  /** Undefined when the service accepted the attempt. */
  readonly failureClass: FailureClass | undefined;
}

/** A report of the service about an attempt, by webhook or look-up, was judged. */
interface ReportFact extends AboutWork {
  readonly fact: 'report';
  readonly attempt: number;
  readonly inboxId: string;
  readonly source: 'webhook' | 'read';
  readonly outcome: string;
  readonly decision: string;
}

/** A batch of orders was accepted, or its last order has ended. */
interface BatchFact {
  readonly fact: 'batch';
  readonly id: string;
  readonly status: 'accepted' | 'completed';
  /** Number of its orders. */
  readonly size: number;
  /** Undefined at its end: each order has it. */
  readonly requestId?: string | undefined;
  readonly traceparent?: string | null | undefined;
}

/** A fact that a commit has made certain, for logs and metrics: ids and states, no personal data. */
export type WorkFact = StatusFact | SendFact | ReportFact | BatchFact;
