/** The stored items of the catalogue, as readings compare and change them. */
import { asc, getTableColumns, isNull, sql, type SQL } from 'drizzle-orm';
import type { PgTable } from 'drizzle-orm/pg-core';
import type { Executor } from '#db/connection/database.ts';
import { packages, vpnPlans } from '#db/schema.ts';
import type { CatalogueItem, CatalogueItems, CatalogueName, CataloguePackage } from '#domain/catalogue/catalogue.ts';
import type { CatalogueChange, KnownItem } from '#domain/catalogue/reading.ts';
import { plainAmount, plainMoney } from '#domain/money/money.ts';

export type PackageRow = typeof packages.$inferSelect;
export type VpnPlanRow = typeof vpnPlans.$inferSelect;

/** Items of one statement: PostgreSQL takes 65,535 values. */
const BATCH = 1_000;

/** A stored plan, or what a package has in common with it. */
function planOf(row: VpnPlanRow): CatalogueItem {
  const { id, name, days, priceAmount, priceCurrency, available } = row;
  return { id, name, days, price: { amount: plainAmount(priceAmount), currency: priceCurrency }, available };
}

/** A stored package. */
function packageOf(row: PackageRow): CataloguePackage {
  const { countries, dataMb, unlimited, publicPriceAmount, publicPriceCurrency } = row;
  const publicPrice = plainMoney(publicPriceAmount, publicPriceCurrency);
  return { ...planOf(row), countries, dataMb, unlimited, publicPrice };
}

interface ItemStore<Item> {
  /** All items that were ever read, by id. */
  readonly known: (db: Executor) => Promise<KnownItem<Item>[]>;
  /** Those that are listed now, by id. */
  readonly listed: (db: Executor) => Promise<Item[]>;
  /** Stores changes of a reading. */
  readonly store: (tx: Executor, changes: readonly CatalogueChange<Item>[], readAt: Date) => Promise<void>;
}

/** The stored items of each catalogue. */
export const STORED_ITEMS: { readonly [Name in CatalogueName]: ItemStore<CatalogueItems[Name]> } = {
  packages: {
    known: async (db) => (await db.select().from(packages).orderBy(asc(packages.id))).map(knownAs(packageOf)),
    listed: async (db) =>
      (await db.select().from(packages).where(isNull(packages.removedAt)).orderBy(asc(packages.id))).map(packageOf),
    store: async (tx, changes, readAt) => {
      for (const rows of inBatches(changes, (change) => packageRow(change, readAt))) {
        await tx.insert(packages).values(rows).onConflictDoUpdate({ target: packages.id, set: NEW_PACKAGE });
      }
    },
  },
  vpn_plans: {
    known: async (db) => (await db.select().from(vpnPlans).orderBy(asc(vpnPlans.id))).map(knownAs(planOf)),
    listed: async (db) =>
      (await db.select().from(vpnPlans).where(isNull(vpnPlans.removedAt)).orderBy(asc(vpnPlans.id))).map(planOf),
    store: async (tx, changes, readAt) => {
      for (const rows of inBatches(changes, (change) => planRow(change, readAt))) {
        await tx.insert(vpnPlans).values(rows).onConflictDoUpdate({ target: vpnPlans.id, set: NEW_PLAN });
      }
    },
  },
};

const NEW_PACKAGE = newValues(packages);
const NEW_PLAN = newValues(vpnPlans);

/** For an item that exists: all new values but its first time. */
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

function* inBatches<Item, Row>(items: readonly Item[], rowOf: (item: Item) => Row): Generator<Row[]> {
  for (let start = 0; start < items.length; start += BATCH) yield items.slice(start, start + BATCH).map(rowOf);
}
