/** `docs/assumptions.md`, made from the contract: what is stated, what is assumed, and why. */
import * as z from 'zod';
import { CAPABILITIES, capabilities, type Capability } from '#domain/service/capabilities.ts';
import { BASE_PATH, SANDBOX_SUFFIX } from '#domain/service/service-address.ts';
import {
  assumedBounds,
  assumedForms,
  assumedLists,
  assumedStatuses,
  codesOfKnown,
  type AssumedForm,
} from '#scripts/assumptions/assumed-forms.ts';
import { needOf, type Need } from '#upstream/contract-check/needs.ts';
import {
  DEFAULT_HEADER_PREFIX,
  ENDPOINTS,
  EVENT_KINDS,
  EVENTS,
  IDEMPOTENCY_KEY_HEADER,
  SERVICE_ERROR_CODES,
  serviceHeaders,
  WEBHOOK_ANSWERS,
  WEBHOOK_TOLERANCE_SECONDS,
  type EndpointContract,
} from '#upstream/contract.ts';

/** @returns the whole document in Markdown, ended by a line break. */
export function assumptionsDocument(): string {
  const endpoints = Object.entries(ENDPOINTS) as [string, EndpointContract][];
  const headerNames = Object.values(serviceHeaders(DEFAULT_HEADER_PREFIX));
  return [
    '# What is assumed of the service',
    '',
    'Generated from `upstream/contract.ts` by `npm run generate:assumptions`; a test fails when it is stale.',
    '',
    'The specification of the service leaves much "not shown". Each part of our contract therefore carries a mark:',
    '',
    '- **stated**: the specification says it;',
    '- **shape assumed**: the call or event is stated, what its body looks like is ours;',
    '- **call assumed**: nothing is stated but that such a thing exists, if that.',
    '',
    'Answers are read tolerantly: fields that we do not know pass. A field that we need and that is missing is',
    '*contract drift*: the work is parked and reported, never guessed. `reseller contract check FILE` compares ' +
      'all of this',
    'with a real OpenAPI document of the service.',
    '',
    '## Calls',
    '',
    `Paths are relative to \`{base_url}\`, which ends with \`${BASE_PATH}\`, or to the sandbox's address, which is the`,
    `same followed by \`${SANDBOX_SUFFIX}\`.`,
    '',
    ...table(
      [
        'Call',
        'Request',
        'Answer',
        'Token',
        IDEMPOTENCY_KEY_HEADER,
        'Capability',
        'What it does',
        'What is open, and why',
      ],
      endpoints.map(([, call]) => [
        `\`${call.method} ${call.path}\``,
        call.request,
        call.response,
        call.authorized ? 'yes' : 'no',
        call.idempotencyKey ? 'yes' : 'no',
        call.capability === undefined ? '' : `\`${call.capability}\``,
        call.purpose,
        call.reason,
      ]),
    ),
    '',
    '## Fields',
    '',
    'Needed fields are always sent, or must be there in the answer. The others are sent or read where they are there.',
    'A field that is *needed for* something may be absent or null for a time, and a filter may be ignored. Without the',
    'field, the product cannot do what the column names. Where the column says *one of*, one of the fields is enough.',
    '',
    ...table(
      ['Call', 'Sent: needed', 'Sent: other', 'Read: needed', 'Needed for', 'Read: other'],
      endpoints.map(([, { method, path, query = [], requiredQuery = [], neededQuery = {}, body, answer }]) => {
        const sent = fieldsOf(body);
        const read = fieldsOf(answer);
        const filters = Object.entries(neededQuery).map(([name, purpose]) => `filter \`${name}\`: ${purpose}`);
        return [
          `\`${method} ${path}\``,
          codes([...requiredQuery, ...sent.needed]),
          codes([...query.filter((name) => !requiredQuery.includes(name)), ...sent.other]),
          codes(read.needed),
          [...filters, ...purposes(read.marked)].join('; '),
          codes(read.other),
        ];
      }),
    ),
    '',
    '## Forms of values',
    '',
    ...forms(assumedForms()),
    '',
    '## Lists',
    '',
    ...forms(assumedLists()),
    '',
    '## Bounds of what is sent',
    '',
    'The fields are stated, and none of their bounds.',
    '',
    ...forms(assumedBounds()),
    '',
    '## Events',
    '',
    'Header names are stated, except for the brand in them, which `SERVICE_HEADER_PREFIX` sets:',
    `${codes(headerNames)}.`,
    `So is the signature, and the tolerance of ${WEBHOOK_TOLERANCE_SECONDS} seconds. The body is not: it is ` +
      'taken to be',
    '`{"event": …, "created_at": …, "data": {…}}`.',
    '',
    ...table(
      ['Event', 'Meaning', 'Kind', 'Body', 'Read from `data`: needed', 'Needed for', 'Other', 'Why'],
      EVENT_KINDS.map((kind) => {
        const { meaning, kind: mark, body, reason, data } = EVENTS[kind];
        const { needed, marked, other } = fieldsOf(data);
        return [`\`${kind}\``, meaning, mark, body, codes(needed), purposes(marked).join('; '), codes(other), reason];
      }),
    ),
    '',
    '## Webhooks: what we answer',
    '',
    'The rules for a receiver are stated; these are the cases that they leave open. What is not in the table is ' +
      'answered',
    'as stated: 401 for a wrong signature or a stale timestamp, 2xx once the event is stored.',
    '',
    ...table(
      ['Delivery, correctly signed', 'Our answer', 'Why'],
      WEBHOOK_ANSWERS.map(({ delivery, answer, reason }) => [delivery, answer, reason]),
    ),
    '',
    '## Capabilities',
    '',
    'Each can be switched off with `SERVICE_WITHOUT`. With all of them off the product stays money-safe: what ' +
      'cannot be',
    'found out is parked for a person.',
    '',
    ...table(
      ['Capability', 'What it is, and what takes its place', 'Calls that need it'],
      capabilities.map((capability) => [
        `\`${capability}\``,
        CAPABILITIES[capability],
        codes(callsThatNeed(capability)),
      ]),
    ),
    '',
    '## Errors',
    '',
    'Nothing is stated of them. An error body is taken to be `{"error": {"code": …, "message": …, "fields": {…}}}`.',
    'These codes are known:',
    '',
    `${codes(SERVICE_ERROR_CODES)}.`,
    '',
    'Some codes say that the service knows something already. With each status from 400 to 499 they decide before the',
    `status: ${codes(codesOfKnown())}.`,
    'In all other answers the HTTP status decides first. A known code refines 400, 403, 404, 405, 413, 415 and 422.',
    '',
    'These statuses have a meaning of their own. 409 has it with every code, the others where the body names no code:',
    '',
    ...forms(assumedStatuses()),
    '',
  ].join('\n');
}

