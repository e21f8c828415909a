import type { AttemptRef } from '#domain/purchase/results.ts';
/** Sends at the purchase gate, with the clock of the test. */
import { listCircuits } from '#fulfilment/gate/circuits.ts';
import { releaseHeldWork } from '#fulfilment/gate/release-held-work.ts';
import { ActivityBench } from '#test/support/work/activities/activity-bench.ts';

/** Sends at the purchase gate, with the clock of the test. */

/** An answer of a service that has not approved the account. */
export const NOT_APPROVED = {
  kind: 'answer',
  status: 403,
  body: '{"error":{"code":"not_approved","message":"Not approved."}}',
} as const;

export function gateSteps(bench: () => ActivityBench) {
  /** Advances the clock. */
  const later = (ms: number) => (bench().clock.now += ms);
  return {
    later,
    send: async (ref: AttemptRef) =>
      (await bench().activities.sendPurchase({ ...ref, resendWindowMs: 600_000 })).outcome,
    /** The number of sends that the service received. */
    sends: async () => (await bench().admin.requests('createOrder')).length,
    /** Releases held work, as the worker does. @returns the ids of the released orders. */
    look: async () => {
      const { database, clock, gate } = bench();
      const found = await database.transaction((tx) => releaseHeldWork(tx, clock.now, gate));
      return found?.woken.map(({ id }) => id) ?? [];
    },
    /** The state of a circuit. */
    circuit: async (name: string) =>
      (await bench().database.run(listCircuits)).find((row) => row.name === name)?.state ?? 'closed',
    /** Orders accepted one second apart. */
    begin: async (count: number): Promise<AttemptRef[]> => {
      const refs: AttemptRef[] = [];
      for (let n = 0; n < count; n += 1) {
        refs.push(await bench().begin());
        later(1_000);
      }
      return refs;
    },
  };
}

/** Replaces a bench by one whose simulator has this balance. */
export async function withBalance(bench: ActivityBench, amount: number): Promise<ActivityBench> {
  await bench[Symbol.asyncDispose]();
  return ActivityBench.start({ sandboxBalance: amount.toFixed(2) });
}
