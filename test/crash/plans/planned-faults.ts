import { nameOf } from '#test/crash/plans/disturbances.ts';
import type { CrashPlan } from '#test/crash/plans/plan.ts';

/** Names of the planned faults. A fault that occurred has the same name in the report. */
export function plannedFaults(plan: CrashPlan): string[] {
  return [
    ...plan.kills.map(({ process, point }) => `kill ${process} at ${point}`),
    ...plan.cuts.map(({ moment }) => `cut ${moment}`),
    ...plan.stopsAt.map(({ process, point }) => `freeze ${process} at ${point}`),
    ...plan.disturbances.map(nameOf),
    ...clocksApart(plan),
    ...[...plan.requestFaults, ...plan.webhookFaults].map(({ fault }) => `service ${fault.kind}`),
  ];
}

/** A fault that occurs whenever it is planned. */
export function clocksApart({ clocks }: CrashPlan): string[] {
  return Object.values(clocks).some((offset) => offset !== 0) ? ['clocks apart'] : [];
}
