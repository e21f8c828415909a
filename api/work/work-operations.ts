import * as z from 'zod';
import { entryFor } from '#api/access/redact-for-owner.ts';
import type { ApiDependencies } from '#api/dependencies.ts';
import { idInPath, nounWithArticle } from '#api/fields/fields.ts';
import { jsonAnswer, type Operation, operation } from '#api/http/operation.ts';
import { jsonReply } from '#api/http/reply.ts';
import { amount, csvAnswer, type CsvColumns, csvQuery, csvReply, field, fields } from '#api/lists/csv-file.ts';
import { CURSORS } from '#api/lists/cursor.ts';
import { listOf, pageOf, pageQuery, pageReply, readPage, waitInQuery } from '#api/lists/lists.ts';
import type { OrderOutput } from '#api/orders/orders.ts';
import { requireFound } from '#api/problems/problem.ts';
import { bulkOperation } from '#api/work/bulk-actions.ts';
import { expandInQuery, viewOfWork } from '#api/work/expand.ts';
import { longPollHeaders, replyAfterWait } from '#api/work/long-poll.ts';
import { workActionOperations } from '#api/work/work-actions.ts';
import { currentStateJson, type WorkJson, type WorkResource } from '#api/work/work-resource.ts';
import { type CommonQuery, timelinePage } from '#api/work/work-schemas.ts';
import { scopesOfKind } from '#db/access/api-keys.ts';
import type { Owner } from '#db/lists/ownership.ts';
import type { PagePosition } from '#db/lists/pages.ts';
import { listTimeline, type StoredWork, type WorkFilter, type WorkReads } from '#db/work/work-reads.ts';
import { announcedStatuses } from '#domain/events/event-types.ts';
import { KINDS } from '#domain/work/kinds.ts';
import type { WorkStatus } from '#domain/work/lifecycle.ts';

const timelineQuery = z.strictObject(pageQuery);

/** What all kinds of work have: the list, the file, reads and the actions of operators. */
export function workOperations<
  Query extends z.ZodObject & z.ZodType<CommonQuery>,
  Stored extends StoredWork,
  Filter extends WorkFilter,
  Shown extends object,
>(
  dependencies: ApiDependencies,
  resource: WorkResource,
  list: {
    readonly query: Query;
    readonly csv: CsvColumns<Shown>;
    readonly reads: Pick<WorkReads<Stored, Filter>, 'page'>;
    readonly filterOf: (query: z.output<Query>) => Filter;
    readonly show: (stored: Stored, owner: Owner) => Shown & WorkJson;
  },
): Operation[] {
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
      answers: { 200: jsonAnswer(`A page of ${noun}s.`, pageOf(resource.output, `${name}Page`)) },
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
    ...readOperations(dependencies, resource),
    ...workActionOperations(dependencies, resource),
  ];
}

function readOperations(dependencies: ApiDependencies, resource: WorkResource): Operation[] {
  const { database } = dependencies;
  const { kind, name, output } = resource;
  const { noun, path } = KINDS[kind];
  const scope = scopesOfKind(kind).read;
  const params = idInPath(kind);
  // A status without an event would never end a wait.
  const announced: readonly WorkStatus[] = announcedStatuses(kind);
  return [
    operation(`GET ${path}/{id}`, {
      id: `get${name}`,
      summary: `Read ${nounWithArticle(kind)}`,
      description:
        'With `wait=N` the answer comes when it is finished (or has a status of `until`), at the latest after N ' +
        'seconds; its form is the same. Check `status`. If the wait ended without the result, `Retry-After` says ' +
        'when to call again, and `Preference-Applied` that the API has waited.',
      scope,
      params,
      query: z.strictObject({
        expand: expandInQuery(kind, resource.expansions),
        wait: waitInQuery,
        until: listOf(announced)
          .optional()
          .meta({
            description:
              'With `wait`: the statuses that end the wait. Default: those in which it is finished, or waits for a ' +
              'person.',
          }),
      }),
      answers: { 200: jsonAnswer(`The ${noun}.`, output, { headers: longPollHeaders }) },
      handle: async ({ params: { id }, query: { expand, wait, until }, onClose, caller, isHead }) => {
        const { one, afterWait } = viewOfWork(dependencies, resource, expand, { caller, isHead });
        const { ownerId } = caller;
        const find = () =>
          wait === undefined
            ? database.run((db) => resource.find(db, id, ownerId))
            : resource.findTogether(id, ownerId);
        const show = wait === undefined ? one : afterWait;
        const reply = await replyAfterWait(dependencies, { id, onClose, find, show, caller }, { wait, until });
        return requireFound(reply, `${kind}_not_found`);
      },
    }),
    operation(`GET ${path}/{id}/timeline`, {
      id: `get${name}Timeline`,
      summary: `Read the timeline and the current state of ${nounWithArticle(kind)}`,
      description:
        'Oldest first. With each page, in `current_state`: its state in a sentence, why it waits, what happens next ' +
        'and when, and whether submitting again would be safe.',
      scope,
      params,
      query: timelineQuery,
      answers: { 200: jsonAnswer('A page of the timeline.', timelinePage) },
      handle: async ({ params: { id }, query, caller: { ownerId } }) =>
        database.run(async (db) => {
          const shown = requireFound(await resource.find(db, id, ownerId), `${kind}_not_found`);
          const current_state = currentStateJson(kind, shown, ownerId);
          return pageReply(
            query,
            CURSORS.timeline,
            (at) => listTimeline(db, { kind, id }, at),
            ({ at, event, message, detail }) => entryFor(ownerId, { at: at.toISOString(), event, message, detail }),
            { current_state },
          );
        }),
    }),
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
