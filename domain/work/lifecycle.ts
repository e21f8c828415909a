import type { FailureClass, FailureEnd } from '#domain/work/failure.ts';
import { byKind, WORK_KINDS, type WorkKind } from '#domain/work/kinds.ts';

/**
 * Tables of statuses: which status may follow which. A status without followers is final. A kind of work names its
 * table in `domain/work/kinds.ts`.
 */

/** Orders and top-ups. */
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
 * VPN subscriptions. `failed` is only possible before the purchase. A cancellation that the service has accepted ends
 * as `cancelled` even without a confirmation before the end of its time: the customer wanted it and the service
 * accepted it. `expired` follows `cancelling` when the service reports it.
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

/** Cancellations of an eSIM with their refund. `refused`: the eSIM is not cancelled. */
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

/** By kind of work, the statuses that may follow each status. A status without followers is final. */
export const LIFECYCLES = {
  order: PURCHASE,
  topup: PURCHASE,
  vpn_subscription: SUBSCRIPTION,
  cancellation: CANCELLATION,
} as const satisfies Record<WorkKind, Readonly<Record<string, readonly string[]>>>;

/** The statuses of a kind of work. */
export type StatusOf<Kind extends WorkKind> = keyof (typeof LIFECYCLES)[Kind];

/** A status of any kind of work. A status means the same for every kind that has it. */
export type WorkStatus = { [Kind in WorkKind]: StatusOf<Kind> }[WorkKind];

/** Statuses in which no workflow runs any more. */
export const FINAL_STATUSES = [
  'completed',
  'failed',
  'abandoned',
  'cancelled',
  'expired',
  'refused',
] as const satisfies readonly WorkStatus[];

export type FinalStatus = (typeof FINAL_STATUSES)[number];

/** By kind of work, the final status when the request to the service definitely had no effect. */
export const ENDS_WITHOUT_EFFECT = byKind('endWithoutEffect') satisfies Record<WorkKind, FinalStatus>;

/** All statuses of a kind, in the order of its table. */
export function statusesOf<Kind extends WorkKind>(kind: Kind): readonly [StatusOf<Kind>, ...StatusOf<Kind>[]] {
  return Object.keys(LIFECYCLES[kind]) as [StatusOf<Kind>, ...StatusOf<Kind>[]];
}

/** The statuses of all kinds. */
export const WORK_STATUSES: readonly WorkStatus[] = [...new Set(WORK_KINDS.flatMap((kind) => statusesOf(kind)))];

/** True when this status is final. */
export function isFinal(status: WorkStatus): status is FinalStatus {
  return (FINAL_STATUSES as readonly WorkStatus[]).includes(status);
}

/** True when `to` may follow `from` for this kind of work, or both are the same. */
export function mayFollow(kind: WorkKind, from: WorkStatus, to: WorkStatus): boolean {
  const followers: Readonly<Record<string, readonly string[]>> = LIFECYCLES[kind];
  return from === to || (followers[from]?.includes(to) ?? false);
}

/** Statuses of work that certainly was bought, or carried out. */
const BOUGHT_STATUSES: ReadonlySet<WorkStatus> = new Set(['completed', 'active', 'cancelling', 'cancelled', 'expired']);

/** The statuses of this kind in which it certainly was bought, or carried out. */
export function boughtStatusesOf(kind: WorkKind): WorkStatus[] {
  return statusesOf(kind).filter((status) => BOUGHT_STATUSES.has(status));
}

/** True when the work has its result or has ended. An active subscription counts, because it runs for months. */
export function isFinished(status: WorkStatus): boolean {
  return status === 'active' || isFinal(status);
}

/**
 * True when a longer wait is of no use. Held work may continue within a second, so the request waits for it. Work that
 * needs attention waits for a person, so the request is answered.
 */
export function isWaitOver(status: WorkStatus): boolean {
  return isFinished(status) || status === 'needs_attention';
}

/** For work that waits for a person: it rarely changes. */
const SELDOM_SECONDS = 60;
const SOON_SECONDS = 2;

/**
 * Seconds after which a caller should request unfinished work again.
 *
 * @param nextStepAt time of the next step, in epoch milliseconds; null when it has none.
 * @param now epoch milliseconds.
 */
export function retryAfterSeconds(status: WorkStatus, nextStepAt: number | null, now: number): number {
  if (status === 'needs_attention') return SELDOM_SECONDS;
  if (status !== 'held' || nextStepAt === null) return SOON_SECONDS;
  return Math.min(SELDOM_SECONDS, Math.max(SOON_SECONDS, Math.ceil((nextStepAt - now) / 1_000)));
}

/** How work ended. */
export interface WorkEnd {
  readonly status: FinalStatus;
  /** The eSIM that was delivered or recharged. */
  readonly esimId?: string;
  readonly failure?: FailureClass;
  readonly endedBy?: FailureEnd;
}

/**
 * The workflow task that decided a step of work. A worker may lose its workflow task and not know it: frozen, or cut
 * off from Temporal, it still runs the local activities of that task, after another worker has decided newer steps.
 */
export interface TaskPosition {
  /** The run of the workflow. */
  readonly runId: string;
  /** Length of the history when the task began. It grows with every task of a run that the history shows. */
  readonly historyLength: number;
  /** Time of the workflow at the step, in epoch milliseconds. Orders tasks with the same history. */
  readonly at: number;
}

/** Where a run begins, before its first step. */
export function startOfRun(runId: string): TaskPosition {
  return { runId, historyLength: 0, at: 0 };
}

/**
 * True when a step comes from a workflow task that Temporal has given to another worker since.
 * @param last of the last recorded step, or the start of the newest run.
 */
export function isSuperseded(step: TaskPosition, last: TaskPosition): boolean {
  if (step.runId !== last.runId) return true;
  if (step.historyLength !== last.historyLength) return step.historyLength < last.historyLength;
  return step.at < last.at;
}
