import * as z from 'zod';
import { FAILURE_CLASSES } from '#domain/work/failure.ts';
import { type ServiceFailure, judgeResult } from '#upstream/client/error-mapping.ts';
import { PAGE_SIZE } from '#upstream/client/lists.ts';
import {
  SERVICE_ERROR_CODES,
  loginRequest,
  orderRequest,
  serviceEsim,
  topupRequest,
  updateQuery,
  vpnOrderRequest,
} from '#upstream/contract.ts';
import { wireCurrency, wireId, wireTime } from '#upstream/contract/fields.ts';
import { VARIANTS, type Variants } from '#upstream/contract/variants.ts';

export type AssumedForm = readonly [what: string, assumed: string, reason: string];

export function assumedForms(variants: Variants = VARIANTS): readonly AssumedForm[] {
  const terms = Object.entries({ '': variants, ...variants.records }).flatMap(
    ([record, { fields = {}, values = {} }]) =>
      [fields, ...Object.values(values)]
        .flatMap((known) => Object.entries(known))
        .map(([theirs, ours]) => `\`${theirs}\` for \`${ours}\`${record === '' ? '' : ` (${record})`}`),
  );
  const units = Object.entries(variants.records).flatMap(([record, { amounts }]) =>
    amounts === undefined ? [] : `; for ${record} it is \`${amounts}\``,
  );
  return [
    ['Times', described(wireTime), 'No answer is shown. Only webhook timestamps are stated: Unix seconds.'],
    [
      'Currencies',
      described(wireCurrency),
      'No currency is shown, nor a field for one. Amounts without a currency are not read.',
    ],
    [
      'Amounts',
      'Decimals, as a number, a text or an object with its currency. ' +
        `\`amounts\` is \`${variants.amounts}\`${units.join('')}: ` +
        'a price list with whole numbers only is refused, because they may be cents. A number with more than 15 ' +
        'digits is not read, because JSON rounds it.',
      'price_for_reseller is stated as a decimal amount; its notation is not shown.',
    ],
    [
      'Ids',
      `${described(wireId)} ${constraintsOf(wireId)}. Those of packages and plans are integers, or texts that ` +
        'hold one.',
      'package_id and vpn_plan_id are stated as integers, esim_id as a text; nothing is stated about the others.',
    ],
    [
      'ICCID',
      `${constraintsOf(serviceEsim.shape.iccid)}.`,
      'The record of an eSIM is not shown. ITU-T E.118 has up to 19 digits; suppliers print 18 to 22, some with ' +
        'spaces, with hexadecimal digits or with the filler `F` at the end.',
    ],
    [
      'Activation code',
      'An LPA string (GSMA SGP.22): `LPA:1$<SM-DP+ address>$<matching id>`, with or without `LPA:`. The address may ' +
        'have a port and a final dot, and further fields may follow.',
      'Not shown. A phone cannot use another form, so the order then needs attention.',
    ],
    [
      'Names and values',
      `Read as the same: ${terms.join(', ')}. States are read in either case.`,
      'States are named only in event names.',
    ],
    [
      'The status `cancelled`',
      'The status of a cancelled eSIM in its record. All other statuses of eSIMs are only shown.',
      'The event esim.cancelled has this name. If the service uses another value, a read cannot show a cancellation ' +
        'whose answer was lost.',
    ],
    [
      'A field with two names',
      'Not read if an object has two other names for one of our fields, and not our own name.',
      'The choice between them would be a guess.',
    ],
    [
      'The status of a wallet transaction',
      'A credit counts when it has no status, or a word such as `completed` or `posted`. A debit always counts.',
      'No transaction is shown. A pending credit may never be booked; a pending debit may be.',
    ],
    [
      'A success status with an error in the body',
      'Not read if `success` or `ok` is false in a body, or if an envelope has `error` or `errors`: contract drift.',
      'Errors are not shown. Some services answer them with status 200.',
    ],
    [
      'A field `environment` in a body',
      'Not read. Our own configuration decides whether a token, a call or an event belongs to the sandbox.',
      'Both environments are stated to be separate, with their own logins; no field that names the environment is ' +
        'stated.',
    ],
  ];
}

export function assumedLists(): readonly AssumedForm[] {
  return [
    [
      'Size of a page',
      `\`limit=${PAGE_SIZE}\` is sent with every page. Smaller pages are read as well.`,
      'Only the paths of lists are shown. The contract check finds a service that refuses this limit.',
    ],
    [
      'End of a list',
      'Shown by a cursor that is null or empty, the last page, offset and total, a link to the next page in the ' +
        'body or in the header `Link`, or a flag. If none of them is present, or two of them disagree, the list may ' +
        'have more pages.',
      'No list is shown. An item missing from such a list proves nothing: no new purchase is made because of it.',
    ],
    [
      'Order of a list',
      'Newest first, in lists that are searched for recent purchases.',
      'Not stated. In another order, the search reads to its limit and then counts as incomplete.',
    ],
  ];
}

/** The specification names the fields and states no bounds. */
export function assumedBounds(): readonly AssumedForm[] {
  const bound = (field: string, schema: z.ZodType, reason: string): AssumedForm => [
    `\`${field}\``,
    `${schema.safeParse(undefined).success ? 'optional; ' : ''}${constraintsOf(schema)}`,
    reason,
  ];
  const reference = 'Our API accepts 1 to 64 visible characters from a caller; further attempts add `~2`, `~3`, …';
  return [
    bound(
      'device_imei',
      orderRequest.shape.device_imei,
      'Stated as "digits". An IMEI has 15, without its check digit 14; an IMEISV has 16.',
    ),
    bound('external_order_id', orderRequest.shape.external_order_id, reference),
    bound('external_subscription_id', vpnOrderRequest.shape.external_subscription_id, reference),
    bound('customer_reference', vpnOrderRequest.shape.customer_reference, 'A usual limit of text columns.'),
    bound('customer_price', vpnOrderRequest.shape.customer_price, 'Stated as a decimal number.'),
    bound('esim_id', topupRequest.shape.esim_id, 'The id from the service.'),
    bound('device_name', loginRequest.shape.device_name, 'A usual limit of text columns.'),
    bound('expires_in_days', loginRequest.shape.expires_in_days, 'Stated without bounds; ten years is our own limit.'),
    bound('current_version', updateQuery.shape.current_version, 'Stated as dotted numbers.'),
    bound('channel', updateQuery.shape.channel, 'Only `stable` is named; the list stays open.'),
  ];
}

const STATUSES = {
  402: 'Nothing was bought: the balance does not cover the price.',
  403: 'The service forbids the purchase, most likely for want of its approval, unless the body names the balance.',
  409: 'The key or the reference was used before. The purchase is looked up, and this answer never causes a new one.',
  425: 'The service did not process the request (RFC 8470), so it is sent again.',
  429: 'The service did not process the request, so it is sent again after `Retry-After`.',
} as const;

export function assumedStatuses(): readonly AssumedForm[] {
  return Object.entries(STATUSES).map(([status, reason]) => {
    const { failure } = refusal(Number(status), '');
    return [`\`${status}\``, `\`${failure}\`: ${FAILURE_CLASSES[failure].meaning}`, reason];
  });
}

/** These codes take precedence over the status. */
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
