/** Rows of `docs/assumptions.md` about the forms of values, the bounds of requests, lists and statuses. */
import * as z from 'zod';
import { FAILURE_CLASSES } from '#domain/work/failure.ts';
import { PAGE_SIZE } from '#upstream/client/calls.ts';
import { judgeResult, type ServiceFailure } from '#upstream/client/error-mapping.ts';
import {
  loginRequest,
  orderRequest,
  SERVICE_ERROR_CODES,
  serviceEsim,
  topupRequest,
  updateQuery,
  vpnOrderRequest,
  type Mark,
} from '#upstream/contract.ts';
import { wireCurrency, wireId, wireTime } from '#upstream/contract/fields.ts';
import { VARIANTS } from '#upstream/contract/variants.ts';

/** What it is about, how sure it is, what is assumed, and why. */
export type AssumedForm = readonly [what: string, mark: Mark, assumed: string, reason: string];

/** How values are written in answers and events. */
export function assumedForms(): readonly AssumedForm[] {
  const names = Object.entries(VARIANTS.fields).map(([theirs, ours]) => `\`${theirs}\` for \`${ours}\``);
  const words = Object.values(VARIANTS.words).flatMap((known) =>
    Object.entries(known).map(([theirs, ours]) => `\`${theirs}\` for \`${ours}\``),
  );
  return [
    [
      'Times',
      'shape assumed',
      described(wireTime),
      'No answer is shown. Only webhook timestamps are stated: Unix seconds.',
    ],
    [
      'Currencies',
      'shape assumed',
      described(wireCurrency),
      'No currency is shown, and no field for one. Money without a currency is not read.',
    ],
    [
      'Amounts',
      'shape assumed',
      `Decimals, as a number, a text or an object with its currency. \`amounts\` is \`${VARIANTS.amounts}\`: ` +
        'a price list of whole numbers alone is refused, since they may be cents. A number with more than 15 digits ' +
        'is not read: JSON rounds it.',
      'price_for_reseller is stated as a decimal amount; nothing says how it is written.',
    ],
    [
      'Ids',
      'shape assumed',
      `${described(wireId)} ${constraintsOf(wireId)}. Those of packages and plans are integers, or texts that ` +
        'hold one.',
      'package_id and vpn_plan_id are stated as integers, esim_id as a text; of the others nothing is.',
    ],
    [
      'ICCID',
      'shape assumed',
      `${constraintsOf(serviceEsim.shape.iccid)}.`,
      'The record of an eSIM is not shown. ITU-T E.118 has up to 19 digits, suppliers print 18 to 22.',
    ],
    [
      'Activation code',
      'shape assumed',
      'An LPA string (GSMA SGP.22): `LPA:1$<SM-DP+ address>$<matching id>`, with or without `LPA:`.',
      'Not shown. A phone cannot use another form. The order is parked.',
    ],
    [
      'Names and words',
      'shape assumed',
      `Read as the same: ${[...names, ...words].join(', ')}. States are read in either case.`,
      'States are named by event names alone.',
    ],
    [
      'The word `cancelled`',
      'shape assumed',
      'The status by which the record of an eSIM says that it is cancelled. All other words are only shown.',
      'The event esim.cancelled has this name. If the service uses another word, a read does not show a cancellation ' +
        'whose answer was lost.',
    ],
    [
      'A field with two names',
      'shape assumed',
      'Not read where an object has two names for one field of ours, and our own name is not among them.',
      'Nothing says which of them is meant.',
    ],
    [
      'The status of a wallet transaction',
      'shape assumed',
      'A credit counts when it has no status, or a word such as `completed` or `posted`. A debit always counts.',
      'No transaction is shown. A credit that is pending may never come; a debit that is pending may be booked.',
    ],
    [
      'A success that says that it failed',
      'shape assumed',
      'Not read: `success` or `ok` is false in a body, or an envelope has `error` or `errors`. This is contract drift.',
      'Errors are not shown. Some services answer them with status 200.',
    ],
    [
      'A field `environment` in a body',
      'shape assumed',
      'Not read. Whether a token, a call or an event is of the sandbox follows from our own configuration.',
      'Both environments are stated to be separate, with a login of their own; no field is stated that says ' +
        'which it is.',
    ],
  ];
}

