/** Attempts that the service has not reported on for a while, for the reconciler. */
import { and, asc, eq, inArray, sql } from 'drizzle-orm';
import type { Executor } from '#db/connection/database.ts';
import { attempts } from '#db/schema.ts';
import type { AttemptRow } from '#db/work/rows.ts';
import type { ReconcilePolicy } from '#domain/policy/upkeep-policy.ts';
import type { WorkKind } from '#domain/work/kinds.ts';

const LAST_CONTACT = sql`greatest(${attempts.lastReportAt}, ${attempts.lastLookUpAt}, ${attempts.firstSentAt})`;

/** The part of the policy that defines silent work. */
export type SilencePolicy = Pick<
  ReconcilePolicy,
  'silentAfterMs' | 'lookUpAgainShare' | 'lookUpAgainMaxMs' | 'silentPerRun'
>;

/**
 * Attempts that may have bought and without a report for a while, the longest silence first. The while grows with the
 * age of the attempt.
 */
export async function findSilentAttempts(db: Executor, policy: SilencePolicy, now: Date): Promise<AttemptRow[]> {
  const at = sql`${now}::timestamptz`;
  const silentBefore = sql`${at} - ${policy.silentAfterMs}::double precision * interval '1 ms'`;
  const longest = sql`${policy.lookUpAgainMaxMs}::double precision * interval '1 ms'`;
  const grown = sql`${at} - least(${longest},
    (${at} - ${attempts.firstSentAt}) * ${policy.lookUpAgainShare}::double precision)`;
  return db
    .select()
    .from(attempts)
    .where(
      and(
        inArray(attempts.state, ['sending', 'unknown', 'processing']),
        sql`${LAST_CONTACT} < least(${silentBefore}, coalesce(${grown}, ${silentBefore}))`,
      ),
    )
    .orderBy(asc(LAST_CONTACT))
    .limit(policy.silentPerRun);
}

/** Stores that attempts were looked up, so that others come first next time. */
export async function markLookedUp(db: Executor, attemptIds: readonly string[], now: Date): Promise<void> {
  if (attemptIds.length === 0) return;
  await db
    .update(attempts)
    .set({ lastLookUpAt: now })
    .where(inArray(attempts.id, [...attemptIds]));
}

/** The ids among these that belong to an attempt of this kind. */
export async function takenServiceIds(
  db: Executor,
  kind: WorkKind,
  serviceIds: readonly string[],
): Promise<ReadonlySet<string>> {
  if (serviceIds.length === 0) return new Set();
  const rows = await db
    .select({ serviceId: attempts.serviceId })
    .from(attempts)
    .where(and(eq(attempts.subjectKind, kind), inArray(attempts.serviceId, [...serviceIds])));
  return new Set(rows.flatMap(({ serviceId }) => serviceId ?? []));
}
