import { nameOf } from '#test/crash/plans/disturbances.ts';
import type { CrashPlan } from '#test/crash/plans/plan.ts';

export const CLOCKS_APART = 'clocks apart';

/** Names of the planned faults. A fault that occurred has the same name in the report. */
export function plannedFaults(plan: CrashPlan): string[] {
  return [
    ...plan.kills.map(({ process, point }) => `kill ${process} at ${point}`),
    ...plan.cuts.map(({ moment }) => `cut ${moment}`),
    ...plan.stopsAt.map(({ process, point }) => `freeze ${process} at ${point}`),
    ...plan.disturbances.map(nameOf),
    ...(Object.values(plan.clocks).some((offset) => offset !== 0) ? [CLOCKS_APART] : []),
    ...[...plan.requestFaults, ...plan.webhookFaults].map(({ fault }) => `service ${fault.kind}`),
  ];
}
