import { describe, expect, it } from 'vitest';
import { FINAL_STATUSES, isFinal, LIFECYCLES, mayFollow, statusesOf, type WorkStatus } from '#domain/lifecycle.ts';
import { WORK_KINDS, type WorkKind } from '#domain/work.ts';

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

describe.each(WORK_KINDS)('the life of work of kind %s', (kind) => {
  const statuses = statusesOf(kind);

  it('has no row that leads to a status without a row', () => {
    for (const followers of Object.values(rowsOf(kind))) {
      for (const follower of followers) expect(statuses).toContain(follower);
    }
  });

  it('reaches every status from the first one', () => {
    expect(reachableFrom(kind, 'accepted')).toEqual(new Set(statuses));
  });

  it('can come to each end from everywhere that is not an end', () => {
    for (const status of statuses) {
      if (isFinal(status)) continue;
      // What is bought can only end as what was bought.
      const bought = ['active', 'cancelling'].includes(status);
      const ends = statuses.filter(isFinal).filter((end) => !bought || ['cancelled', 'expired'].includes(end));
      for (const end of ends) expect(reachableFrom(kind, status)).toContain(end);
    }
  });

  it('ends for good: nothing follows an end, and something follows everything else', () => {
    for (const status of statuses) expect(rowsOf(kind)[status]?.length === 0).toBe(isFinal(status));
    for (const end of statuses.filter(isFinal)) {
      for (const status of statuses) expect(mayFollow(kind, end, status)).toBe(status === end);
    }
  });

  it('never goes back to accepted', () => {
    for (const status of statuses) expect(mayFollow(kind, status, 'accepted')).toBe(status === 'accepted');
  });

  it('lets everything that is open be held or parked, and what is parked go on', () => {
    for (const status of ['accepted', 'submitting', 'processing', 'needs_attention'] as const) expect(mayFollow(kind, status, 'held')).toBe(true);
    for (const status of ['accepted', 'held', 'submitting', 'processing'] as const) expect(mayFollow(kind, status, 'needs_attention')).toBe(true);
    for (const next of ['held', 'submitting', 'processing'] as const) expect(mayFollow(kind, 'needs_attention', next)).toBe(true);
    expect(mayFollow(kind, 'needs_attention', kind === 'vpn_subscription' ? 'active' : 'completed')).toBe(true);
  });
});

it('final is what design and API call final', () => {
  expect([...FINAL_STATUSES]).toEqual(['completed', 'failed', 'abandoned', 'cancelled', 'expired', 'refused']);
});
