import { and, eq, isNull, sql } from 'drizzle-orm';
import { noteRowsAdded } from '#db/connection/after-commit.ts';
import type { Executor } from '#db/connection/database.ts';
import { insertRow } from '#db/connection/prepared-statements.ts';
import { outbox } from '#db/schema.ts';
import type { WorkRef } from '#domain/work/kinds.ts';

export type OutboxRow = typeof outbox.$inferSelect;

export async function requestStart(tx: Executor, { kind, id }: WorkRef): Promise<void> {
  await insertRow(tx, outbox, { topic: 'start_work', subjectKind: kind, subjectId: id }, { once: true });
  noteRowsAdded(tx, 'outbox');
}

export async function requestStarts(tx: Executor, works: readonly WorkRef[]): Promise<void> {
  const rows = works.map(({ kind, id }) => ({ topic: 'start_work' as const, subjectKind: kind, subjectId: id }));
  await tx.insert(outbox).values(rows).onConflictDoNothing();
  noteRowsAdded(tx, 'outbox');
}

/** `tries` is increased, so that the relay does not settle this request with an earlier one that it hands over now. */
export async function requestWake(tx: Executor, { kind, id }: WorkRef): Promise<void> {
  await tx
    .insert(outbox)
    .values({ topic: 'wake_work', subjectKind: kind, subjectId: id })
    .onConflictDoUpdate({
      target: [outbox.topic, outbox.subjectKind, outbox.subjectId],
      // Quarantined too: an operator has acted since, perhaps on its cause.
      set: { tries: sql`${outbox.tries} + 1`, availableAt: sql`now()`, quarantinedAt: null },
    });
  noteRowsAdded(tx, 'outbox');
}

export async function isWaking(db: Executor, { kind, id }: WorkRef): Promise<boolean> {
  const rows = await db
    .select({ id: outbox.id })
    .from(outbox)
    .where(
      and(
        eq(outbox.topic, 'wake_work'),
        eq(outbox.subjectKind, kind),
        eq(outbox.subjectId, id),
        isNull(outbox.quarantinedAt),
      ),
    );
  return rows.length > 0;
}
