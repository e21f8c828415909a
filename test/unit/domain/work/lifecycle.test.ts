import { describe, expect, it } from 'vitest';
import { WORK_KINDS, type WorkKind } from '#domain/work/kinds.ts';
import {
  boughtStatusesOf,
  FINAL_STATUSES,
  isFinal,
  LIFECYCLES,
  mayFollow,
  statusesOf,
  WORK_STATUSES,
  type WorkStatus,
} from '#domain/work/lifecycle.ts';

const rowsOf = (kind: WorkKind): Readonly<Record<string, readonly WorkStatus[]>> => LIFECYCLES[kind];

function reachableFrom(kind: WorkKind, start: WorkStatus): Set<WorkStatus> {
  const found = new Set<WorkStatus>([start]);
  const open: WorkStatus[] = [start];
  for (let status = open.pop(); status !== undefined; status = open.pop()) {
    for (const next of rowsOf(kind)[status] ?? []) {
      if (!found.has(next)) open.push(next);
      found.add(next);
    }
  }
  return found;
}

/** Of a bought subscription. */
const BOUGHT: ReadonlySet<WorkStatus> = new Set(['active', 'cancelling']);
/** Statuses that only a bought subscription can have. */
const ONLY_AFTER_BUYING: ReadonlySet<WorkStatus> = new Set(['cancelling', 'cancelled', 'expired']);
const OPEN_AND_NOT_BOUGHT: ReadonlySet<WorkStatus> = new Set(['accepted', 'held', 'submitting', 'processing']);

/** The tables a second time, as conditions. */
function shouldFollow(kind: WorkKind, from: WorkStatus, to: WorkStatus): boolean {
  if (from === to) return true;
  // A final status stays, and no work is accepted twice.
  if (isFinal(from) || to === 'accepted') return false;
  if (kind !== 'vpn_subscription') return true;
  // A bought subscription is not bought again, cannot fail and cannot be abandoned. It may need attention.
  if (BOUGHT.has(from)) return to === 'active' || to === 'needs_attention' || ONLY_AFTER_BUYING.has(to);
  return !(OPEN_AND_NOT_BOUGHT.has(from) && ONLY_AFTER_BUYING.has(to));
}

describe.each(WORK_KINDS)('the lifecycle of work of kind %s', (kind) => {
  const statuses = statusesOf(kind);

  it('leads from every open status to each possible final one', () => {
    for (const status of statuses) {
      if (isFinal(status)) continue;
      // A bought subscription can only end as bought.
      const bought = ['active', 'cancelling'].includes(status);
      const ends = statuses.filter(isFinal).filter((end) => !bought || ['cancelled', 'expired'].includes(end));
      for (const end of ends) expect(reachableFrom(kind, status)).toContain(end);
    }
  });

  it('has no status after a final one, and a next status for every other', () => {
    for (const status of statuses) expect(rowsOf(kind)[status]?.length === 0).toBe(isFinal(status));
  });

  it('decides every pair of statuses like the conditions of this file', () => {
    const pairs = statuses.flatMap((from) => statuses.map((to) => ({ from, to })));
    expect(pairs.map(({ from, to }) => ({ from, to, may: mayFollow(kind, from, to) }))).toEqual(
      pairs.map(({ from, to }) => ({ from, to, may: shouldFollow(kind, from, to) })),
    );
  });

  it('refuses a status of another kind of work', () => {
    for (const foreign of WORK_STATUSES.filter((status) => !(statuses as readonly WorkStatus[]).includes(status))) {
      for (const status of statuses)
        expect([mayFollow(kind, foreign, status), mayFollow(kind, status, foreign)]).toEqual([false, false]);
    }
  });
});

it('the final statuses are those of the API', () => {
  expect([...FINAL_STATUSES]).toEqual(['completed', 'failed', 'abandoned', 'cancelled', 'expired', 'refused']);
});

it.each<[WorkKind, WorkStatus[]]>([
  ['order', ['completed']],
  ['topup', ['completed']],
  ['vpn_subscription', ['active', 'cancelling', 'cancelled', 'expired']],
  ['cancellation', ['completed']],
])('%s was certainly bought, or carried out, in the statuses %j', (kind, statuses) => {
  expect(boughtStatusesOf(kind)).toEqual(statuses);
});
