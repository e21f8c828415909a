import { expect, it, vi } from 'vitest';
import type { Database } from '#db/connection/database.ts';
import type { AttemptRow } from '#db/work/rows.ts';
import { DEFAULT_POLICY } from '#domain/policy/policy.ts';
import type { CompletionResult } from '#domain/purchase/results.ts';
import type { WorkHandlers } from '#fulfilment/purchase/handler.ts';
import { deliverAtOnce } from '#fulfilment/purchase/send.ts';

const attempt = { id: 'att_1' } as AttemptRow;
// Not used: the attempt is not completed, so that nothing goes to the drift stop.
const database = {} as Database;
const time = (leftMs: number) => ({ elapsedMs: () => 0, leftMs: () => leftMs });

function delivery(complete: () => Promise<CompletionResult>, leftMs = 30_000) {
  const handlers = { order: { complete } } as unknown as WorkHandlers;
  const { gate } = DEFAULT_POLICY;
  return deliverAtOnce({ handlers, database, gate, now: Date.now }, 'order', attempt, time(leftMs));
}

it('a purchase that is completed at once is delivered', async () => {
  expect(await delivery(async () => Promise.resolve({ kind: 'completed', esimId: 'esim_1' }))).toEqual({
    esimId: 'esim_1',
  });
});

it.each<CompletionResult>([
  { kind: 'unreadable', detail: 'No activation code.' },
  { kind: 'needs_attention', reason: 'contradiction', detail: 'It names another eSIM.' },
  { kind: 'changed' },
  { kind: 'not_yet', reason: 'timeout', detail: 'No answer.' },
])('a delivery that is $kind is left to the activity of the delivery', async (result) => {
  expect(await delivery(async () => Promise.resolve(result))).toBeUndefined();
});

it('an error of the delivery does not reach the send', async () => {
  expect(await delivery(async () => Promise.reject(new Error('PostgreSQL is gone')))).toBeUndefined();
});

it('a delivery that takes longer than the activity has is not waited for', async () => {
  expect(await delivery(() => new Promise(() => undefined), 1)).toBeUndefined();
});

it('a delivery is not begun when the time of the activity is over', async () => {
  const complete = vi.fn<() => Promise<CompletionResult>>();
  expect(await delivery(complete, 0)).toBeUndefined();
  expect(complete).not.toHaveBeenCalled();
});
