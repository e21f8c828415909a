import { eq, inArray, type Placeholder, sql, type SQL, type SQLWrapper } from 'drizzle-orm';
import type { AnyPgColumn, PgTable } from 'drizzle-orm/pg-core';
import { builtOnce, type BuiltQuery } from '#db/connection/built-once.ts';
import type { Executor } from '#db/connection/database.ts';
import { PLANNED_BY_VALUE } from '#db/connection/prepared-client.ts';
import type { Owner } from '#db/lists/ownership.ts';

export interface PagePosition {
  readonly createdAt: Date;
  readonly id: string;
}

export interface PageOptions {
  readonly limit: number;
  readonly after?: PagePosition | undefined;
}

export type Given<Value> = Value | Placeholder;
type AllGiven<Values> = { readonly [Name in keyof Values]: Given<Values[Name]> };

export type GivenFilter<Filter> = {
  readonly [Name in keyof Filter]: Filter[Name] extends readonly (infer Item)[] | undefined
    ? readonly Given<Item>[] | undefined
    : Given<Filter[Name]>;
};

export interface GivenPage {
  readonly limit: Given<number>;
  readonly after?: AllGiven<PagePosition> | undefined;
}

interface Query<Row> extends PromiseLike<Row[]> {
  prepare(name: string): BuiltQuery<Row[]>;
}

type List<Filter, Row> = (
  db: Executor,
  owner: Given<Owner>,
  filter: GivenFilter<Filter>,
  page: GivenPage,
) => Query<Row>;

/** More than callers use. Further sets are built on each call. */
const MAX_SHAPES = 30;

/** @param name unique and short: PostgreSQL cuts names of statements. */
export function pagesOf<
  Filter extends { readonly statuses?: readonly string[] | undefined; readonly metadata?: object | undefined },
  Row,
>(
  name: string,
  list: List<Filter, Row>,
): (db: Executor, owner: Owner, filter: Filter, page: PageOptions) => Promise<Row[]> {
  const shapes = new Map<string, ReturnType<typeof builtOnce<Row[]>>>();
  const given = (filter: object) => filter as GivenFilter<Filter>;
  return async (db, owner, request, page) => {
    const { statuses, ...filter } = request;
    // Planned by its value; see `hasPairs`.
    if (request.metadata !== undefined) return list(db, owner, given(request), page);
    const { limit, after } = page;
    // A repeated status would displace another one.
    const wanted = statuses === undefined ? undefined : [...new Set(statuses)];
    const ofStatuses = (wanted ?? []).map((status, index) => [`status${index}`, status] as const);
    const ofFilter = Object.entries(filter).filter(([, value]) => value !== undefined);
    const values = {
      limit,
      ...(owner !== undefined && { owner }),
      ...(after !== undefined && { afterCreatedAt: after.createdAt, afterId: after.id }),
      ...Object.fromEntries([...ofFilter, ...ofStatuses]),
    };
    const shape = Object.keys(values).toSorted().join(' ');
    const known = shapes.get(shape);
    if (known !== undefined) return known(db, values);
    if (shapes.size >= MAX_SHAPES) return list(db, owner, given(request), page);

    const place = (value: string) => sql.placeholder(value);
    const places = Object.fromEntries(ofFilter.map(([key]) => [key, place(key)]));
    const number = shapes.size + 1;
    const built = builtOnce((executor) =>
      list(
        executor,
        owner === undefined ? undefined : place('owner'),
        given({ ...places, ...(wanted !== undefined && { statuses: ofStatuses.map(([key]) => place(key)) }) }),
        {
          limit: place('limit'),
          ...(after !== undefined && { after: { createdAt: place('afterCreatedAt'), id: place('afterId') } }),
        },
      ).prepare(`${name}_${number}`),
    );
    shapes.set(shape, built);
    return built(db, values);
  };
}

interface Listed extends PgTable {
  readonly id: AnyPgColumn;
  readonly status: AnyPgColumn;
  readonly createdAt: AnyPgColumn;
}

/**
 * No index gives several statuses in the order of the list, but each status has one.
 * @param inPage all other conditions; applied before the first few of each status are taken.
 */
export function pageOfStatuses(
  table: Listed,
  statuses: readonly Given<string>[] | undefined,
  inPage: SQL | undefined,
  limit: Given<number>,
): SQL | undefined {
  const [only] = statuses ?? [];
  if (statuses === undefined || only === undefined) return inPage;
  const condition = inPage ?? sql`true`;
  if (statuses.length === 1) return sql`${eq(table.status, only)} and ${condition}`;
  const wanted = sql.join(
    [...new Set(statuses)].map((status) => sql`(${status}::text)`),
    sql`, `,
  );
  return inArray(
    table.id,
    sql`(select found.id from (values ${wanted}) as wanted (status) cross join lateral (
      select ${table.id}, ${table.createdAt} from ${table} where ${table.status} = wanted.status and ${condition}
      order by ${newest(table.createdAt, table.id)} limit ${limit}) as found (id, created_at)
      order by ${newest(sql`found.created_at`, sql`found.id`)} limit ${limit})`,
  );
}

/** `nulls last` as in the indexes: without it PostgreSQL would sort all rows for each page. */
export function newest(createdAt: SQLWrapper, id: SQLWrapper): SQL {
  return sql`${createdAt} desc nulls last, ${id} desc nulls last`;
}

export type Condition = (value: unknown) => SQL;

/** One parameter, so the statement is the same for any number of texts. */
export function oneOf(column: AnyPgColumn): Condition {
  // The sub-query hides their number. Else PostgreSQL would look in all rows in the order of the list, not in the index
  // of the column.
  return (values) => sql`${column} = any(array(select unnest(${sql.param(values)}::text[])))`;
}

/** Found by the index if rare, else by reading the newest rows: PostgreSQL must know which, so it is not prepared. */
export function hasPairs(column: AnyPgColumn, pairs: unknown): SQL {
  // The first part is the condition of the index.
  const isIndexed = sql`${column} <> '{}'::jsonb`;
  return sql`${isIndexed} and ${column} @> ${sql.param(pairs)}::jsonb ${sql.raw(PLANNED_BY_VALUE)}`;
}
