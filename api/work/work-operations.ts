/** The calls that every kind of work has: create, list, read, operator actions. */
import * as z from 'zod';
import { withOwnSuccessor, workFor } from '#api/access/redact-for-owner.ts';
import type { ApiDependencies } from '#api/dependencies.ts';
import type { idInPath } from '#api/fields/ids.ts';
import { type ApiRequest, type Operation, operation } from '#api/http/operation.ts';
import { jsonReply } from '#api/http/reply.ts';
import { csvAnswer, csvQuery, csvReply, type CsvColumns } from '#api/lists/csv-file.ts';
import { positionCursor, readPositionCursor } from '#api/lists/cursor.ts';
import { nextCursor } from '#api/lists/page-reply.ts';
import { bulkOperation } from '#api/operator/bulk-actions.ts';
import { workActionOperations } from '#api/operator/work-actions.ts';
import type { ProblemCode } from '#api/problems/problem-catalogue.ts';
import type { Problem } from '#api/problems/problem.ts';
import type { QuotedItem } from '#api/quotes/quote-token.ts';
import { together } from '#api/waits/together.ts';
import { expandInQuery } from '#api/work/expand.ts';
import { viewOfWork } from '#api/work/shown-work.ts';
import { createWork, creationAnswers, EXPAND_NEEDS_WAIT } from '#api/work/work-creation.ts';
import { workReadOperations } from '#api/work/work-reads.ts';
import { type WorkJson, type WorkResource, workFilter } from '#api/work/work-resource.ts';
import type { workListQuery } from '#api/work/work-schemas.ts';
import { scopesOfKind } from '#db/access/api-keys.ts';
import type { Executor } from '#db/connection/database.ts';
import type { Owner } from '#db/lists/ownership.ts';
import type { PagePosition } from '#db/lists/pages.ts';
import { NO_ATTEMPTS, type WorkFilter, type StoredWork, type WorkReads } from '#db/work/work-reads.ts';
import { KINDS, type WorkKind } from '#domain/work/kinds.ts';
import type { WorkStatus } from '#domain/work/lifecycle.ts';
import type { Acceptance, NewWork } from '#fulfilment/accept/work.ts';

type ListQuery = z.ZodObject & z.ZodType<z.output<z.ZodObject<ReturnType<typeof workListQuery<WorkStatus>>>>>;

/** The filters that only one kind has. */
type OwnFilter<Filter> = Omit<Filter, keyof WorkFilter>;

/** One kind of work in the API. */
export interface WorkDefinition<
  Stored extends StoredWork,
  Filter extends WorkFilter,
  Body extends z.ZodObject,
  Query extends ListQuery,
  Json extends object,
> extends Omit<WorkResource, 'find' | 'findTogether' | 'notFound' | 'path' | 'reference' | 'scopes'> {
  /** For a kind without a reference of the caller's own (`callerReference` in `domain/work/kinds.ts`). */
  readonly reference?: WorkResource['reference'];
  readonly reads: WorkReads<Stored, Filter>;
  /** @param now epoch milliseconds. */
  readonly json: (stored: Stored, now: number) => Json & WorkJson;
  readonly create: {
    /** For work that is done to something: the call below the path of that, whose id is then the reference. */
    readonly below?: {
      readonly operationId: string;
      readonly path: `/v1/${string}/{id}/${string}`;
      readonly params: ReturnType<typeof idInPath>;
      readonly notFound: ProblemCode;
    };
    readonly summary: string;
    readonly description: string;
    readonly body: Body;
    readonly bodyExample: z.input<Body>;
    /**
     * Returns the function that stores the work in the transaction of its creation. Its error becomes the answer.
     * `subjectId` is the id in the path of a call {@link below} something.
     */
    readonly accept: (
      dependencies: ApiDependencies,
      request: Pick<ApiRequest<z.ZodObject, z.ZodObject, Body>, 'body' | 'caller'> & { readonly subjectId: string },
    ) => (tx: Executor, work: NewWork, now: Date) => Promise<Acceptance<Stored['row']>>;
    /** What a quote must be about whose id is given. */
    readonly quoted?: (body: z.output<Body>) => Omit<QuotedItem, 'lineageId' | 'kind'>;
    /**
     * Looks for a reason why the purchase cannot succeed, before the transaction.
     *
     * @returns its problem; undefined when there is none.
     */
    readonly objection?: (
      request: Pick<ApiRequest<z.ZodObject, z.ZodObject, Body>, 'body' | 'caller'>,
    ) => Promise<Problem | undefined>;
    /** What new work of this kind has beside its row, as `reads` would find it. */
    readonly added: Omit<Stored, keyof StoredWork>;
  };
  readonly list: {
    readonly query: Query;
    readonly page: z.ZodType;
    /** The columns of the list as a file. */
    readonly csv: CsvColumns<Json>;
    readonly filter: (query: z.output<Query>, dependencies: ApiDependencies) => OwnFilter<Filter>;
  };
  /** The calls that only this kind has. */
  readonly others?: (dependencies: ApiDependencies, resource: WorkResource) => readonly Operation[];
}

/** All calls about work of one kind. */
export function workOperations<
  Stored extends StoredWork,
  Filter extends WorkFilter,
  Body extends z.ZodObject,
  Query extends ListQuery,
  Json extends object,
