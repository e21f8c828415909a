/** Sends at the purchase gate, with the clock of the test. */
import { randomUUID } from 'node:crypto';
import type { AttemptRef } from '#domain/purchase/results.ts';
import { listCircuits } from '#fulfilment/gate/circuits.ts';
import { addPause } from '#fulfilment/gate/pauses.ts';
import { releaseHeldWork } from '#fulfilment/gate/release-held-work.ts';
import { actOnWork } from '#fulfilment/operator/operator-actions.ts';
import { ActivityBench } from '#test/support/work/activities/activity-bench.ts';

type PauseRequest = Parameters<typeof addPause>[1];

/** An answer of a service that has not approved the account. */
export const NOT_APPROVED = {
  kind: 'answer',
  status: 403,
  body: '{"error":{"code":"not_approved","message":"Not approved."}}',
} as const;

export function gateSteps(bench: () => ActivityBench) {
  const later = (ms: number) => (bench().clock.now += ms);
  return {
    later,
    send: async (ref: AttemptRef) =>
      (await bench().activities.sendPurchase({ ...ref, resendWindowMs: 600_000 })).outcome,
    sends: async () => (await bench().admin.requests('createOrder')).length,
    /** Releases held work, as the worker does. @returns the ids of the released orders. */
    look: async () => {
      const { database, clock, gate } = bench();
      const found = await database.transaction((tx) => releaseHeldWork(tx, clock.now, gate));
      return found?.woken.map(({ id }) => id) ?? [];
    },
    circuit: async (name: string) =>
      (await bench().database.run(listCircuits)).find((row) => row.name === name)?.state ?? 'closed',
    /** Pauses buying, of one kind, or of work that one failure class has stopped. @returns the id of the pause. */
    pause: async (some: Partial<Pick<PauseRequest, 'kind' | 'failureClass'>> = {}): Promise<string> => {
      const asked = {
        origin: 'operator',
        kind: null,
        failureClass: null,
        reason: 'A test.',
        actor: 'key_ada',
      } as const;
      const now = new Date(bench().clock.now);
      return (await bench().database.transaction((tx) => addPause(tx, { ...asked, ...some }, now))).pause.id;
    },
    /** An action of an operator through the API, which needs no workflow. */
    operate: async ({ work }: AttemptRef, action: 'release' | 'abandon', actionId: string = randomUUID()) => {
      const operator = { actor: 'key_ada', reason: 'Urgent.', actionId };
      const now = new Date(bench().clock.now);
      return bench().database.transaction((tx) => actOnWork(tx, work, { action }, operator, now));
    },
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
