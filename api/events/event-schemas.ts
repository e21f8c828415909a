import * as z from 'zod';
import { eventOutput } from '#api/events/event-data.ts';
import { timeInQuery } from '#api/fields/fields.ts';
import { listOf, pageQuery, waitInQuery } from '#api/lists/lists.ts';
import {
  eventPatterns,
  type EventSubjectKind,
  type EventType,
  eventTypes,
  selects,
  typesOfSubject,
} from '#domain/events/event-types.ts';
import { subjectKinds } from '#outbound/event-message.ts';

const types = eventTypes as readonly [EventType, ...EventType[]];

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

const named = (pattern: string): readonly EventType[] => types.filter((type) => selects([pattern], type));

const typePatterns = z
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
  });

const cursor = pageQuery.cursor.meta({
  description:
    '`next_cursor` of the previous page, or the `id` field of the stream (not the id of the event ' +
    'itself). Valid while the events after it are stored.',
});

const narrowing = {
  type: typePatterns,
  subject_kind: listOf(subjectKinds as [EventSubjectKind, ...EventSubjectKind[]])
    .optional()
    .meta({ description: 'Kinds of subjects, separated by commas.' }),
  subject_id: z
    .string()
    .regex(/^[A-Za-z0-9_]{1,64}$/, 'must be the id of a subject of events')
    .optional()
    .meta({ description: 'Id of one subject, such as `ord_…`.' }),
};

export const eventListQuery = z.strictObject({
  ...narrowing,
  created_after: timeInQuery(
    'Without a cursor: starts with the first event later than this. Default: the oldest stored event.',
  ),
  limit: pageQuery.limit,
  cursor,
  wait: waitInQuery,
});

export const eventStreamQuery = z.strictObject({ ...narrowing, cursor });

export const eventStreamHeaders = z.strictObject({
  'Last-Event-ID': z.string().optional().meta({
    description:
      'The last received `id`: the stream continues after it. Has precedence over `cursor`; empty means none.',
  }),
});

export function wantedTypes(query: {
  readonly type?: readonly EventType[] | undefined;
  readonly subject_kind?: readonly EventSubjectKind[] | undefined;
}): readonly EventType[] | undefined {
  const ofKinds = query.subject_kind?.flatMap(typesOfSubject);
  if (query.type === undefined || ofKinds === undefined) return query.type ?? ofKinds;
  return query.type.filter((type) => ofKinds.includes(type));
}
