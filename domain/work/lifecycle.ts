/**
 * The lifecycle of each kind of work as a table: which status may follow which. The storage refuses any other change,
 * so that a bug in a workflow cannot reopen ended work.
 */
import { WORK_KINDS, type WorkKind } from '#domain/work/work.ts';

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
export const ENDS_WITHOUT_EFFECT = {
  order: 'failed',
  topup: 'failed',
  vpn_subscription: 'failed',
  cancellation: 'refused',
} as const satisfies Record<WorkKind, FinalStatus>;

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
