import { STATUS_CODES } from 'node:http';
import * as z from 'zod';
import { eventShapes } from '#api/events/event-data.ts';
import type { Operation } from '#api/http/operation.ts';
import { problemsOf } from '#api/openapi/describe-operation.ts';
import { type ProblemCode, problemCodes, problemRow, PROBLEMS } from '#api/problems/problem-catalogue.ts';
import { problemExample } from '#api/problems/problem-schema.ts';
import { problemPath } from '#api/problems/problem.ts';
import { webhookExample } from '#api/webhook-endpoints/event-webhooks.ts';
import { type EventSubjectKind, type EventType, EVENT_TYPES } from '#domain/events/event-types.ts';

export interface Guide {
  /** The last part of its address, `/docs/guides/<name>`. */
  readonly name: string;
  readonly title: string;
  /** Path of its Markdown, or the Markdown itself. Paths and links are relative to the project. */
  readonly source: string | ((operations: readonly Operation[]) => string);
  /** The heading of the only section that is shown. */
  readonly section?: string;
}

const RULES = 'docs/reference/api.md';

/** The guides of the site by group, in the order in which a new integrator needs them. */
export const GUIDE_GROUPS: Readonly<Record<string, readonly Guide[]>> = {
  'Get started': [
    { name: 'first-order', title: 'Your first order', source: 'docs/tutorial/first-order.md' },
    { name: 'typescript', title: 'TypeScript client', source: 'clients/typescript/README.md' },
    { name: 'python', title: 'Python client', source: 'clients/python/README.md' },
    { name: 'command-line', title: 'The reseller command', source: 'docs/reference/command-line.md' },
    { name: 'testing', title: 'Test your integration', source: 'docs/how-to/test-your-integration.md' },
    { name: 'simulator', title: 'The simulator', source: 'docs/simulator.md' },
  ],
  Sell: [
    { name: 'top-ups', title: 'Top-ups', source: RULES, section: 'Recharging an eSIM' },
    { name: 'cancellations', title: 'Cancellations and refunds', source: RULES, section: 'Cancellations and refunds' },
    { name: 'vpn', title: 'VPN subscriptions', source: RULES, section: 'VPN subscriptions' },
    { name: 'files', title: 'Files and sales', source: 'docs/how-to/export-and-sales.md' },
  ],
  Build: [
    { name: 'retries', title: 'Retries and idempotency', source: 'docs/how-to/retries-and-idempotency.md' },
    { name: 'batches', title: 'Many eSIMs at once', source: 'docs/how-to/order-a-batch.md' },
    { name: 'customers', title: "A customer's question", source: 'docs/how-to/answer-a-customer.md' },
    { name: 'errors', title: 'Errors', source: errorsPage },
    { name: 'webhooks', title: 'Webhooks', source: 'docs/how-to/webhooks-out.md' },
    { name: 'events', title: 'Events', source: eventsPage },
    { name: 'share-links', title: 'Share links', source: 'docs/how-to/share-links.md' },
    { name: 'pricing', title: 'Pricing', source: 'docs/how-to/pricing.md' },
    { name: 'rules', title: 'All rules of the API', source: RULES },
  ],
  Operate: [
    { name: 'going-live', title: 'Going live', source: 'docs/how-to/going-live.md' },
    { name: 'operating', title: 'Operate orders', source: 'docs/how-to/operate-orders.md' },
    { name: 'night-questions', title: 'Questions of the night', source: 'docs/how-to/answer-the-night-questions.md' },
    { name: 'versions', title: 'Versions and deprecation', source: 'docs/reference/versions.md' },
  ],
};

export const GUIDES: readonly Guide[] = Object.values(GUIDE_GROUPS).flat();

const LISTED_CALLS = 8;

const HEAD = `# Errors, one by one

Every error answer is \`application/problem+json\` (RFC 9457). Switch on \`code\`: its meaning never changes. \`type\`
is the address of a page about this error alone. \`request_id\` identifies the request in the log
of the API. How to handle errors in a client: [retries and idempotency](docs/how-to/retries-and-idempotency.md).

The column *again* says whether the same request may be sent again. **no**: it would be refused again. **after a
change**: change what the answer names first. **yes**: with the same \`Idempotency-Key\`, after \`Retry-After\` if it
is present.

`;

/** The page *Errors* in Markdown: meaning, advice and calls of each problem. */
function errorsPage(operations: readonly Operation[]): string {
  const byStatus = [...Map.groupBy(problemCodes, (code) => PROBLEMS[code].status)].toSorted(
    ([left], [right]) => left - right,
  );
  const overview = byStatus.flatMap(([, codes]) =>
    codes.map(
      (code) => `| [\`${code}\`](#${code}) | ${PROBLEMS[code].status} | ${PROBLEMS[code].title} | ${again(code)} |`,
    ),
  );
  const sections = byStatus.map(([status, codes]) =>
    [`## ${status} ${STATUS_CODES[status] ?? ''}`, '', ...codes.map((code) => sectionOf(code, operations))].join('\n'),
  );
  const lines = [`${HEAD}| code | status | title | again |`, '|---|---|---|---|', ...overview, '', ...sections];
  return `${lines.join('\n').trimEnd()}\n`;
}

function sectionOf(code: ProblemCode, operations: readonly Operation[]): string {
  const { title, advice, meaning = '' } = problemRow(code);
  const calls = operations
    .filter((operation) => problemsOf(operation).includes(code))
    .map(({ method, path }) => `\`${method.toUpperCase()} ${path}\``);
  return [
    `### ${code}`,
    '',
    `${title}. ${meaning}`.trimEnd(),
    '',
    `**What to do.** ${advice}`,
    '',
    callsLine(calls, operations.length),
    '',
    '```json',
    JSON.stringify(problemExample(code), undefined, 2),
    '```',
    '',
    `Address of its page: \`${problemPath(code)}\`.`,
    '',
  ].join('\n');
}

function callsLine(calls: readonly string[], all: number): string {
  if (calls.length === 0) return 'Returned for addresses without a call.';
  if (calls.length <= LISTED_CALLS) return `Returned by ${calls.join(', ')}.`;
  return calls.length === all
    ? 'Returned by every call.'
    : `Returned by ${calls.length} calls; \`/docs\` lists it at each of them.`;
}

function again(code: ProblemCode): string {
  const status: number = PROBLEMS[code].status;
  if (code === 'idempotency_in_progress' || code === 'webhook_secret_busy') return 'yes';
  if (status === 429 || status === 500 || status > 501) return 'yes';
  return [400, 401, 403, 413, 415, 422].includes(status) ? 'after a change' : 'no';
}

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

function namesOf({ type = 'string', format, $ref, allOf }: z.output<typeof field>): string[] {
  if ([$ref, allOf?.[0]?.$ref].some((each) => each?.endsWith('/Money'))) return ['amount'];
  return [type]
    .flat()
    .map((each) => (each === 'null' ? '`null`' : each === 'string' && format === 'date-time' ? 'time' : each));
}
