import { and, asc, eq, inArray, sql } from 'drizzle-orm';
import type { WorkKind } from '#domain/work.ts';
import type { Executor } from '#db/database.ts';
import type { AttemptRow } from '#db/attempts.ts';
import { attempts } from '#db/schema.ts';

const HEARD_OR_ASKED = sql`greatest(${attempts.lastHeardAt}, ${attempts.lastAskedAt}, ${attempts.firstSentAt})`;

/**
 * Attempts that the service may have bought and that nothing was heard of for a while; longest silence first. The older one is,
 * the longer that while: a review of two weeks is asked about some hundred times and not ten thousand.
 */
export async function findSilentAttempts(
  db: Executor,
  { silentBefore, now, limit }: { readonly silentBefore: Date; readonly now: Date; readonly limit: number },
): Promise<AttemptRow[]> {
  const grown = sql`${now}::timestamptz - least(interval '6 hours', (${now}::timestamptz - ${attempts.firstSentAt}) / 20)`;
  return db
    .select()
    .from(attempts)
    .where(and(inArray(attempts.state, ['sending', 'unknown', 'processing']), sql`${HEARD_OR_ASKED} < least(${silentBefore}::timestamptz, coalesce(${grown}, ${silentBefore}::timestamptz))`))
    .orderBy(asc(HEARD_OR_ASKED))
    .limit(limit);
}

/** Notes that the service was asked about attempts, so that others are asked about first. */
export async function markAsked(db: Executor, attemptIds: readonly string[], now: Date): Promise<void> {
  if (attemptIds.length === 0) return;
  await db.update(attempts).set({ lastAskedAt: now }).where(inArray(attempts.id, [...attemptIds]));
}

/** Which of these ids of the service are known to be of an attempt of this kind. */
export async function takenServiceIds(db: Executor, kind: WorkKind, serviceIds: readonly string[]): Promise<ReadonlySet<string>> {
  if (serviceIds.length === 0) return new Set();
  const rows = await db
    .select({ serviceId: attempts.serviceId })
    .from(attempts)
    .where(and(eq(attempts.subjectKind, kind), inArray(attempts.serviceId, [...serviceIds])));
  return new Set(rows.flatMap(({ serviceId }) => serviceId ?? []));
}