/** How lists are read. */
export function assumedLists(): readonly AssumedForm[] {
  return [
    [
      'Size of a page',
      'call assumed',
      `\`limit=${PAGE_SIZE}\` is sent with every page. A service that gives fewer is read all the same.`,
      'No list is shown but its path. A service that refuses it is found by the contract check.',
    ],
    [
      'End of a list',
      'call assumed',
      'Said by a cursor that is null or empty, the last page, offset and total, a link to the next page in the ' +
        'body or in ' +
        'the header `Link`, or a flag. A list without any of them, such as one without `next_cursor`, may go on. ' +
        'So may one where two of them disagree.',
      'No list is shown. What such a list does not show is no evidence: nothing is bought anew because of it.',
    ],
    [
      'Order of a list',
      'call assumed',
      'Newest first, where a list is searched for what was sent last.',
      'Not stated. Where it is otherwise, the search reads on until its limit, and then counts as incomplete.',
    ],
  ];
}

/** Bounds of what is sent. The specification names the fields and states none of them. */
export function assumedBounds(): readonly AssumedForm[] {
  const bound = (field: string, schema: z.ZodType, reason: string): AssumedForm => [
    `\`${field}\``,
    'shape assumed',
    `${schema.safeParse(undefined).success ? 'optional; ' : ''}${constraintsOf(schema)}`,
    reason,
  ];
  const reference = 'The API takes 1 to 64 visible characters from a caller; further attempts add `~2`, `~3`, …';
  return [
    bound(
      'device_imei',
      orderRequest.shape.device_imei,
      'Stated as "digits". An IMEI has 15, without its check digit 14, as IMEISV 16.',
    ),
    bound('external_order_id', orderRequest.shape.external_order_id, reference),
    bound('external_subscription_id', vpnOrderRequest.shape.external_subscription_id, reference),
    bound('customer_reference', vpnOrderRequest.shape.customer_reference, 'What a column of text usually takes.'),
    bound('customer_price', vpnOrderRequest.shape.customer_price, 'Stated as a decimal number.'),
    bound('esim_id', topupRequest.shape.esim_id, 'The id that the service has given.'),
    bound('device_name', loginRequest.shape.device_name, 'What a column of text usually takes.'),
    bound(
      'expires_in_days',
      loginRequest.shape.expires_in_days,
      'Stated without bounds; ten years is a limit of ours.',
    ),
    bound('current_version', updateQuery.shape.current_version, 'Stated as dotted numbers.'),
    bound('channel', updateQuery.shape.channel, 'Only `stable` is named; the list stays open.'),
  ];
}

const STATUSES = {
  402: 'Nothing was bought: the balance does not cover it.',
  403: 'The reseller is not approved, unless the body names the balance.',
  409: 'Something is known already, the key or the reference: it is looked up, and never bought anew on this answer.',
  425: 'The service did not process it (RFC 8470), so that it is sent again.',
  429: 'The service did not process it, so that it is sent again after `Retry-After`.',
} as const;

/** What refusals mean where the body says no more. */
export function assumedStatuses(): readonly AssumedForm[] {
  return Object.entries(STATUSES).map(([status, reason]) => {
    const { failure } = refusal(Number(status), '');
    return [`\`${status}\``, 'shape assumed', `\`${failure}\`: ${FAILURE_CLASSES[failure].meaning}`, reason];
  });
}

/** Codes that say that the service knows something already: they decide before the status. */
export function codesOfKnown(): readonly string[] {
  return SERVICE_ERROR_CODES.filter((code) => {
    return refusal(422, JSON.stringify({ error: { code } })).failure === 'key_or_reference_used';
  });
}

function refusal(status: number, body: string): ServiceFailure {
  const answer = { status, headers: {}, body: Buffer.from(body) };
  const judged = judgeResult<never>({ kind: 'answer', answer }, { read: () => ({ ok: false, problem: '' }) }, 0);
  if (judged.ok) throw new Error(`status ${status} counts as a success`);
  return judged;
}

function described(schema: z.ZodType): string {
  return schema.meta()?.description ?? '';
}

const bounds = z.object({
  type: z.string().optional(),
  pattern: z.string().optional(),
  minLength: z.number().optional(),
  maxLength: z.number().optional(),
  minimum: z.number().optional(),
  maximum: z.number().optional(),
  anyOf: z.array(z.unknown()).optional(),
});

/** What a schema asks of a text or a number. */
function constraintsOf(schema: z.ZodType): string {
  return clauseOf(z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }));
}

function clauseOf(schema: unknown): string {
  const { type, pattern, minLength, maxLength, minimum, maximum, anyOf = [] } = bounds.parse(schema);
  const [first] = anyOf;
  if (first !== undefined) return clauseOf(first);
  if (pattern !== undefined) return `\`${pattern}\``;
  const unit = type === 'string' ? ' characters' : '';
  const [low, high] = [minLength ?? minimum, maxLength ?? maximum];
  if (high === undefined) return low === undefined ? `any ${type ?? 'value'}` : `${low} or more${unit}`;
  return `${low ?? 0} to ${high}${unit}`;
}
