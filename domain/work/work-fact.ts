import type { AttentionReason } from '#domain/work/attention.ts';
import type { FailureClass } from '#domain/work/failure.ts';
import type { WorkRef } from '#domain/work/kinds.ts';
import type { WorkStatus } from '#domain/work/lifecycle.ts';

interface AboutWork extends WorkRef {
  readonly requestId: string | null;
  /** Null: it was not traced. */
  readonly traceparent: string | null;
}

interface StatusFact extends AboutWork {
  readonly fact: 'status';
  readonly status: WorkStatus;
  readonly previous: WorkStatus | undefined;
  readonly failureClass: FailureClass | null;
  readonly attentionReason: AttentionReason | null;
  readonly acceptedAt: Date;
  readonly isCompletion: boolean;
}

/** Includes a send without an answer in time. */
interface SendFact extends AboutWork {
  readonly fact: 'send';
  readonly attempt: number;
  readonly send: number;
  readonly state: string;
  readonly failureClass: FailureClass | undefined;
}

interface ReportFact extends AboutWork {
  readonly fact: 'report';
  readonly attempt: number;
  readonly inboxId: string;
  readonly source: 'webhook' | 'read';
  readonly outcome: string;
  readonly decision: string;
}

interface BatchFact {
  readonly fact: 'batch';
  readonly id: string;
  readonly status: 'accepted' | 'completed';
  readonly size: number;
  /** Undefined at its end: each order has it. */
  readonly requestId?: string | null | undefined;
  readonly traceparent?: string | null | undefined;
}

/** For logs and metrics: ids and states, no personal data. */
export type WorkFact = StatusFact | SendFact | ReportFact | BatchFact;
