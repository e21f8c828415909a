import type { CrashPlan } from '#test/crash/plans/plan.ts';
import { setting } from '#test/crash/plans/settings.ts';

export const SOLD_AT_ONCE = { kind: 'order', nature: 'sold', packageId: 1001 } as const;

/** One order, one process of each kind, no fault except those of a saboteur's plan. */
export const NOTHING_ELSE: CrashPlan = {
  seed: 0,
  setting: setting('replays'),
  work: [SOLD_AT_ONCE],
  // One process of each kind is enough for most saboteurs. Their tests run in parallel.
  processes: { worker: 1, api: 1 },
  clocks: {},
  kills: [],
  restartDelayMs: 0,
  cuts: [],
  stopsAt: [],
  disturbances: [],
  requestFaults: [],
  webhookFaults: [],
};

/** No event reports an order. */
export const EVENTS_LOST = Array.from({ length: 4 }, () => ({ fault: { kind: 'lost' }, nth: 1 }) as const);
