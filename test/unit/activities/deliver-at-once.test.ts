import { expect, it, vi } from 'vitest';
import type { CompletionResult } from '#domain/purchase/results.ts';
import { deliverAtOnce } from '#fulfilment/purchase/send.ts';

const delivery = (complete: () => Promise<CompletionResult>, leftMs = 30_000) => deliverAtOnce(complete, leftMs);

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
