import { and, asc, desc, eq, getTableColumns, gt, isNull, lt, ne, sql, type SQL } from 'drizzle-orm';
import type { PgTable } from 'drizzle-orm/pg-core';
import { inBatches } from '#db/connection/batches.ts';
import type { Executor } from '#db/connection/database.ts';
import { catalogueReadings, packages, vpnPlans } from '#db/schema.ts';
import { PRODUCT_COLUMNS, workTable } from '#db/work/rows.ts';
import type {
  CatalogueChange,
  CatalogueItem,
  CatalogueItems,
  CatalogueName,
  CataloguePackage,
  KnownItem,
} from '#domain/catalogue/catalogue.ts';
import { type Money, plainAmount, plainMoney } from '#domain/money/money.ts';
import type { WorkRef } from '#domain/work/kinds.ts';

export type PackageRow = typeof packages.$inferSelect;
export type VpnPlanRow = typeof vpnPlans.$inferSelect;

function planOf(row: VpnPlanRow): CatalogueItem {
  const { id, name, days, priceAmount, priceCurrency, available } = row;
  return { id, name, days, price: { amount: plainAmount(priceAmount), currency: priceCurrency }, available };
}

function packageOf(row: PackageRow): CataloguePackage {
  const { countries, dataMb, unlimited, publicPriceAmount, publicPriceCurrency } = row;
  const publicPrice = plainMoney(publicPriceAmount, publicPriceCurrency);
  return { ...planOf(row), countries, dataMb, unlimited, publicPrice };
}

interface ItemStore<Item> {
  readonly known: (db: Executor) => Promise<KnownItem<Item>[]>;
  readonly listed: (db: Executor) => Promise<Item[]>;
  readonly store: (tx: Executor, changes: readonly CatalogueChange<Item>[], readAt: Date) => Promise<void>;
}

export const STORED_ITEMS: { readonly [Name in CatalogueName]: ItemStore<CatalogueItems[Name]> } = {
  packages: {
    known: async (db) => (await db.select().from(packages).orderBy(asc(packages.id))).map(knownAs(packageOf)),
    listed: async (db) =>
      (await db.select().from(packages).where(isNull(packages.removedAt)).orderBy(asc(packages.id))).map(packageOf),
    store: async (tx, changes, readAt) => {
      for (const some of inBatches(changes)) {
        const rows = some.map((change) => packageRow(change, readAt));
        await tx.insert(packages).values(rows).onConflictDoUpdate({ target: packages.id, set: NEW_PACKAGE });
      }
    },
  },
  vpn_plans: {
    known: async (db) => (await db.select().from(vpnPlans).orderBy(asc(vpnPlans.id))).map(knownAs(planOf)),
    listed: async (db) =>
      (await db.select().from(vpnPlans).where(isNull(vpnPlans.removedAt)).orderBy(asc(vpnPlans.id))).map(planOf),
    store: async (tx, changes, readAt) => {
      for (const some of inBatches(changes)) {
        const rows = some.map((change) => planRow(change, readAt));
        await tx.insert(vpnPlans).values(rows).onConflictDoUpdate({ target: vpnPlans.id, set: NEW_PLAN });
      }
    },
  },
};

const NEW_PACKAGE = newValues(packages);
const NEW_PLAN = newValues(vpnPlans);

function newValues(table: PgTable): Record<string, SQL> {
  return Object.fromEntries(
    Object.entries(getTableColumns(table))
      .filter(([key]) => key !== 'id' && key !== 'createdAt')
      .map(([key, { name }]) => [key, sql`excluded.${sql.identifier(name)}`]),
  );
}

function knownAs<Row extends { readonly removedAt: Date | null }, Item>(itemOf: (row: Row) => Item) {
  return (row: Row): KnownItem<Item> => ({ item: itemOf(row), isRemoved: row.removedAt !== null });
}

