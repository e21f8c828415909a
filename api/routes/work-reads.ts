import { WORK_NOUNS } from '#domain/work.ts';
import { listTimeline, workExists } from '#db/work-queries.ts';
import { numberCursor, readNumberCursor } from '#api/cursor.ts';
import type { ApiDependencies } from '#api/dependencies.ts';
import { idInPath, mayExist } from '#api/fields.ts';
import { operation, type Operation } from '#api/operation.ts';
import { pageReply } from '#api/page-reply.ts';
import { jsonReply } from '#api/reply.ts';
import { timelineJson } from '#api/representations.ts';
import { notFound, type WorkResource } from '#api/work-resource.ts';
import { timelinePage, timelineQuery } from '#api/work-schemas.ts';

const JSON_TYPE = 'application/json';

/** Reading one piece of work, and what happened to it so far. */
export function workReadOperations({ database }: ApiDependencies, resource: WorkResource): Operation[] {
  const { kind, name, path, tag, scopes, output, example } = resource;
  const noun = WORK_NOUNS[kind];
  const params = idInPath(kind, example.id);
  return [
    operation({
      id: `get${name}`,
      method: 'get',
      path: `${path}/{id}`,
      tag,
      summary: `Read ${article(noun)} ${noun}`,
      scope: scopes.read,
      params,
      answers: { 200: { description: `The ${noun}.`, contentType: JSON_TYPE, schema: output, example } },
      problems: [resource.notFound],
      handle: async ({ params: { id }, caller: { ownerId } }) => {
        const found = mayExist(kind, id) ? await database.run((db) => resource.find(db, id, ownerId)) : undefined;
        if (found === undefined) throw notFound(resource);
        return jsonReply(200, found);
      },
    }),
    operation({
      id: `get${name}Timeline`,
      method: 'get',
      path: `${path}/{id}/timeline`,
      tag,
      summary: `Read what happened to ${article(noun)} ${noun}, oldest first`,
      scope: scopes.read,
      params,
      query: timelineQuery,
      answers: {
        200: {
          description: 'A page of the timeline.',
          contentType: JSON_TYPE,
          schema: timelinePage,
          example: {
            data: [
              {
                at: '2030-01-31T12:00:00.000Z',
                event: `${kind}.accepted`,
                message: `The ${noun} was accepted and stored; its workflow is about to start.`,
                detail: { package_id: 101 },
              },
            ],
            next_cursor: null,
          },
        },
      },
      problems: [resource.notFound],
      handle: async ({ params: { id }, query: { limit, cursor }, caller: { ownerId } }) => {
        const after = cursor === undefined ? undefined : readNumberCursor('t', cursor);
        const work = { kind, id };
        const entries = await database.run(async (db) => {
          if (!mayExist(kind, id) || !(await workExists(db, work, ownerId))) throw notFound(resource);
          return listTimeline(db, work, { limit: limit + 1, after });
        });
        return pageReply(entries, limit, { json: timelineJson, cursor: ({ id: last }) => numberCursor('t', last) });
      },
    }),
  ];
}

/** Of `order`, `an`. */
export function article(noun: string): string {
  return /^[aeiou]/.test(noun) ? 'an' : 'a';
}
