/** Readings of the catalogue. */
import { and, desc, eq, gt, lt, ne, sql } from 'drizzle-orm';
import type { Executor } from '#db/connection/database.ts';
import { catalogueReadings } from '#db/schema.ts';
import type { CatalogueName } from '#domain/catalogue/catalogue.ts';

export type CatalogueReadingRow = typeof catalogueReadings.$inferSelect;

/** Blocks other readings of a catalogue until the end of the transaction. */
export async function lockCatalogue(tx: Executor, catalogue: CatalogueName): Promise<void> {
  await tx.execute(sql`select pg_advisory_xact_lock(hashtext('catalogue'), hashtext(${catalogue}))`);
}

/** The reading of a run, if it was stored. */
export async function findReadingOfRun(
  db: Executor,
  catalogue: CatalogueName,
  runId: string,
): Promise<CatalogueReadingRow | undefined> {
  const [row] = await db
    .select()
    .from(catalogueReadings)
    .where(and(eq(catalogueReadings.catalogue, catalogue), eq(catalogueReadings.runId, runId)));
  return row;
}

/**
 * When the stored catalogue was read: the newest complete reading that counts, or the newest one when none was
 * complete.
 *
 * @returns undefined when it was never read.
 */
export async function catalogueReadAt(db: Executor, catalogue: CatalogueName): Promise<Date | undefined> {
  const [row] = await db
    .select({ readAt: catalogueReadings.readAt })
    .from(catalogueReadings)
    .where(and(eq(catalogueReadings.catalogue, catalogue), ne(catalogueReadings.verdict, 'suspicious')))
    .orderBy(desc(catalogueReadings.complete), desc(catalogueReadings.id))
    .limit(1);
  return row?.readAt;
}

/** A reading that began after this time, if there is one. */
export async function laterReading(
  db: Executor,
  catalogue: CatalogueName,
  readAt: Date,
): Promise<CatalogueReadingRow | undefined> {
  const [row] = await db
    .select()
    .from(catalogueReadings)
    .where(and(eq(catalogueReadings.catalogue, catalogue), gt(catalogueReadings.readAt, readAt)))
    .limit(1);
  return row;
}

/** True when a reading has shown the whole catalogue. */
export async function wasReadCompletely(db: Executor, catalogue: CatalogueName): Promise<boolean> {
  const [row] = await db
    .select({ id: catalogueReadings.id })
    .from(catalogueReadings)
    .where(and(eq(catalogueReadings.catalogue, catalogue), eq(catalogueReadings.verdict, 'recorded')))
    .limit(1);
  return row !== undefined;
}

/** The ids that the newest complete reading lacks, if it was suspicious. */
export async function suspectedIds(db: Executor, catalogue: CatalogueName): Promise<ReadonlySet<number>> {
  const [row] = await db
    .select({ suspected: catalogueReadings.suspected })
    .from(catalogueReadings)
    .where(and(eq(catalogueReadings.catalogue, catalogue), eq(catalogueReadings.complete, true)))
    .orderBy(desc(catalogueReadings.id))
    .limit(1);
  return new Set(row?.suspected);
}

/** Stores a reading. Deletes those of its catalogue from before `keptSince`, but for the newest of each verdict. */
export async function addReading(
  tx: Executor,
  reading: Omit<typeof catalogueReadings.$inferInsert, 'id'>,
  keptSince: Date,
): Promise<CatalogueReadingRow> {
  const [row] = await tx.insert(catalogueReadings).values(reading).returning();
  if (row === undefined) throw new Error('the reading was not stored');
  const { catalogue } = reading;
  await tx.delete(catalogueReadings).where(
    and(
      eq(catalogueReadings.catalogue, catalogue),
      lt(catalogueReadings.readAt, keptSince),
      // The age of the catalogue, and a suspicion, follow from these.
      sql`${catalogueReadings.id} not in (select max(kept.id) from catalogue_readings as kept
        where kept.catalogue = ${catalogue} group by kept.complete, kept.verdict)`,
    ),
  );
  return row;
}
