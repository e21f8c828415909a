import { proxyActivities, proxyLocalActivities } from '@temporalio/workflow';

type Activities = Record<'first', () => Promise<void>>;

const { first } = proxyActivities<Activities>({ startToCloseTimeout: '20s' });
const local = proxyLocalActivities<Activities>({ startToCloseTimeout: '20s' });

/** The turns of an order show the engine's own cost. */
export async function sameTurns(turns: readonly ('local' | 'activity')[]): Promise<void> {
  for (const turn of turns) await (turn === 'local' ? local.first() : first());
}