function callsThatNeed(capability: Capability): string[] {
  const calls = Object.values(ENDPOINTS) as EndpointContract[];
  return calls.filter((call) => call.capability === capability).map(({ method, path }) => `${method} ${path}`);
}

interface Marked {
  /** With the fields that it is in, such as `data[].order_id`. */
  readonly name: string;
  /** The fields that it is in. */
  readonly place: string;
  readonly need: Need;
}

interface Fields {
  readonly needed: readonly string[];
  /** Those with the mark of `neededFor`. */
  readonly marked: readonly Marked[];
  readonly other: readonly string[];
}

const schemaNode = z.object({
  properties: z.record(z.string(), z.unknown()).optional(),
  required: z.array(z.string()).optional(),
  items: z.unknown().optional(),
  anyOf: z.array(z.unknown()).optional(),
});

/** Fields with those below them, as `data[].id`. A field below one that may be missing is never "needed" itself. */
function fieldsOf(schema: z.ZodType | undefined): Fields {
  if (schema === undefined) return { needed: [], marked: [], other: [] };
  return collect(z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }), '', true);
}

function collect(schema: unknown, place: string, certain: boolean): Fields {
  const { properties = {}, required = [], items, anyOf = [] } = schemaNode.parse(schema);
  const parts: Fields[] = Object.entries(properties).map(([name, field]) => {
    const inside = place === '' ? name : `${place}.${name}`;
    const needed = certain && required.includes(name);
    const below = collect(field, inside, needed);
    const need = needOf(name, field);
    if (needed) return { ...below, needed: [inside, ...below.needed] };
    if (need === undefined) return { ...below, other: [inside, ...below.other] };
    return { ...below, marked: [{ name: inside, place, need }, ...below.marked] };
  });
  if (items !== undefined) parts.push(collect(items, `${place}[]`, certain));
  for (const choice of anyOf) parts.push(collect(choice, place, certain));
  return {
    needed: parts.flatMap(({ needed }) => needed),
    marked: parts.flatMap(({ marked }) => marked),
    other: parts.flatMap(({ other }) => other),
  };
}

/** Fields of one purpose together, and those of which one is enough. */
function purposes(marked: readonly Marked[]): string[] {
  const groups = Map.groupBy(marked, ({ place, need: { purpose, alternatives, key } }) =>
    alternatives.length === 0 ? purpose : `${place} ${key}`,
  );
  return [...groups.values()].flatMap((fields) => {
    const [first] = fields;
    if (first === undefined) return [];
    const choice = first.need.alternatives.length === 0 ? '' : 'one of ';
    return `${choice}${codes(fields.map(({ name }) => name))}: ${first.need.purpose}`;
  });
}

function forms(rows: readonly AssumedForm[]): string[] {
  return table(['What', 'Mark', 'What is assumed', 'Why'], rows);
}

function codes(names: readonly string[]): string {
  return names.map((name) => `\`${name}\``).join(', ');
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string[] {
  const line = (cells: readonly string[]): string => {
    return `| ${cells.map((cell) => cell.replaceAll('|', String.raw`\|`)).join(' | ')} |`;
  };
  return [line(head), line(head.map(() => '---')), ...rows.map(line)];
}
