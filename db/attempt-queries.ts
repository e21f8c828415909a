import { and, asc, inArray, sql } from 'drizzle-orm';
import type { Executor } from '#db/database.ts';
import type { AttemptRow } from '#db/attempts.ts';
import { attempts } from '#db/schema.ts';

const HEARD_OR_ASKED = sql`greatest(${attempts.lastHeardAt}, ${attempts.lastAskedAt}, ${attempts.firstSentAt})`;

/** Attempts that the service may have bought and that nothing was heard of since `silentBefore`; longest silence first. */
export async function findSilentAttempts(db: Executor, options: { silentBefore: Date; limit: number }): Promise<AttemptRow[]> {
  return db
    .select()
    .from(attempts)
    .where(and(inArray(attempts.state, ['sending', 'unknown', 'processing']), sql`${HEARD_OR_ASKED} < ${options.silentBefore}`))
    .orderBy(asc(HEARD_OR_ASKED))
    .limit(options.limit);
}

/** Notes that the service was asked about attempts, so that others are asked about first. */
export async function markAsked(db: Executor, attemptIds: readonly string[], now: Date): Promise<void> {
  if (attemptIds.length === 0) return;
  await db.update(attempts).set({ lastAskedAt: now }).where(inArray(attempts.id, [...attemptIds]));
}
