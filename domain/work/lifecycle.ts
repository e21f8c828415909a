import type { FailureClass, FailureEnd } from '#domain/work/failure.ts';
import { WORK_KINDS, type WorkKind } from '#domain/work/kinds.ts';

/** A status without followers is final. */
const PURCHASE = {
  accepted: ['held', 'submitting', 'processing', 'completed', 'failed', 'needs_attention', 'abandoned'],
  held: ['submitting', 'processing', 'completed', 'failed', 'needs_attention', 'abandoned'],
  submitting: ['held', 'processing', 'completed', 'failed', 'needs_attention', 'abandoned'],
  processing: ['held', 'submitting', 'completed', 'failed', 'needs_attention', 'abandoned'],
  needs_attention: ['held', 'submitting', 'processing', 'completed', 'failed', 'abandoned'],
  completed: [],
  failed: [],
  abandoned: [],
} as const;

/**
 * An accepted cancellation ends as `cancelled` even without a confirmation; `expired` only by report of the service.
 */
const SUBSCRIPTION = {
  accepted: ['held', 'submitting', 'processing', 'active', 'failed', 'needs_attention', 'abandoned'],
  held: ['submitting', 'processing', 'active', 'failed', 'needs_attention', 'abandoned'],
  submitting: ['held', 'processing', 'active', 'failed', 'needs_attention', 'abandoned'],
  processing: ['held', 'submitting', 'active', 'failed', 'needs_attention', 'abandoned'],
  needs_attention: [
    'held',
    'submitting',
    'processing',
    'active',
    'cancelling',
    'cancelled',
    'expired',
    'failed',
    'abandoned',
  ],
  active: ['needs_attention', 'cancelling', 'cancelled', 'expired'],
  cancelling: ['needs_attention', 'active', 'cancelled', 'expired'],
  cancelled: [],
  expired: [],
  failed: [],
  abandoned: [],
} as const;

const CANCELLATION = {
  accepted: ['held', 'submitting', 'processing', 'completed', 'refused', 'needs_attention', 'abandoned'],
  held: ['submitting', 'processing', 'completed', 'refused', 'needs_attention', 'abandoned'],
  submitting: ['held', 'processing', 'completed', 'refused', 'needs_attention', 'abandoned'],
  processing: ['held', 'submitting', 'completed', 'refused', 'needs_attention', 'abandoned'],
  needs_attention: ['held', 'submitting', 'processing', 'completed', 'refused', 'abandoned'],
  completed: [],
  refused: [],
  abandoned: [],
} as const;

export const LIFECYCLES = {
  order: PURCHASE,
  topup: PURCHASE,
  vpn_subscription: SUBSCRIPTION,
  cancellation: CANCELLATION,
} as const satisfies Record<WorkKind, Readonly<Record<string, readonly string[]>>>;

export type StatusOf<Kind extends WorkKind> = keyof (typeof LIFECYCLES)[Kind];

export type WorkStatus = { [Kind in WorkKind]: StatusOf<Kind> }[WorkKind];

/** No workflow runs any more. */
export const FINAL_STATUSES = [
  'completed',
  'failed',
  'abandoned',
  'cancelled',
  'expired',
  'refused',
] as const satisfies readonly WorkStatus[];

export type FinalStatus = (typeof FINAL_STATUSES)[number];

/** What was asked of the service definitely did not happen. */
export const ENDS_WITHOUT_EFFECT = {
  order: 'failed',
  topup: 'failed',
  vpn_subscription: 'failed',
  cancellation: 'refused',
} as const satisfies Record<WorkKind, FinalStatus>;

export function statusesOf<Kind extends WorkKind>(kind: Kind): readonly StatusOf<Kind>[] {
  return Object.keys(LIFECYCLES[kind]) as StatusOf<Kind>[];
}

export const WORK_STATUSES: readonly WorkStatus[] = [...new Set(WORK_KINDS.flatMap((kind) => statusesOf(kind)))];

export function isFinal(status: WorkStatus): status is FinalStatus {
  return (FINAL_STATUSES as readonly WorkStatus[]).includes(status);
}

export function mayFollow(kind: WorkKind, from: WorkStatus, to: WorkStatus): boolean {
  const followers: Readonly<Record<string, readonly string[]>> = LIFECYCLES[kind];
  return from === to || (followers[from]?.includes(to) ?? false);
}

/** It certainly was bought, or carried out. */
const BOUGHT_STATUSES: ReadonlySet<WorkStatus> = new Set(['completed', 'active', 'cancelling', 'cancelled', 'expired']);

export function boughtStatusesOf(kind: WorkKind): WorkStatus[] {
  return statusesOf(kind).filter((status) => BOUGHT_STATUSES.has(status));
}

/** An active subscription counts, because it runs for months. */
export function isFinished(status: WorkStatus): boolean {
  return status === 'active' || isFinal(status);
}

/** Held work may continue within a second; work that needs attention waits for a person. */
export function isWaitOver(status: WorkStatus): boolean {
  return isFinished(status) || status === 'needs_attention';
}

/** For work that waits for a person: it rarely changes. */
const SELDOM_SECONDS = 60;
const SOON_SECONDS = 2;

/** @param nextStepAt epoch milliseconds; null when it has none. */
export function retryAfterSeconds(status: WorkStatus, nextStepAt: number | null, now: number): number {
  if (status === 'needs_attention') return SELDOM_SECONDS;
  if (status !== 'held' || nextStepAt === null) return SOON_SECONDS;
  return Math.min(SELDOM_SECONDS, Math.max(SOON_SECONDS, Math.ceil((nextStepAt - now) / 1_000)));
}

export interface WorkEnd {
  readonly status: FinalStatus;
  readonly esimId?: string;
  readonly failure?: FailureClass;
  readonly endedBy?: FailureEnd;
}

/** A worker that lost its task may still run local activities after another worker has decided newer steps. */
export interface TaskPosition {
  readonly runId: string;
  /** Length of the history when the task began; it grows with every task of a run. */
  readonly historyLength: number;
  /** Epoch milliseconds of the workflow. Orders tasks with the same history. */
  readonly at: number;
}

export function startOfRun(runId: string): TaskPosition {
  return { runId, historyLength: 0, at: 0 };
}

/** Temporal gave a later task to another worker. @param last last recorded step, or the start of the newest run. */
export function isSuperseded(step: TaskPosition, last: TaskPosition): boolean {
  if (step.runId !== last.runId) return true;
  if (step.historyLength !== last.historyLength) return step.historyLength < last.historyLength;
  return step.at < last.at;
}
