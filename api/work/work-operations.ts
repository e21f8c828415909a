import type * as z from 'zod';
import type { ApiDependencies } from '#api/dependencies.ts';
import { jsonAnswer, type Operation, operation } from '#api/http/operation.ts';
import { jsonReply } from '#api/http/reply.ts';
import { amount, csvAnswer, type CsvColumns, csvQuery, csvReply, field, fields } from '#api/lists/csv-file.ts';
import { CURSORS } from '#api/lists/cursor.ts';
import { readPage } from '#api/lists/lists.ts';
import type { OrderOutput } from '#api/orders/orders.ts';
import { bulkOperation } from '#api/work/bulk-actions.ts';
import { viewOfWork } from '#api/work/expand.ts';
import { workActionOperations } from '#api/work/work-actions.ts';
import { workReadOperations } from '#api/work/work-reads.ts';
import type { WorkJson, WorkResource } from '#api/work/work-resource.ts';
import type { CommonQuery } from '#api/work/work-schemas.ts';
import { scopesOfKind } from '#db/access/api-keys.ts';
import type { Owner } from '#db/lists/ownership.ts';
import type { PagePosition } from '#db/lists/pages.ts';
import type { StoredWork, WorkFilter, WorkReads } from '#db/work/work-reads.ts';
import { KINDS } from '#domain/work/kinds.ts';

interface WorkList<
  Query extends z.ZodObject & z.ZodType<CommonQuery>,
  Stored extends StoredWork,
  Filter extends WorkFilter,
  Shown extends object,
> {
  readonly query: Query;
  readonly page: z.ZodType;
  readonly csv: CsvColumns<Shown>;
  readonly reads: Pick<WorkReads<Stored, Filter>, 'page'>;
  readonly filterOf: (query: z.output<Query>) => Filter;
  readonly show: (stored: Stored, owner: Owner) => Shown & WorkJson;
}

/** What all kinds of work have: the list, the file, reads and the actions of operators. */
export function workOperations<
  Query extends z.ZodObject & z.ZodType<CommonQuery>,
  Stored extends StoredWork,
  Filter extends WorkFilter,
  Shown extends object,
>(dependencies: ApiDependencies, resource: WorkResource, list: WorkList<Query, Stored, Filter, Shown>): Operation[] {
  const { database } = dependencies;
  const { kind, name } = resource;
  const { noun, path } = KINDS[kind];
  const scope = scopesOfKind(kind).read;
  return [
    operation(`GET ${path}`, {
      id: `list${name}s`,
      summary: `List ${noun}s, newest first`,
      scope,
      query: list.query,
      answers: { 200: jsonAnswer(`A page of ${noun}s.`, list.page) },
      handle: async ({ query, caller, isHead }) => {
        const { all } = viewOfWork(dependencies, resource, query.expand, { caller, isHead });
        const { data, next_cursor } = await readPage(query, CURSORS[kind], (page) =>
          database.run((db) => list.reads.page(db, caller.ownerId, list.filterOf(query), page)),
        );
        return jsonReply(200, {
          data: await all(data.map((stored) => list.show(stored, caller.ownerId))),
          next_cursor,
        });
      },
    }),
    operation(`GET ${path}.csv`, {
      id: `export${name}s`,
      summary: `Get all ${noun}s that match as CSV, newest first`,
      scope,
      query: list.query.omit({ limit: true, cursor: true, expand: true }).extend(csvQuery),
      answers: csvAnswer(`${noun}s`),
      heavy: 'file',
      handle: async ({ query: { bom, ...query }, caller }) => {
        // The size of the page has no influence on the filters.
        const filter = list.filterOf({ limit: 0, ...query } as z.output<Query>);
        const { ownerId } = caller;
        return csvReply(
          dependencies,
          { bom: bom === true, caller, scope },
          {
            name: path.split('/').slice(2).join('-'),
            columns: list.csv,
            read: async (after: PagePosition | undefined, limit) => {
              const found = await database.run((db) => list.reads.page(db, ownerId, filter, { limit, after }));
              return found.map((stored) => ({ item: list.show(stored, ownerId), position: stored.row }));
            },
          },
        );
      },
    }),
    // Before the path with an id.
    bulkOperation(dependencies, resource),
    ...workReadOperations(dependencies, resource),
    ...workActionOperations(dependencies, resource),
  ];
}

export const workColumns: CsvColumns<
  Pick<OrderOutput, 'failure' | 'metadata' | 'created_by' | 'created_at' | 'updated_at' | 'completed_at'>
> = [
  field('failure_class', ({ failure }) => failure?.class),
  field('failure_detail', ({ failure }) => failure?.detail),
  field('failure_ended_by', ({ failure }) => failure?.ended_by),
  field('failure_service_message', ({ failure }) => failure?.service_message),
  field('metadata', ({ metadata }) => (Object.keys(metadata).length === 0 ? null : JSON.stringify(metadata))),
  fields('created_by', 'created_at', 'updated_at', 'completed_at'),
];

export const purchaseColumns: CsvColumns<
  Pick<OrderOutput, 'max_price' | 'charged' | 'customer_price' | 'customer_reference' | 'replaces' | 'replaced_by'>
> = [
  amount('max_price', (work) => work.max_price),
  amount('charged', (work) => work.charged),
  fields('customer_reference'),
  amount('customer_price', (work) => work.customer_price),
  fields('replaces', 'replaced_by'),
];
