/**
 * The statuses of each kind of work, and which status may follow which. The storage refuses any other change, so that a
 * bug in a workflow cannot reopen ended work.
 */
import { byKind, WORK_KINDS, type WorkKind } from '#domain/work/kinds.ts';

/** By kind of work, the statuses that may follow each status. A status without followers is final. */
export const LIFECYCLES = byKind('transitions');

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
