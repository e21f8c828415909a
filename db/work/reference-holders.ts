import { and, eq, sql, type SQL } from 'drizzle-orm';
import type { Executor } from '#db/connection/database.ts';
import { ownWork, type Owner } from '#db/lists/ownership.ts';
import { inList } from '#db/schema/columns.ts';
import { isInDoubt } from '#db/work/cases.ts';
import { REFERENCE_COLUMNS, workTable } from '#db/work/rows.ts';
import { FREES_REFERENCE, type ReferenceHolder } from '#domain/work/identifiers.ts';
import type { WorkKind, WorkRef } from '#domain/work/kinds.ts';

/** The work that may buy, or the last one that has ended. */
export async function findHolderId(db: Executor, kind: WorkKind, reference: string): Promise<string | undefined> {
  const table = workTable(kind);
  const [holder] = await db
    .select({ id: table.id })
    .from(table)
    .where(eq(referenceOf(kind), reference))
    .orderBy(sql`${table.status} in (${inList(FREES_REFERENCE)})`, sql`reference_use desc`)
    .limit(1);
  return holder?.id;
}

/** @param requestKey keyed hash of the Idempotency-Key. @returns undefined when the owner may not see the work. */
export async function readHolder(
  db: Executor,
  { kind, id }: WorkRef,
  owner: Owner,
  requestKey: Buffer,
): Promise<ReferenceHolder | undefined> {
  const table = workTable(kind);
  const reference = sql.identifier(referenceOf(kind).name);
  const isOfSameKey = sql`exists (select from ${table} as earlier
    where earlier.${reference} = ${table}.${reference} and earlier.request_key = ${requestKey})`;
  const [holder] = await db
    .select({
      id: table.id,
      status: table.status,
      use: sql<number>`reference_use`,
      inDoubt: isInDoubt(db, { kind, id }),
      isOfSameKey: isOfSameKey as SQL<boolean>,
    })
    .from(table)
    .where(and(eq(table.id, id), ownWork(kind, owner)));
  return holder;
}

function referenceOf(kind: WorkKind) {
  const reference = REFERENCE_COLUMNS[kind];
  if (reference === undefined) throw new TypeError(`work of the kind ${kind} has no reference`);
  return reference;
}
