import { and, arrayContains, asc, eq, gt, gte, isNull, lte, sql, type SQL } from 'drizzle-orm';
import type { PackageRow, VpnPlanRow } from '#db/catalogue/catalogue.ts';
import type { Executor } from '#db/connection/database.ts';
import { matches, type PageOptions } from '#db/lists/pages.ts';
import { packages, vpnPlans } from '#db/schema.ts';

/** A value that is not known meets none of the filters. */
export interface ItemFilter {
  readonly text?: string | undefined;
  readonly available?: boolean | undefined;
  readonly minDays?: number | undefined;
  readonly maxDays?: number | undefined;
  readonly currency?: string | undefined;
  readonly minPrice?: string | undefined;
  readonly maxPrice?: string | undefined;
  /** Exclusive. */
  readonly updatedAfter?: Date | undefined;
  readonly includeRemoved?: boolean | undefined;
}

export interface PackageFilter extends ItemFilter {
  readonly countries?: readonly string[] | undefined;
  readonly anyCountry?: readonly string[] | undefined;
  readonly unlimited?: boolean | undefined;
  readonly minDataMb?: number | undefined;
  readonly maxDataMb?: number | undefined;
}

export const SORTING_KEYS = {
  id: ['bigint'],
  price: ['text', 'numeric', 'bigint'],
  days: ['boolean', 'numeric', 'bigint'],
  data: ['boolean', 'float8', 'bigint'],
} as const;

export interface ItemOrder<Field extends string> {
  readonly field: Field;
  readonly isReversed: boolean;
}

/** @param page.after keys of the last item of the page before: the item may have changed since. */
export async function pageOfPackages(
  db: Executor,
  filter: PackageFilter,
  order: ItemOrder<'id' | 'price' | 'data' | 'days'>,
  { limit, after }: PageOptions<readonly string[]>,
): Promise<{ row: PackageRow; keys: string[] }[]> {
  const { countries, anyCountry, unlimited, minDataMb, maxDataMb } = filter;
  const { dataMb } = packages;
  const keys = order.field === 'data' ? dataKeys(order.isReversed) : itemKeys(packages, order.field, order.isReversed);
  return db
    .select({ row: packages, keys: asTexts(keys) })
    .from(packages)
    .where(
      and(
        meetsFilter(packages, filter),
        countries === undefined ? undefined : arrayContains(packages.countries, [...countries]),
        anyCountry === undefined ? undefined : isValidInOne(anyCountry),
        matches(packages.unlimited, unlimited),
        minDataMb === undefined ? undefined : sql`(${packages.unlimited} or ${dataMb} >= ${minDataMb})`,
        maxDataMb === undefined ? undefined : lte(dataMb, maxDataMb),
        after === undefined ? undefined : isAfter(keys, order.field, after),
      ),
    )
    .orderBy(...keys.map((key) => asc(key)))
    .limit(limit);
}

export async function pageOfPlans(
  db: Executor,
  filter: ItemFilter,
  { field, isReversed }: ItemOrder<'id' | 'price' | 'days'>,
  { limit, after }: PageOptions<readonly string[]>,
): Promise<{ row: VpnPlanRow; keys: string[] }[]> {
  const keys = itemKeys(vpnPlans, field, isReversed);
  return db
    .select({ row: vpnPlans, keys: asTexts(keys) })
    .from(vpnPlans)
    .where(and(meetsFilter(vpnPlans, filter), after === undefined ? undefined : isAfter(keys, field, after)))
    .orderBy(...keys.map((key) => asc(key)))
    .limit(limit);
}

export async function findPackage(db: Executor, id: number): Promise<PackageRow | undefined> {
  const [row] = await db.select().from(packages).where(eq(packages.id, id));
  return row;
}

export async function findPlan(db: Executor, id: number): Promise<VpnPlanRow | undefined> {
  const [row] = await db.select().from(vpnPlans).where(eq(vpnPlans.id, id));
  return row;
}

/** PostgreSQL hashes the list; the operator `&&` would compare each country with each. */
function isValidInOne(countries: readonly string[]): SQL {
  const list = sql.param([...countries]);
  return sql`exists (select from unnest(${packages.countries}) as of (code) where of.code = any(${list}::text[]))`;
}

type Table = typeof packages | typeof vpnPlans;

function meetsFilter(table: Table, filter: ItemFilter): SQL | undefined {
  const { text, available, minDays, maxDays, currency, minPrice, maxPrice, updatedAfter, includeRemoved } = filter;
  return and(
    includeRemoved === true ? undefined : isNull(table.removedAt),
    text === undefined ? undefined : sql`position(${text.toLowerCase()} in ${table.searchName}) > 0`,
    matches(table.available, available),
    minDays === undefined ? undefined : gte(table.days, minDays),
    maxDays === undefined ? undefined : lte(table.days, maxDays),
    matches(table.priceCurrency, currency),
    minPrice === undefined ? undefined : gte(table.priceAmount, minPrice),
    maxPrice === undefined ? undefined : lte(table.priceAmount, maxPrice),
    updatedAfter === undefined ? undefined : gt(table.updatedAt, updatedAfter),
  );
}

/** All ascending. What is not known is last in both directions. */
function itemKeys(table: Table, field: 'id' | 'price' | 'days', isReversed: boolean): readonly SQL[] {
  const sign = signOf(isReversed);
  const id = sql`${table.id}`;
  // Amounts of different currencies are not compared.
  if (field === 'price') return [sql`${table.priceCurrency}`, sql`${sign} ${table.priceAmount}`, id];
  if (field === 'days') return [sql`(${table.days} is null)`, sql`coalesce(${sign} ${table.days}, 0)`, id];
  return [id];
}

/** An unlimited package has the most data. */
function dataKeys(isReversed: boolean): readonly SQL[] {
  const { dataMb, unlimited } = packages;
  const megabytes = sql`case when ${unlimited} then 'Infinity'::float8 else coalesce(${dataMb}, 0) end`;
  return [sql`(${packages.unlimited} is null)`, sql`${signOf(isReversed)} (${megabytes})`, sql`${packages.id}`];
}

const signOf = (isReversed: boolean): SQL => sql.raw(isReversed ? '-' : '+');

function asTexts(keys: readonly SQL[]): SQL<string[]> {
  const texts = keys.map((key) => sql`(${key})::text`);
  return sql<string[]>`array[${sql.join(texts, sql`, `)}]`;
}

/** The last item may have another price by now, or be removed. */
function isAfter(keys: readonly SQL[], field: keyof typeof SORTING_KEYS, after: readonly string[]): SQL {
  const types = SORTING_KEYS[field];
  const values = after.map((value, index) => sql`${value}::${sql.raw(types[index] ?? 'text')}`);
  return sql`(${sql.join([...keys], sql`, `)}) > (${sql.join(values, sql`, `)})`;
}
