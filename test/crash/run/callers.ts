/** The callers of a seed: their requests, and the repetition of requests whose work was lost. */
import { setTimeout as delay } from 'node:timers/promises';
import { withClient } from '#cli/embedded/postgres.ts';
import { messageOf } from '#cli/terminal/user-error.ts';
import type { CrashPlan } from '#test/crash/plans/plan.ts';
import type { Disturber } from '#test/crash/run/disturb.ts';
import { REQUEST_TIMEOUT_MS, requestIfLost, requestWork, type Thing } from '#test/crash/run/work.ts';
import type { SimulatorAdmin } from '#test/support/network/simulator-admin.ts';
import type { Stack } from '#test/support/servers/stack.ts';
import { waitFor } from '#test/support/wait-for.ts';

/**
 * Runs all callers. Resolves when each has its answer and all disturbances are over.
 *
 * @param notes.refused receives a violation for each request that was not accepted.
 */
export async function requestAll(
  stack: Stack,
  plan: CrashPlan,
  { admin, disturber, refused }: { admin: SimulatorAdmin; disturber: Disturber; refused: string[] },
): Promise<Thing[]> {
  const requests: Promise<Thing | undefined>[] = [];
  for (const [index, planned] of plan.work.entries()) {
    disturber.reached(index);
    if (index === plan.moneyAfterWork) await moneyComes(stack, admin);
    const thing = requestWork(stack, planned, [...requests]).catch((error: unknown) => {
      refused.push(`a caller did not get its ${planned.kind} accepted: ${messageOf(error)}`);
      return undefined;
    });
    requests.push(thing);
    // In sequence, so that the n-th hit of a point is mostly the same piece of work in each run of a seed.
    await delay(BETWEEN_CALLERS_MS);
  }
  const [things] = await Promise.all([Promise.all(requests), disturber.over()]);
  return things.filter((thing) => thing !== undefined);
}

/** Repeats lost requests in sequence, because later work may need the eSIM of earlier work. */
export async function requestLost(stack: Stack, requests: readonly Thing[], refused: string[]): Promise<Thing[]> {
  const things: Thing[] = [];
  for (const thing of requests) {
    try {
      things.push(await requestIfLost(stack, thing));
    } catch (error) {
      things.push(thing);
      refused.push(`a caller did not get its lost ${thing.planned.kind} accepted again: ${messageOf(error)}`);
    }
  }
  return things;
}

const BETWEEN_CALLERS_MS = 30;
const A_LOT = '100000.00';

/** At the gate or refused by the service; or other clients of the wallet have filled it already. */
const WAITS_FOR_MONEY = `select from gate_waits
  union all select from orders where failure_class = 'insufficient_balance' or status = 'completed'`;

async function moneyComes(stack: Stack, admin: SimulatorAdmin): Promise<void> {
  await waitFor(
    'work waits for money',
    async () => (await withClient(stack.databaseUrl, (client) => client.query(WAITS_FOR_MONEY))).rowCount !== 0,
    { timeoutMs: REQUEST_TIMEOUT_MS },
  );
  await admin.deposit(A_LOT);
}
