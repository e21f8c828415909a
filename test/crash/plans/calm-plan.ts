import type { CrashPlan } from '#test/crash/plans/plan.ts';
import { setting } from '#test/crash/plans/settings.ts';

export const SOLD_AT_ONCE = { kind: 'order', nature: 'sold', packageId: 1001 } as const;

/** One order, one process of each kind, and nothing that goes wrong but what a saboteur's plan adds. */
export const NOTHING_ELSE: CrashPlan = {
  seed: 0,
  setting: setting('replays'),
  work: [SOLD_AT_ONCE],
  // One process of each kind is enough for most saboteurs, and their tests run at the same time.
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