>(dependencies: ApiDependencies, definition: WorkDefinition<Stored, Filter, Body, Query, Json>): Operation[] {
  const { database, now } = dependencies;
  const { kind, name, tag, example, reads, create, list } = definition;
  const { noun, path } = KINDS[kind];
  const scopes = scopesOfKind(kind);
  const reference = definition.reference ?? callerReferenceOf(kind);
  const show = (stored: Stored, owner: Owner) =>
    workFor(owner, definition.json(withOwnSuccessor(owner, stored), now()));
  const filterOf = (query: z.output<Query>) =>
    ({ ...workFilter(query), ...list.filter(query, dependencies) }) as Filter;
  const findTogether = together<{ readonly id: string; readonly owner: Owner }, Stored | undefined>(async (asked) =>
    database.run(async (db) => {
      const found = new Map<Owner, ReadonlyMap<string, Stored>>();
      for (const [owner, ofOwner] of Map.groupBy(asked, (each) => each.owner)) {
        const ids = [...new Set(ofOwner.map(({ id }) => id))];
        const rows = await reads.page(db, owner, { ids } as WorkFilter as Filter, {
          limit: ids.length,
          after: undefined,
        });
        found.set(owner, new Map(rows.map((stored) => [stored.row.id, stored])));
      }
      return ({ id, owner }) => found.get(owner)?.get(id);
    }),
  );
  const resource: WorkResource = {
    ...definition,
    path,
    scopes,
    reference,
    notFound: `${kind}_not_found`,
    find: async (db, id, owner) => {
      const stored = await reads.find(db, id, owner);
      return stored && show(stored, owner);
    },
    findTogether: async (id, owner) => {
      const stored = await findTogether({ id, owner });
      return stored && show(stored, owner);
    },
  };
  return [
    operation({
      id: create.below?.operationId ?? `create${name}`,
      method: 'post',
      path: create.below?.path ?? path,
      tag,
      summary: create.summary,
      description: create.description,
      scope: scopes.write,
      ...(create.below && { params: create.below.params }),
      query: z.strictObject({ expand: expandInQuery(kind, definition.expansions, EXPAND_NEEDS_WAIT) }),
      body: create.body,
      bodyExample: create.bodyExample,
      idempotent: true,
      prefersWait: true,
      answers: creationAnswers(resource),
      problems: [
        reference.taken,
        ...(create.below === undefined ? [] : [create.below.notFound]),
        ...(create.objection === undefined ? [] : (['purchase_not_possible'] as const)),
        ...(create.quoted === undefined ? [] : (['quote_expired'] as const)),
      ],
      handle: async (request) => {
        const subjectId = create.below?.params.parse(request.params).id ?? '';
        const named =
          create.below === undefined
            ? z.string().optional().parse(Reflect.get(request.body, reference.field))
            : subjectId;
        return createWork(
          dependencies,
          resource,
          { ...request, target: `POST ${create.below?.path.replace('{id}', subjectId) ?? path}`, named },
          create.accept(dependencies, { ...request, subjectId }),
          // The parts of a stored piece of work, which TypeScript cannot put together for a generic kind.
          (row) => show({ row, ...NO_ATTEMPTS, ...create.added } as unknown as Stored, request.caller.ownerId),
          { objection: await create.objection?.(request), item: create.quoted?.(request.body) },
        );
      },
    }),
    operation({
      id: `list${name}s`,
      method: 'get',
      path,
      tag,
      summary: `List ${noun}s, newest first`,
      scope: scopes.read,
      query: list.query,
      answers: {
        200: {
          description: `A page of ${noun}s.`,
          contentType: 'application/json',
          schema: list.page,
          example: { data: [example], next_cursor: null },
        },
      },
      handle: async ({ query, caller, isHead }) => {
        const { ownerId } = caller;
        const { limit, cursor } = query;
        const { all } = viewOfWork(dependencies, resource, query.expand, { caller, isHead });
        const after = cursor === undefined ? undefined : readPositionCursor(kind, cursor);
        const page = await database.run((db) => reads.page(db, ownerId, filterOf(query), { limit: limit + 1, after }));
        const data = await all(page.slice(0, limit).map((stored) => show(stored, ownerId)));
        return jsonReply(200, {
          data,
          next_cursor: nextCursor(page, limit, ({ row }) => positionCursor(kind, row)),
        });
      },
    }),
    operation({
      id: `export${name}s`,
      method: 'get',
      path: `${path}.csv`,
      tag,
      summary: `Get all ${noun}s that match as CSV, newest first`,
      scope: scopes.read,
      query: list.query.omit({ limit: true, cursor: true, expand: true }).extend(csvQuery),
      answers: csvAnswer(`${noun}s`),
      problems: ['too_many_streams'],
      heavy: 'file',
      handle: async ({ query: { bom, ...query }, caller }) => {
        const { ownerId } = caller;
        // Without the parameters of a page, which have no influence on a filter.
        const filter = filterOf({ limit: 0, ...query } as z.output<Query>);
        return csvReply(
          dependencies,
          { bom: bom === true, caller, scope: scopes.read },
          {
            name: path.split('/').slice(2).join('-'),
            columns: list.csv,
            read: async (after: PagePosition | undefined, limit) => {
              const page = await database.run((db) => reads.page(db, ownerId, filter, { limit, after }));
              return page.map((stored) => ({ item: show(stored, ownerId), position: stored.row }));
            },
          },
        );
      },
    }),
    // Before the path with an id.
    bulkOperation(dependencies, resource),
    ...workReadOperations(dependencies, resource),
    ...(definition.others?.(dependencies, resource) ?? []),
    ...workActionOperations(dependencies, resource),
  ];
}

/** @throws TypeError when callers give no reference of their own for this kind. */
function callerReferenceOf(kind: WorkKind): WorkResource['reference'] {
  const entry = KINDS[kind];
  if (!('callerReference' in entry)) throw new TypeError(`the calls about ${entry.noun}s name no reference`);
  return { field: entry.callerReference, taken: `${entry.callerReference}_taken`, isForGood: true };
}
