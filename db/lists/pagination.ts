/** Pages of lists whose query is built once for each set of filters. */
import { sql } from 'drizzle-orm';
import { builtOnce, type BuiltQuery } from '#db/connection/built-once.ts';
import type { Executor } from '#db/connection/database.ts';
import type { Given, GivenFilter, GivenPage, PageOptions } from '#db/lists/given-values.ts';
import type { Owner } from '#db/lists/ownership.ts';

interface Query<Row> extends PromiseLike<Row[]> {
  prepare(name: string): BuiltQuery<Row[]>;
}

type List<Filter, Row> = (
  db: Executor,
  owner: Given<Owner>,
  filter: GivenFilter<Filter>,
  page: GivenPage,
) => Query<Row>;

/** Number of prepared filter sets for each list: more than callers use. Further sets are built on each call. */
const MAX_SHAPES = 30;

/**
 * Makes the read of a page.
 * @param name of the list, unique and short: PostgreSQL cuts names of statements.
 * @param list the query of a page.
 */
export function pagesOf<
  Filter extends { readonly statuses?: readonly string[] | undefined; readonly metadata?: object | undefined },
  Row,
>(
  name: string,
  list: List<Filter, Row>,
): (db: Executor, owner: Owner, filter: Filter, page: PageOptions) => Promise<Row[]> {
  const shapes = new Map<string, ReturnType<typeof builtOnce<Row[]>>>();
  // TypeScript cannot check that the values, or placeholders of the same names, of a generic filter may be given.
  const given = (filter: object) => filter as GivenFilter<Filter>;
  return async (db, owner, request, page) => {
    const { statuses, ...filter } = request;
    // Planned by its value; see `hasPairs`.
    if (request.metadata !== undefined) return list(db, owner, given(request), page);
    const { limit, after } = page;
    // A repeated status would displace another one on the page.
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
