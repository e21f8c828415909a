import * as z from 'zod';
import type { ApiDependencies } from '#api/dependencies.ts';
import { eventOutput } from '#api/events/event-data.ts';
import { EventStreams } from '#api/events/event-stream.ts';
import { idInPath, timeInQuery } from '#api/fields/fields.ts';
import { type Caller, type Operation, operation, jsonAnswer } from '#api/http/operation.ts';
import { jsonReply } from '#api/http/reply.ts';
import { CURSORS } from '#api/lists/cursor.ts';
import { listOf, pageQuery, waitInQuery } from '#api/lists/lists.ts';
import { invalid, Problem, requireFound } from '#api/problems/problem.ts';
import { longPollHeaders, preferenceApplied } from '#api/work/long-poll.ts';
import { lastPosition, type PublishedEvent } from '#db/events/event-log.ts';
import {
  findEvent,
  keptPositions,
  listEvents,
  meets,
  positionBefore,
  type EventFilter,
} from '#db/events/event-queries.ts';
import { eventPatterns, type EventType, eventTypes, selects, typesOfSubject } from '#domain/events/event-types.ts';
import { eventEnvelope, subjectKinds } from '#outbound/event-message.ts';

export const eventPage = z
  .strictObject({
    data: z.array(eventOutput),
    next_cursor: z.string().meta({
      description: 'Value of `cursor` to continue from here, now or later. Never null.',
      example: 'di40Mg',
    }),
    has_more: z.boolean().meta({ description: 'Whether there is another page now.' }),
  })
  .meta({ id: 'EventPage' });

const named = (pattern: string): readonly EventType[] => eventTypes.filter((type) => selects([pattern], type));

const cursor = pageQuery.cursor.meta({
  description:
    '`next_cursor` of the previous page, or the `id` field of the stream (not the id of the event ' +
    'itself). Valid while the events after it are stored.',
});

const narrowing = {
  type: z
    .string()
    .max(1_000)
    .refine((text) => text.split(',').every((pattern) => named(pattern).length > 0), {
      message: 'must be existing types of events, such as order.completed or order.*, separated by commas',
    })
    .transform((text) => [...new Set(text.split(',').flatMap(named))])
    .optional()
    .meta({
      description: 'Types of events, separated by commas; `order.*` selects all events of orders.',
      override: { type: 'array', items: { type: 'string', enum: [...eventPatterns] }, minItems: 1 },
    }),
  subject_kind: listOf(subjectKinds).optional().meta({ description: 'Kinds of subjects, separated by commas.' }),
  subject_id: z
    .string()
    .regex(/^[A-Za-z0-9_]{1,64}$/, 'must be the id of a subject of events')
    .optional()
    .meta({ description: 'Id of one subject, such as `ord_…`.' }),
};

const eventListQuery = z.strictObject({
  ...narrowing,
  created_after: timeInQuery(
    'Without a cursor: starts with the first event later than this. Default: the oldest stored event.',
  ),
  limit: pageQuery.limit,
  cursor,
  wait: waitInQuery,
});

const eventStreamQuery = z.strictObject({ ...narrowing, cursor });

/** For a caller that was not allowed to wait: the time of the next event is unknown. */
const RETRY_AFTER_SECONDS = 5;

