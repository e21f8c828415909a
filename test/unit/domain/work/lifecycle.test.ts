import { describe, expect, it } from 'vitest';
import { WORK_KINDS, type WorkKind } from '#domain/work/kinds.ts';
import {
  boughtStatusesOf,
  FINAL_STATUSES,
  isFinal,
  isFinished,
  isWaitOver,
  LIFECYCLES,
  mayFollow,
  retryAfterSeconds,
  statusesOf,
  WORK_STATUSES,
  type WorkStatus,
} from '#domain/work/lifecycle.ts';

const rowsOf = (kind: WorkKind): Readonly<Record<string, readonly WorkStatus[]>> => LIFECYCLES[kind];

function reachableFrom(kind: WorkKind, start: WorkStatus): Set<WorkStatus> {
  const found = new Set<WorkStatus>([start]);
  // The loop also visits statuses that are added while it runs.
  for (const status of found) {
    for (const next of rowsOf(kind)[status] ?? []) found.add(next);
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
      const ends = statuses.filter((end) => isFinal(end) && (!BOUGHT.has(status) || ONLY_AFTER_BUYING.has(end)));
      for (const end of ends) expect(reachableFrom(kind, status)).toContain(end);
    }
  });

  it('has no status after a final one, and a next status for every other', () => {
    for (const status of statuses) expect(rowsOf(kind)[status]?.length === 0).toBe(isFinal(status));
  });

  it('decides every pair of statuses like the conditions of this file', () => {
    for (const from of statuses) {
      for (const to of statuses)
        expect([from, to, mayFollow(kind, from, to)]).toEqual([from, to, shouldFollow(kind, from, to)]);
    }
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

describe('a wait of a caller', () => {
  it('ends when the work is finished, or when an operator must decide', () => {
    const finished = WORK_STATUSES.filter(isFinished).toSorted();
    expect(finished).toEqual(['abandoned', 'active', 'cancelled', 'completed', 'expired', 'failed', 'refused']);
    const open = WORK_STATUSES.filter((status) => !isWaitOver(status)).toSorted();
    expect(open).toEqual(['accepted', 'cancelling', 'held', 'processing', 'submitting']);
  });

  it.each([
    ['processing', null, 2],
    ['processing', 40_000, 2],
    ['needs_attention', null, 60],
    ['held', null, 2],
    ['held', -5_000, 2],
    ['held', 15_001, 16],
    ['held', 3_600_000, 60],
  ] as const)('returns Retry-After for %s with a next step in %s ms: %s s', (status, inMs, seconds) => {
    expect(retryAfterSeconds(status, inMs === null ? null : 1_000_000 + inMs, 1_000_000)).toBe(seconds);
  });
});
