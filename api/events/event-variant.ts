import * as z from 'zod';
import { ourId } from '#api/fields/ids.ts';
import { instant } from '#api/fields/instant.ts';
import { meaningsOf } from '#api/fields/meanings.ts';
import { SELECTS_SCHEMA } from '#api/openapi/open-sets.ts';
import { EVENT_TYPES, type EventSubjectKind, type EventType } from '#domain/events/event-types.ts';
import { byKind } from '#domain/work/kinds.ts';

export const exampleEventId = 'evt_01JQ8ZC9J0KMNPQRSTVWXYZ123';

const NOUNS = {
  ...byKind('noun'),
  order_batch: 'batch of orders',
  refund: 'refund',
  esim: 'eSIM',
  package: 'package at the service',
  vpn_plan: 'VPN plan at the service',
  wallet: 'wallet: there is one',
  webhook_endpoint: 'webhook endpoint',
} as const satisfies Record<EventSubjectKind, string>;

/**
 * The schema of the events with the same `data`.
 *
 * @param id the name of the schema.
 */
export function variant<Kind extends EventSubjectKind, Type extends EventType, Data extends z.ZodRawShape>(
  id: string,
  kind: Kind,
  types: readonly [Type, ...Type[]],
  data: Data,
) {
  return z
    .strictObject({
      id: ourId('event', exampleEventId),
      type: z.enum(types).meta({
        description: meaningsOf(Object.fromEntries(types.map((type) => [type, EVENT_TYPES[type]]))),
        [SELECTS_SCHEMA]: true,
      }),
      created_at: instant.meta({ description: 'Time of the change. RFC 3339.' }),
      subject: z.strictObject({
        kind: z.literal(kind),
        id: z.string().meta({ description: `Id of the ${NOUNS[kind]}.` }),
        href: z.string().meta({ description: 'Path of the current state.' }),
      }),
      data: z
        .strictObject(data)
        .meta({ description: 'Facts at the time of the event. Read `subject.href` for the current state.' }),
    })
    .meta({ id });
}
