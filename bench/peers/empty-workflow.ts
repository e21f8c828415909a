import { proxyActivities, proxyLocalActivities } from '@temporalio/workflow';

type Activities = Record<'first' | 'second' | 'third', () => Promise<void>>;

const { first, second, third } = proxyActivities<Activities>({ startToCloseTimeout: '20s' });
const local = proxyLocalActivities<Activities>({ startToCloseTimeout: '20s' });

/** Three steps show the engine's own cost. */
export async function threeEmptyActivities(): Promise<void> {
  await first();
  await second();
  await third();
}

/** The turns of an order show the engine's own cost. */
export async function sameTurns(turns: readonly ('local' | 'activity')[]): Promise<void> {
  for (const turn of turns) await (turn === 'local' ? local.first() : first());
}
