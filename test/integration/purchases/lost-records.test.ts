import { eq } from 'drizzle-orm';
import { describe, expect, it } from 'vitest';
import { attempts } from '#db/schema.ts';
import { findAttemptById } from '#db/work/attempts.ts';
import type { Witness } from '#domain/purchase/recovery.ts';
import { disposedAtEnd } from '#test/support/disposed-at-end.ts';
import { ActivityBench } from '#test/support/work/activities/activity-bench.ts';
import { WORK_MISSING } from '#workflows/messages.ts';

const bench = disposedAtEnd(await ActivityBench.start());

const SENT: Witness = { number: 1, state: 'unknown', sends: 1, firstSentAt: Date.now(), anyUnknown: true };

describe('an order with a lost attempt row', () => {
  it('is restored as unknown, with the same key and the number of sends of its workflow', async () => {
    const { work, attemptId } = await bench.begin();
    const before = await bench.database.run((db) => findAttemptById(db, attemptId));
    await bench.database.run((db) => db.delete(attempts).where(eq(attempts.id, attemptId)));
    const { attempt, isRestored } = await bench.activities.beginWork({ work, witness: SENT });
    expect([isRestored, attempt.state, attempt.history.sends, attempt.history.anyUnknown]).toEqual([
      true,
      'unknown',
      1,
      true,
    ]);
    const after = await bench.database.run((db) => findAttemptById(db, attempt.id));
    expect([after.idempotencyKey, after.reference]).toEqual([before.idempotencyKey, before.reference]);
    expect(await bench.activities.sendPurchase({ work, attemptId: attempt.id })).toMatchObject({
      outcome: { kind: 'lease_held' },
    });
  });

  it('is restored once, and reports the database epoch of its read', async () => {
    const { work } = await bench.begin();
    const first = await bench.activities.beginWork({ work, witness: SENT });
    const second = await bench.activities.beginWork({ work, witness: SENT });
    expect([first.attempt.state, first.isRestored, second.isRestored]).toEqual(['unknown', true, undefined]);
    expect(first.epoch).toMatch(/^[0-9A-F]{8}\/\d+/);
    expect(second.epoch).toBe(first.epoch);
  });

  it.each(['readDebitEvidence', 'lookUpPurchase', 'completePurchase', 'sendPurchase'] as const)(
    'makes %s fail with work_missing, so that its workflow starts again instead of retrying forever',
    async (name) => {
      const { work, attemptId } = await bench.begin();
      await bench.database.run((db) => db.delete(attempts).where(eq(attempts.id, attemptId)));
      await expect(bench.activities[name]({ work, attemptId, applied: [] })).rejects.toMatchObject({
        type: WORK_MISSING,
        nonRetryable: true,
      });
    },
  );
});
