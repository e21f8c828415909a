import { describe, expect, it } from 'vitest';
import { FINAL_ORDER_STATUSES, isFinal, mayFollow, ORDER_STATUSES, ORDER_TRANSITIONS, type OrderStatus } from '#domain/order-lifecycle.ts';

function reachableFrom(start: OrderStatus): Set<OrderStatus> {
  const found = new Set<OrderStatus>([start]);
  const open: OrderStatus[] = [start];
  for (let status = open.pop(); status !== undefined; status = open.pop()) {
    for (const next of ORDER_TRANSITIONS[status]) {
      if (!found.has(next)) open.push(next);
      found.add(next);
    }
  }
  return found;
}

describe('the life of an order', () => {
  it('has a row for every status, and no row leads to a status that does not exist', () => {
    expect(Object.keys(ORDER_TRANSITIONS).toSorted()).toEqual(ORDER_STATUSES.toSorted());
    for (const followers of Object.values(ORDER_TRANSITIONS)) {
      for (const follower of followers) expect(ORDER_STATUSES).toContain(follower);
    }
  });

  it('reaches every status from the first one', () => {
    expect(reachableFrom('accepted')).toEqual(new Set(ORDER_STATUSES));
  });

  it('can come to each end from everywhere that is not an end', () => {
    for (const status of ORDER_STATUSES) {
      if (isFinal(status)) continue;
      for (const end of FINAL_ORDER_STATUSES) expect(reachableFrom(status)).toContain(end);
    }
  });

  it('ends for good: nothing follows an end', () => {
    for (const end of FINAL_ORDER_STATUSES) {
      expect(ORDER_TRANSITIONS[end]).toEqual([]);
      for (const status of ORDER_STATUSES) expect(mayFollow(end, status)).toBe(status === end);
    }
  });

  it('never goes back to accepted', () => {
    for (const status of ORDER_STATUSES) expect(mayFollow(status, 'accepted')).toBe(status === 'accepted');
  });

  it('lets everything that is open be held or parked, and what is parked go on', () => {
    for (const status of ['accepted', 'submitting', 'processing', 'needs_attention'] as const) expect(mayFollow(status, 'held')).toBe(true);
    for (const status of ['accepted', 'held', 'submitting', 'processing'] as const) expect(mayFollow(status, 'needs_attention')).toBe(true);
    for (const next of ['held', 'submitting', 'processing', 'completed'] as const) expect(mayFollow('needs_attention', next)).toBe(true);
  });

  it('calls final what design and API call final', () => {
    expect(ORDER_STATUSES.filter((status) => isFinal(status))).toEqual(['completed', 'failed', 'abandoned']);
  });
});
