import * as z from 'zod';
import { entryFor } from '#api/access/redact-for-owner.ts';
import type { ApiDependencies } from '#api/dependencies.ts';
import { idInPath } from '#api/fields/fields.ts';
import { jsonAnswer, type Operation, operation } from '#api/http/operation.ts';
import { CURSORS } from '#api/lists/cursor.ts';
import { listOf, pageReply, waitInQuery } from '#api/lists/lists.ts';
import { requireFound } from '#api/problems/problem.ts';
import { expandInQuery, viewOfWork } from '#api/work/expand.ts';
import { longPollHeaders, replyAfterWait } from '#api/work/long-poll.ts';
import { currentStateJson, timelineJson } from '#api/work/work-json.ts';
import type { WorkResource } from '#api/work/work-resource.ts';
import { timelinePage, timelineQuery } from '#api/work/work-schemas.ts';
import { scopesOfKind } from '#db/access/api-keys.ts';
import { listTimeline } from '#db/work/work-reads.ts';
import { announcedStatuses } from '#domain/events/event-types.ts';
import { KINDS } from '#domain/work/kinds.ts';
import type { WorkStatus } from '#domain/work/lifecycle.ts';

export function workReadOperations(dependencies: ApiDependencies, resource: WorkResource): Operation[] {
  const { database } = dependencies;
  const { kind, name, output } = resource;
  const { noun, path } = KINDS[kind];
  const scope = scopesOfKind(kind).read;
  const params = idInPath(kind);
  // A status without an event would never end a wait.
  const announced: readonly WorkStatus[] = announcedStatuses(kind);
  const readQuery = z.strictObject({
    expand: expandInQuery(kind, resource.expansions),
    wait: waitInQuery,
    until: listOf(announced)
      .optional()
      .meta({
        description:
          'With `wait`: the statuses that end the wait. Default: those in which it is finished, or waits for a ' +
          'person.',
      }),
  });
  return [
    operation(`GET ${path}/{id}`, {
      id: `get${name}`,
      summary: `Read ${article(noun)} ${noun}`,
      description:
        'With `wait=N` the answer comes when it is finished (or has a status of `until`), at the latest after N ' +
        'seconds; its form is the same. Check `status`. If the wait ended without the result, `Retry-After` says ' +
        'when to call again, and `Preference-Applied` that the API has waited.',
      scope,
      params,
      query: readQuery,
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
      summary: `Read the timeline and the current state of ${article(noun)} ${noun}`,
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
            (entry) => entryFor(ownerId, timelineJson(entry)),
            { current_state },
          );
        }),
    }),
  ];
}

export function article(noun: string): string {
  return /^[aeiou]/.test(noun) ? 'an' : 'a';
}