function planRow({ kind, after }: CatalogueChange<CatalogueItem>, readAt: Date) {
  const { id, name, days, price, available } = after;
  return {
    id,
    name,
    searchName: name.toLowerCase(),
    days,
    priceAmount: price.amount,
    priceCurrency: price.currency,
    available,
    createdAt: readAt,
    updatedAt: readAt,
    removedAt: kind === 'removed' ? readAt : null,
  };
}

function packageRow(change: CatalogueChange<CataloguePackage>, readAt: Date) {
  const { countries, dataMb, unlimited, publicPrice } = change.after;
  return {
    ...planRow(change, readAt),
    countries: [...countries],
    dataMb,
    unlimited,
    publicPriceAmount: publicPrice?.amount ?? null,
    publicPriceCurrency: publicPrice?.currency ?? null,
  };
}

export type CatalogueReadingRow = typeof catalogueReadings.$inferSelect;

/** Locks until the end of the transaction. */
export async function lockCatalogue(tx: Executor, catalogue: CatalogueName): Promise<void> {
  await tx.execute(sql`select pg_advisory_xact_lock(hashtext('catalogue'), hashtext(${catalogue}))`);
}

export async function findReadingOfRun(db: Executor, catalogue: CatalogueName, runId: string) {
  const [row] = await db
    .select()
    .from(catalogueReadings)
    .where(and(eq(catalogueReadings.catalogue, catalogue), eq(catalogueReadings.runId, runId)));
  return row;
}

/** The newest complete reading that counts, else the newest one. Undefined when it was never read. */
export async function catalogueReadAt(db: Executor, catalogue: CatalogueName): Promise<Date | undefined> {
  const [row] = await db
    .select({ readAt: catalogueReadings.readAt })
    .from(catalogueReadings)
    .where(and(eq(catalogueReadings.catalogue, catalogue), ne(catalogueReadings.verdict, 'suspicious')))
    .orderBy(desc(catalogueReadings.complete), desc(catalogueReadings.id))
    .limit(1);
  return row?.readAt;
}

export async function laterReading(db: Executor, catalogue: CatalogueName, readAt: Date) {
  const [row] = await db
    .select()
    .from(catalogueReadings)
    .where(and(eq(catalogueReadings.catalogue, catalogue), gt(catalogueReadings.readAt, readAt)))
    .limit(1);
  return row;
}

export async function wasReadCompletely(db: Executor, catalogue: CatalogueName): Promise<boolean> {
  const [row] = await db
    .select({ id: catalogueReadings.id })
    .from(catalogueReadings)
    .where(and(eq(catalogueReadings.catalogue, catalogue), eq(catalogueReadings.verdict, 'recorded')))
    .limit(1);
  return row !== undefined;
}

export async function suspectedIds(db: Executor, catalogue: CatalogueName): Promise<ReadonlySet<number>> {
  const [row] = await db
    .select({ suspected: catalogueReadings.suspected })
    .from(catalogueReadings)
    .where(and(eq(catalogueReadings.catalogue, catalogue), eq(catalogueReadings.complete, true)))
    .orderBy(desc(catalogueReadings.id))
    .limit(1);
  return new Set(row?.suspected);
}

/** Deletes those of its catalogue from before `keptSince`, but for the newest of each verdict. */
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

/**
 * The price may have changed at the service since. Undefined when the catalogue lacks it, or the work orders nothing.
 */
export async function cataloguePrice(db: Executor, { kind, id }: WorkRef): Promise<Money | undefined> {
  const product = PRODUCT_COLUMNS[kind];
  if (product === undefined) return undefined;
  const items = kind === 'vpn_subscription' ? vpnPlans : packages;
  const [price] = await db
    .select({ amount: items.priceAmount, currency: items.priceCurrency })
    .from(workTable(kind))
    .innerJoin(items, eq(items.id, product))
    .where(eq(workTable(kind).id, id));
  return price;
}
