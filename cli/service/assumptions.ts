import * as z from 'zod';
import {
  type AssumedForm,
  assumedBounds,
  assumedForms,
  assumedLists,
  assumedStatuses,
  codesOfKnown,
} from '#cli/service/assumed-forms.ts';
import { CAPABILITIES, capabilities } from '#domain/service/capability-profile.ts';
import { BASE_PATH, SANDBOX_SUFFIX } from '#domain/service/service-address.ts';
import { type Need, needOf } from '#upstream/contract-check/findings.ts';
import {
  CALL_MARKS,
  DEFAULT_HEADER_PREFIX,
  ENDPOINTS,
  EVENT_KINDS,
  EVENT_MEANINGS,
  EVENT_SUBJECTS,
  type EndpointContract,
  IDEMPOTENCY_KEY_HEADER,
  type Mark,
  SERVICE_ERROR_CODES,
  WEBHOOK_TOLERANCE_SECONDS,
  eventSubject,
  serviceHeaders,
} from '#upstream/contract.ts';
import { VARIANTS, type Variants } from '#upstream/contract/variants.ts';

export function assumptionsDocument(variants: Variants = VARIANTS): string {
  const endpoints: readonly EndpointContract[] = Object.values(ENDPOINTS);
  const headerNames = Object.values(serviceHeaders(DEFAULT_HEADER_PREFIX));
  return [
    '# Assumptions about the service',
    '',
    'The specification of the service leaves much "not shown". Each part of our contract therefore carries a mark:',
    '',
    '- **stated**: the specification says it;',
    '- **shape assumed**: the call or event is stated, the form of its body is assumed;',
    '- **call assumed**: at most the existence of the call is stated.',
    '',
    'Answers are read tolerantly: unknown fields are ignored. A missing field that we need is *contract drift*: the',
    'work needs attention, and nothing is guessed. `reseller contract check FILE` compares all of this with an OpenAPI',
    'document of the service.',
    '',
    '## Calls',
    '',
    `Paths are relative to \`{base_url}\`, which ends with \`${BASE_PATH}\`, or to the address of the sandbox:`,
    `\`{base_url}\` followed by \`${SANDBOX_SUFFIX}\`.`,
    '',
    ...table(
      [
        'Call',
        'Request',
        'Answer',
        'Token',
        IDEMPOTENCY_KEY_HEADER,
        'Capability',
        'Purpose',
        'What is not stated, and why',
      ],
      endpoints.map((call) => [
        `\`${call.method} ${call.path}\``,
        CALL_MARKS[call.mark].request,
        CALL_MARKS[call.mark].response,
        call.withoutToken ? 'no' : 'yes',
        call.idempotencyKey ? 'yes' : 'no',
        call.capability === undefined ? '' : `\`${call.capability}\``,
        call.purpose,
        call.reason,
      ]),
    ),
    '',
    '## Fields',
    '',
    'Needed fields are always sent, or must be in the answer. Other fields are sent or read if they are present. A',
    'field *needed for* something may be absent or null for a time, and a filter may be ignored; without it, the',
    'product cannot do what the column names. *One of* means that one of the fields is enough.',
    '',
    ...table(
      ['Call', 'Sent: needed', 'Sent: other', 'Read: needed', 'Needed for', 'Read: other'],
      endpoints.map(({ method, path, query = [], requiredQuery = [], neededQuery = {}, body, answer }) => {
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
    ...forms('shape assumed', assumedForms(variants)),
    '',
    '## Lists',
    '',
    ...forms('call assumed', assumedLists()),
    '',
    '## Bounds of request fields',
    '',
    'The fields are stated, but not their bounds.',
    '',
    ...forms('shape assumed', assumedBounds()),
    '',
    '## Events',
    '',
    'Header names are stated, except for their prefix, which `SERVICE_HEADER_PREFIX` sets:',
    `${codes(headerNames)}.`,
    `The signature and the tolerance of ${WEBHOOK_TOLERANCE_SECONDS} seconds are stated, too. The assumed body is`,
    '`{"event": …, "created_at": …, "data": {…}}`.',
    '',
    ...table(
      ['Event', 'Meaning', 'Kind', 'Body', 'Read from `data`: needed', 'Needed for', 'Other', 'Why'],
      EVENT_KINDS.map((kind) => {
        const subject = eventSubject(kind);
        const { needed, marked, other } = fieldsOf(subject && EVENT_SUBJECTS[subject].data);
        const read =
          subject === undefined
            ? 'only the kind of the event is read.'
            : `data is taken to be ${EVENT_SUBJECTS[subject].takenAs}. Its id or our reference is enough.`;
        return [
          `\`${kind}\``,
          EVENT_MEANINGS[kind],
          'stated',
          'shape assumed',
          codes(needed),
          purposes(marked).join('; '),
          codes(other),
          `The body layout is not shown; ${read}`,
        ];
      }),
    ),
    '',
    'The rules for a receiver are stated, but leave some cases open. `docs/how-to/webhooks-in.md` lists our answers.',
    '',
    '## Capabilities',
    '',
    'Each can be switched off with `SERVICE_MISSING_CAPABILITIES`. With all of them off, the product stays money-safe:',
    'work whose result cannot be found out needs attention.',
    '',
    ...table(
      ['Capability', 'Meaning and fallback', 'Calls that need it'],
      capabilities.map((capability) => [
        `\`${capability}\``,
        CAPABILITIES[capability],
        codes(
          endpoints.filter((call) => call.capability === capability).map(({ method, path }) => `${method} ${path}`),
        ),
      ]),
    ),
    '',
    '## Errors',
    '',
    'Nothing about errors is stated. The assumed body is `{"error": {"code": …, "message": …, "fields": {…}}}`.',
    'These codes are known:',
    '',
    `${codes(SERVICE_ERROR_CODES)}.`,
    '',
    'Some codes mean that the service knows the key, the reference or the result already. With each status from 400 to',
    `499, they take precedence over the status: ${codes(codesOfKnown())}.`,
    'In all other answers the HTTP status decides first. A known code refines 400, 403, 404, 405, 413, 415 and 422.',
    '',
    'These statuses have their own meanings: 409 with every code, the others if the body names no code:',
    '',
    ...forms('shape assumed', assumedStatuses()),
    '',
  ].join('\n');
}

interface Marked {
  /** Such as `data[].order_id`. */
  readonly name: string;
  /** The path of the object around it. */
  readonly place: string;
  readonly need: Need;
}

interface Fields {
  readonly needed: readonly string[];
  readonly marked: readonly Marked[];
  readonly other: readonly string[];
}

const schemaNode = z.object({
  properties: z.record(z.string(), z.unknown()).optional(),
  required: z.array(z.string()).optional(),
  items: z.unknown().optional(),
  anyOf: z.array(z.unknown()).optional(),
});

/** A field below an optional one is never "needed" itself. */
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

function forms(mark: Mark, rows: readonly AssumedForm[]): string[] {
  const marked = rows.map(([what, assumed, reason]) => [what, mark, assumed, reason]);
  return table(['Subject', 'Mark', 'Assumption', 'Reason'], marked);
}

function codes(names: readonly string[]): string {
  return names.map((name) => `\`${name}\``).join(', ');
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string[] {
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell) => cell.replaceAll('|', String.raw`\|`)).join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...rows.map(line)];
}
