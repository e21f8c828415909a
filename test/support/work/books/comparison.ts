/** Purchases and comparisons of the books with the wallet at the service, with the activities of the worker. */
import { randomUUID } from 'node:crypto';
import { eq } from 'drizzle-orm';
import { expect } from 'vitest';
import { findReconciliation, type ReconciliationRow } from '#db/money/reconciliations.ts';
import { cases, journal } from '#db/schema.ts';
import type { ActivityBench } from '#test/support/work/activities/activity-bench.ts';

/** Longer than the grace period, by more than the possible difference of the two clocks. */
export const GRACE = 31 * 60_000;

export function comparisonOf(bench: () => ActivityBench) {
  const buy = async () => {
    const ids = await bench().begin();
    await bench().activities.sendPurchase(ids);
    return { ...ids, serviceId: (await bench().attempt(ids)).serviceId! };
  };
  return {
    /** Compares the books once. @returns the report. */
    compare: async (runId: string = randomUUID()): Promise<ReconciliationRow> => {
      const { id } = await bench().activities.reconcileBooks({ runId });
      const report = await bench().database.run((db) => findReconciliation(db, id));
      return report!;
    },
    buy,
    /** Sends and completes the purchase of a new order. */
    buyToTheEnd: async () => {
      const ids = await buy();
      await bench().activities.completePurchase({ ...ids, applied: [] });
      return ids;
    },
    /** The rows of the journal, oldest first. */
    booked: async () =>
      bench().database.run(async (db) =>
        (await db.select().from(journal).orderBy(journal.id)).map(
          ({ direction, amount, causeKind, causeId }) =>
            `${direction} ${Number(amount).toFixed(2)} ${causeKind} ${causeId}`,
        ),
      ),
    openCases: async (subjectId: string) =>
      bench().database.run(async (db) =>
        (await db.select().from(cases).where(eq(cases.subjectId, subjectId))).filter((each) => each.closedAt === null),
      ),
  };
}

export const findingsOf = ({ findings }: ReconciliationRow) => findings.map(({ kind }) => kind);

/** The expected balance of the books equals the balance of the wallet at the service. */
export function expectBalanced(report: ReconciliationRow): void {
  expect(report.status).toBe('complete');
  expect(Number(report.expectedBalance)).toBeCloseTo(Number(report.balance), 6);
  expect(report.findingCounts.balance_differs).toBeUndefined();
}
