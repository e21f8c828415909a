import { proxyActivities } from '@temporalio/workflow';
import type * as activities from '#bench/peers/empty-activities.ts';

const { first, second, third } = proxyActivities<typeof activities>({ startToCloseTimeout: '20s' });

/** What the engine itself costs for three steps. */
export async function threeEmptyActivities(): Promise<void> {
  await first();
  await second();
  await third();
}
