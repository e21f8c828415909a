import { and, desc, eq, sql } from 'drizzle-orm';
import { currentOf } from '#db/attempts/attempts.ts';
import type { Executor } from '#db/connection/database.ts';
import { attempts } from '#db/schema.ts';
import { startOf, storedKind, workTable } from '#db/work/kinds.ts';
import type { InboxMatch, NamedPurchase } from '#fulfilment/reports/reports-by-kind.ts';
import { FULFILMENT_KINDS } from '#fulfilment/work/kinds.ts';

/**
 * Finds the attempt of an event: by the service's id, else by our reference, else, for kinds without a reference, by
 * the eSIM, of which only one attempt may be under way. Locks the work, then its attempts.
 */
export async function lockMatch(tx: Executor, named: NamedPurchase): Promise<InboxMatch | undefined> {
  const { kind } = named;
  const found = (await findByName(tx, named)) ?? (await FULFILMENT_KINDS[kind].findByEsim?.(tx, named));
  if (found === undefined) return undefined;
  const work = { kind, id: found.subjectId };
  const table = workTable(kind);
  const [locked] = await tx
    .select({
      row: table,
      orderedProduct: sql<number | null>`${storedKind(kind).product?.column ?? sql`null`}`,
      start: startOf(kind, sql`${work.id}`),
    })
    .from(table)
    .where(eq(table.id, work.id))
    .for('update');
  const all = await tx
    .select()
    .from(attempts)
    .where(and(eq(attempts.subjectKind, kind), eq(attempts.subjectId, work.id)))
    .orderBy(desc(attempts.number))
    .for('update');
  const attempt = all.find(({ id }) => id === found.id);
  if (locked === undefined || attempt === undefined) return undefined;
  return { ...locked, work, attempt, isCurrent: currentOf(all)?.id === attempt.id };
}

/** An attempt and its work. */
interface Found {
  readonly id: string;
  readonly subjectId: string;
}

async function findByName(db: Executor, { kind, serviceId, reference }: NamedPurchase): Promise<Found | undefined> {
  if (!serviceId && !reference) return undefined;
  const { rows } = await db.execute<{ id: string; subject_id: string }>(sql`
    select id, subject_id from (
      select 1 as choice, id, subject_id from attempts
      where subject_kind = ${kind} and service_id = ${serviceId || null}
      union all
      select 2, id, subject_id from attempts
      where subject_kind = ${kind} and reference = ${reference || null}
    ) as named order by choice limit 1`);
  const [found] = rows;
  return found && { id: found.id, subjectId: found.subject_id };
}
