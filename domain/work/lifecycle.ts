/**
 * The life of each kind of work as a table: which status may follow which. The database layer refuses any other change,
 * so that a bug in a workflow cannot reopen finished work.
 */
import { WORK_KINDS, type WorkKind } from '#domain/work/work.ts';

/** Of what is bought and then done with: orders and top-ups. */
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
 * Of what is bought and then lives on, until its time is over or somebody ends it. `failed` only before it is bought.
 * What the service has agreed to cancel ends as `cancelled` also where nobody confirms it before its time is over: that
 * is what the customer wanted and the service accepted. `expired` follows `cancelling` where the service says so.
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

/** Of an eSIM's cancellation with its refund. `refused` means that the eSIM is not cancelled. */
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

/** By kind of work, the statuses that may follow each one. A status that nothing follows is an end. */
export const LIFECYCLES = {
  order: PURCHASE,
  topup: PURCHASE,
  vpn_subscription: SUBSCRIPTION,
  cancellation: CANCELLATION,
} as const satisfies Record<WorkKind, Readonly<Record<string, readonly string[]>>>;

/** The statuses of a kind of work. */
export type StatusOf<Kind extends WorkKind> = keyof (typeof LIFECYCLES)[Kind];

/** A status of any kind of work. A word means the same for every kind that has it. */
export type WorkStatus = { [Kind in WorkKind]: StatusOf<Kind> }[WorkKind];

/** Statuses that no workflow runs for any more. */
export const FINAL_STATUSES = [
  'completed',
  'failed',
  'abandoned',
  'cancelled',
  'expired',
  'refused',
] as const satisfies readonly WorkStatus[];

export type FinalStatus = (typeof FINAL_STATUSES)[number];

/** By kind of work, how it ends when what was asked of the service definitely did not happen. */
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

/** True when work of this status has reached its end. */
export function isFinal(status: WorkStatus): status is FinalStatus {
  return (FINAL_STATUSES as readonly WorkStatus[]).includes(status);
}

/** True when, for this kind of work, `to` may follow `from`; staying where one is always may. */
export function mayFollow(kind: WorkKind, from: WorkStatus, to: WorkStatus): boolean {
  const followers: Readonly<Record<string, readonly string[]>> = LIFECYCLES[kind];
  return from === to || (followers[from]?.includes(to) ?? false);
}