export function eventOperations(dependencies: ApiDependencies): Operation[] {
  const { database, waits } = dependencies;
  const streams = new EventStreams(dependencies);
  return [
    operation('GET /v1/events', {
      id: 'listEvents',
      summary: 'Read events, oldest first',
      description:
        'The feed: store `next_cursor` and continue from it at any time. No event is skipped or repeated while ' +
        'events are stored (30 days by default). With `wait=N` an empty page waits for events, at most N seconds: ' +
        '`Preference-Applied` says that it did. An event reports a change; read `subject.href` for the current state.',
      scope: 'events:read',
      query: eventListQuery,
      answers: {
        200: jsonAnswer('A page of events.', eventPage, {
          headers: {
            ...longPollHeaders,
            'Retry-After':
              'With `wait=N`, when the API did not wait and there was no event: seconds after which to call ' +
              'again. Without it, call again at once.',
          },
        }),
      },
      problems: ['cursor_expired'],
      handle: async ({ query, caller, onClose }) => {
        const filter = filterOf(query, caller);
        const after = await database.run(async (db) => {
          if (query.cursor !== undefined) return CURSORS.event.read(query.cursor);
          return query.created_after === undefined
            ? (await keptPositions(db)).oldest - 1n
            : positionBefore(db, query.created_after);
        });
        let first: FoundPage | undefined;
        const heard: PublishedEvent[] = [];
        const { found, isGranted } = await waits.until({
          seconds: query.wait ?? 0,
          lineageId: caller.lineageId,
          ...(query.subject_id !== undefined && { subjectId: query.subject_id }),
          isRelevant: (event) => {
            if (event.position <= after || !meets(filter, event)) return false;
            if (heard.length <= query.limit) heard.push(event);
            return true;
          },
          // Later events are heard, so that they cost no read for each caller.
          read: async () => {
            if (first !== undefined) return { events: heard, passed: first.passed };
            first = await readPage(dependencies, filter, after, query.limit + 1);
            return first;
          },
          isEnough: ({ events }) => events.length > 0,
          onClose,
        });
        const { events = [], passed = after } = found ?? {};
        const shown = events.slice(0, query.limit);
        const hasMore = events.length > query.limit;
        const last = shown.at(-1)?.position ?? after;
        const page = {
          data: shown.map(eventEnvelope),
          // A page that is not full has also passed all other events: so the cursor of a filter that rarely matches
          // does not expire.
          next_cursor: CURSORS.event.write(hasMore || passed < last ? last : passed),
          has_more: hasMore,
        };
        if (query.wait === undefined) return jsonReply(200, page);
        const askAgain = !isGranted && shown.length === 0 && { 'Retry-After': String(RETRY_AFTER_SECONDS) };
        return jsonReply(200, page, { ...preferenceApplied(dependencies, query.wait, isGranted), ...askAgain });
      },
    }),
    // Before the path with an id.
    operation('GET /v1/events/stream', {
      id: 'streamEvents',
      summary: 'Follow events as they happen (server-sent events)',
      description:
        'Each has the type in `event`, the event as JSON in `data`, and a cursor in `id`. Starts with new events; ' +
        'with `Last-Event-ID` (or `cursor`) it continues after that event without a gap. A comment every 15 seconds ' +
        'shows that the connection works. Connect again when it ends: when the API stops, the key is revoked, you ' +
        'read more slowly than events arrive, or PostgreSQL has lost events.',
      scope: 'events:read',
      query: eventStreamQuery,
      requestHeaders: z.strictObject({
        'Last-Event-ID': z.string().optional().meta({
          description:
            'The last received `id`: the stream continues after it. Has precedence over `cursor`; empty means none.',
        }),
      }),
      answers: { 200: { description: 'Events, until one side ends it.', contentType: 'text/event-stream' } },
      problems: ['cursor_expired', 'too_many_streams'],
      handle: async ({ query, caller, header, onClose }) => {
        const filter = filterOf(query, caller);
        // An EventSource that reconnects sends the same URL and the last id; the header is empty when it received none.
        const sent = header('Last-Event-ID');
        const last = sent === '' ? undefined : sent;
        const given = last ?? query.cursor;
        const place = last === undefined ? 'query' : 'header';
        const seen = given === undefined ? undefined : CURSORS.event.read(given, place);
        // Determined before the answer begins, so that the caller misses no event.
        const after = await database.run(async (db) => {
          if (seen === undefined) return (await keptPositions(db)).newest;
          await requireKept(db, seen);
          return seen;
        });
        return streams.open(filter, { after, caller, onClose });
      },
    }),
    operation('GET /v1/events/{id}', {
      id: 'getEvent',
      summary: 'Read an event',
      scope: 'events:read',
      params: idInPath('event'),
      answers: { 200: jsonAnswer('The event.', eventOutput) },
      handle: async ({ params: { id }, caller }) => {
        const found = await database.run((db) => findEvent(db, id, caller.ownerId));
        return jsonReply(200, eventEnvelope(requireFound(found, 'event_not_found')));
      },
    }),
  ];
}

function filterOf(
  { type, subject_kind: kinds, subject_id: subjectId }: Omit<z.output<typeof eventStreamQuery>, 'cursor'>,
  { ownerId: owner }: Caller,
): EventFilter {
  const ofKinds = kinds?.flatMap(typesOfSubject);
  const types = type && ofKinds ? type.filter((each) => ofKinds.includes(each)) : (type ?? ofKinds);
  if (types?.length === 0)
    throw invalid([{ in: 'query', field: 'type', message: 'no event of this type has a subject of this kind' }]);
  return { types, subjectId, owner };
}

interface FoundPage {
  readonly events: readonly PublishedEvent[];
  /** No event up to this position is missing from a page that is not full. */
  readonly passed: bigint;
}

/** Reads before it checks that the start is still stored: events deleted in between must not be skipped silently. */
async function readPage(
  { database }: ApiDependencies,
  filter: EventFilter,
  after: bigint,
  limit: number,
): Promise<FoundPage> {
  return database.run(async (db) => {
    const passed = await lastPosition(db);
    const events = await listEvents(db, filter, { after, limit });
    await requireKept(db, after);
    return { events, passed };
  });
}

/** @throws Problem cursor_expired when a later event is not kept any more, or the position was never reached. */
async function requireKept(db: Parameters<typeof keptPositions>[0], after: bigint): Promise<void> {
  const { oldest, newest } = await keptPositions(db);
  if (after + 1n < oldest) throw new Problem('cursor_expired');
  if (after > newest)
    throw new Problem('cursor_expired', {
      detail:
        'The feed has not reached this position: its database was restored to an earlier time, or the cursor is of ' +
        'another installation.',
    });
}
