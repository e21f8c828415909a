import * as z from 'zod';
import { eventShapes } from '#api/events/event-data.ts';
import { webhookExample } from '#api/webhook-endpoints/event-webhooks.ts';
import { EVENT_TYPES, type EventSubjectKind, type EventType } from '#domain/events/event-types.ts';

type Shape = (typeof eventShapes)[number];

/** The page *Events* in Markdown: each type, and the fields of its `data`, with an example. */
export function eventsPage(): string {
  const byKind = Map.groupBy(eventShapes, (shape): EventSubjectKind => shape.shape.subject.shape.kind.value);
  return [
    '# Events',
    '',
    'All events of the feed and of [event webhooks](docs/how-to/webhooks-out.md). The set is closed: new types',
    'come with a new version and an entry in the changelog. An event announces a change; read the current state from',
    '`subject.href`. Later versions may add fields to bodies. Ignore unknown values of `type`, and answer their',
    'webhooks with `2xx`.',
    '',
    'Webhook endpoints choose by type (`order.completed`), by kind (`order.*`), or all events (`*`).',
    '',
    'Every field of `data` is always present. A field without a value is `null`, if the table allows it. A *time* is',
    'RFC 3339 in UTC; an *amount* is an object with `amount` (a decimal in a string) and `currency`. In',
    '`/openapi.json`, the schema `Event` defines the same, and `WebhookEvent` the body of webhooks.',
    '',
    ...[...byKind].flatMap(([kind, shapes]) => [`## \`${kind}.*\``, '', ...shapes.flatMap(section)]),
  ].join('\n');
}

function section(shape: Shape): string[] {
  const types: readonly EventType[] = shape.shape.type.options;
  return [
    '| type | when |',
    '|---|---|',
    ...types.map((type) => `| \`${type}\` | ${EVENT_TYPES[type]} |`),
    '',
    '| field of `data` | type | meaning |',
    '|---|---|---|',
    ...fieldsOf(shape),
    '',
    '```json',
    JSON.stringify(webhookExample(shape), null, 2),
    '```',
    '',
  ];
}

const field = z.looseObject({
  description: z.string().default(''),
  type: z.union([z.string(), z.array(z.string())]).optional(),
  format: z.string().optional(),
  enum: z.array(z.string()).optional(),
  $ref: z.string().optional(),
  allOf: z.array(z.looseObject({ $ref: z.string().optional() })).optional(),
});
const nullable = field.extend({ anyOf: z.array(field).optional() });

/** Longer lists of values are only in the description of the resource. A nullable field has the same values. */
const MANY = 12;

function fieldsOf({ shape: { data } }: Shape): string[] {
  const { properties } = z
    .object({ properties: z.record(z.string(), nullable) })
    .parse(z.toJSONSchema(data, { io: 'output' }));
  return Object.entries(properties).map(([name, { anyOf, ...own }]) => {
    const is = (anyOf ?? [own]).flatMap(namesOf).join(' or ');
    const { enum: values = [] } = own;
    const listed =
      values.length > 0 && values.length < MANY && !own.description.includes('`: ')
        ? ` One of ${values.map((value) => `\`${value}\``).join(', ')}.`
        : '';
    return `| \`${name}\` | ${is} | ${own.description}${listed} |`;
  });
}

/** The types of a field, one word each. */
function namesOf({ type = 'string', format, $ref, allOf }: z.output<typeof field>): string[] {
  if ([$ref, allOf?.[0]?.$ref].some((each) => each?.endsWith('/Money'))) return ['amount'];
  return [type]
    .flat()
    .map((each) => (each === 'null' ? '`null`' : each === 'string' && format === 'date-time' ? 'time' : each));
}
