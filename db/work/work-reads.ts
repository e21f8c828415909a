/** The reads that the API makes of every kind of work: one by its id, and pages of a list. */
import { and, eq, type SQL, type SQLWrapper } from 'drizzle-orm';
import type { AnyPgColumn } from 'drizzle-orm/pg-core';
import type { BuiltQuery } from '#db/connection/built-once.ts';
import type { Executor } from '#db/connection/database.ts';
import { findOneOfOwner, type Owner } from '#db/lists/ownership.ts';
import {
  type Condition,
  type Given,
  type GivenFilter,
  type GivenPage,
  type PageOptions,
  pagesOf,
} from '#db/lists/pages.ts';
import { type WorkRow, workTable } from '#db/work/kinds.ts';
import {
  attemptSummary,
  type AttemptSummary,
  newestFirst,
  summaryColumns,
  type WorkFilter,
  workPage,
} from '#db/work/work-queries.ts';
import type { WorkKind } from '#domain/work/kinds.ts';

/** The row of one piece of work, with what its attempts add. */
export interface StoredWork<Row = WorkRow> extends AttemptSummary {
  readonly row: Row;
}

/** A query that runs when it is awaited. */
interface WorkQuery<Stored> extends PromiseLike<Stored[]>, SQLWrapper {
  prepare(name: string): BuiltQuery<Stored[]>;
  toSQL(): { sql: string; params: unknown[] };
}

/** The beginning of a query on the table of a kind, joined with {@link attemptSummary}. */
export interface WorkSelection<Stored> {
  where(condition: SQL | undefined): {
    orderBy(order: SQL): { limit(limit: Given<number>): WorkQuery<Stored> };
  };
}

/** The reads of one kind of work. */
export interface WorkReads<Stored, Filter> {
  /** One that is the owner's. */
  readonly find: (db: Executor, id: string, owner: Owner) => Promise<Stored | undefined>;
  /** A page, newest first, as a query that is built for each call. */
  readonly list: (db: Executor, owner: Given<Owner>, filter: GivenFilter<Filter>, page: GivenPage) => WorkQuery<Stored>;
  /** The rows of a page, by a query that is built once for each set of filters. */
  readonly page: (db: Executor, owner: Owner, filter: Filter, page: PageOptions) => Promise<Stored[]>;
}

/** By each filter that only this kind has, the column whose value it names, or its condition. */
type OwnFilters<Filter> = { readonly [Name in Exclude<keyof Filter, keyof WorkFilter>]-?: AnyPgColumn | Condition };

/**
 * Makes the reads of one kind of work.
 *
 * @param filters those that only this kind has.
 * @param select begins the query; for a kind that is shown with rows of another table.
 */
export function workReads<Stored extends StoredWork, Filter extends WorkFilter>(
  kind: WorkKind,
  filters: OwnFilters<Filter>,
  select: (db: Executor) => WorkSelection<Stored> = (db) => selectWork(db, kind),
): WorkReads<Stored, Filter> {
  const query = (db: Executor, where: SQL | undefined, limit: Given<number>) =>
    select(db).where(where).orderBy(newestFirst(kind)).limit(limit);
  const ownFilters = Object.entries<AnyPgColumn | Condition>(filters);
  const list = (db: Executor, owner: Given<Owner>, filter: GivenFilter<Filter>, page: GivenPage) => {
    const values: Readonly<Record<string, unknown>> = filter;
    const own = and(
      ...ownFilters.map(([name, filtered]) => {
        const value = values[name];
        if (value === undefined) return undefined;
        return typeof filtered === 'function' ? filtered(value) : eq(filtered, value);
      }),
    );
    return query(db, workPage(kind, owner, filter, page, own), page.limit);
  };
  return { find: findOneOfOwner(kind, query), list, page: pagesOf(`${kind}_page`, list) };
}

function selectWork<Stored>(db: Executor, kind: WorkKind): WorkSelection<Stored> {
  const facts = attemptSummary(db, kind);
  const table = workTable(kind);
  // The whole row is read; `workTable` shows the type of its shared columns only.
  return db
    .select({ row: table, ...summaryColumns(facts) })
    .from(table)
    .crossJoinLateral(facts) as unknown as WorkSelection<Stored>;
}
