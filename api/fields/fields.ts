import * as z from 'zod';
import { apiScopes } from '#db/access/api-keys.ts';
import { isUnsignedDecimal } from '#domain/money/money.ts';
import { MAX_ACTION_REASON } from '#domain/operator/operator-actions.ts';
import { MAX_WEBHOOK_SECRET_OVERLAP_MS } from '#domain/policy/webhook-policy.ts';
import { ATTENTION_REASONS } from '#domain/work/attention.ts';
import { FAILURE_CLASSES, FAILURE_ENDS } from '#domain/work/failure.ts';
import { ID_PREFIXES, type IdKind, idPattern, isId } from '#domain/work/identifiers.ts';
import { KINDS, WORK_KINDS } from '#domain/work/kinds.ts';

/** Maximum of PostgreSQL's `integer`; the service's package ids are far below. */
export const MAX_INTEGER = 2_147_483_647;

export function wholeNumber(least: number, most: number) {
  const range = `must be from ${least} to ${most}`;
  return z.int().min(least, range).max(most, range);
}

export function queryInteger(min: number, max: number) {
  const message = `must be a whole number from ${min} to ${max}`;
  return z
    .string()
    .regex(/^[0-9]{1,10}$/, message)
    .transform(Number)
    .refine((value) => value >= min && value <= max, { message })
    .meta({ override: { type: 'integer', minimum: min, maximum: max } });
}

/** How long former webhook secrets stay in use beside a new one. */
export function overlapSeconds(description: string, example: number) {
  return z
    .int({ error: 'must be a whole number of seconds' })
    .min(0)
    .max(MAX_WEBHOOK_SECRET_OVERLAP_MS / 1_000)
    .optional()
    .meta({ description, example });
}

export const packageId = wholeNumber(1, MAX_INTEGER).meta({
  description: 'Id of a package at the service.',
  example: 1001,
});

export const IDS: Readonly<Record<IdKind, { readonly noun: string; readonly example: string }>> = {
  order: { noun: KINDS.order.noun, example: 'ord_01JQ8Z5YV7N4M2K3H6T9R0WXCD' },
  topup: { noun: KINDS.topup.noun, example: 'top_01JQ8Z7C3D4E5F6G7H8J9K0MNP' },
  vpn_subscription: { noun: KINDS.vpn_subscription.noun, example: 'vpn_01JQ8ZAF6G7H8J9K0MNPQRSTVW' },
  cancellation: { noun: KINDS.cancellation.noun, example: 'can_01JQ8ZA7G8H9J0KMNPQRSTVWXY' },
  orderBatch: { noun: 'batch of orders', example: 'bat_01JQ8ZD4K5M6N7P8Q9R0STVWXY' },
  refund: { noun: 'refund', example: 'ref_01JQ8ZB8H9J0KMNPQRSTVWXYZ1' },
  attempt: { noun: 'attempt', example: 'att_01JQ8Z60A1B2C3D4E5F6G7H8J9' },
  esim: { noun: 'eSIM', example: 'esim_01JQ8Z6A2B3C4D5E6F7G8H9JKM' },
  shareLink: { noun: 'share link', example: 'link_01JQ8Z7B3C4D5E6F7G8H9JKMNP' },
  case: { noun: 'case', example: 'case_01JQ8Z9E5F6G7H8J9K0MNPQRST' },
  action: { noun: 'action of an operator', example: 'act_01JQ8Z9E5F6G7H8J9K0MNPQRST' },
  pause: { noun: 'pause', example: 'pause_01JQ8Z9E5F6G7H8J9K0MNPQRST' },
  apiKey: { noun: 'API key', example: 'key_01JQ8Z00000000000000000000' },
  journalEntry: { noun: 'entry of the journal', example: 'jrn_01JQ8Z9E5F6G7H8J9K0MNPQRST' },
  reconciliation: { noun: 'reconciliation', example: 'rec_01JQ8Z9E5F6G7H8J9K0MNPQRST' },
  event: { noun: 'event', example: 'evt_01JQ8ZC9J0KMNPQRSTVWXYZ123' },
  pricingRule: { noun: 'pricing rule', example: 'rule_01JQ8ZB1C2D3E4F5G6H7J8K9MN' },
  webhookEndpoint: { noun: 'webhook endpoint', example: 'we_01JQ8ZB3M5N7P9QRSTVWXYZ012' },
  webhookDelivery: { noun: 'webhook delivery', example: 'wd_01JQ8ZC4N6P8QRSTVWXYZ01234' },
};

/** Such as `an eSIM`. */
export function nounWithArticle(kind: IdKind): string {
  const { noun } = IDS[kind];
  return `${/^[aeiou]/i.test(noun) ? 'an' : 'a'} ${noun}`;
}

export function ourId(kind: IdKind) {
  return z.string().meta({
    description: `Id of ${nounWithArticle(kind)}.`,
    example: IDS[kind].example,
    'x-kind': kind,
    override: { pattern: idPattern(kind) },
  });
}

/** An id of another form is answered with 404, before the handler. */
export function idInPath(kind: IdKind) {
  return z.strictObject({ id: ourId(kind) });
}

/** Of another form it is refused. */
export function idInput(kind: IdKind) {
  return ourId(kind).refine((text) => isId(kind, text), {
    message: `must be the id of ${nounWithArticle(kind)}; it begins with \`${ID_PREFIXES[kind]}_\``,
  });
}

/** Read from the owner of the row, without another query. */
export const createdBy = ourId('apiKey').meta({
  description:
    'Id of the API key that created it; after rotations the id of the first key of the lineage. The ' +
    'audit log shows later actions.',
});

export const createdByInQuery = idInput('apiKey').meta({
  description: 'Only resources created with this API key; after rotations the id of the first key of the lineage.',
});

export const workKindField = z.enum(WORK_KINDS).meta({
  description: `Kind of work: ${WORK_KINDS.map((kind) => `\`${kind}\` (${KINDS[kind].noun})`).join(', ')}.`,
});

export const packageIdInQuery = queryInteger(1, MAX_INTEGER);

export const instant = z.iso
  .datetime({ offset: true, error: 'must be an RFC 3339 time with offset, such as 2030-01-31T12:00:00Z' })
  .meta({ description: 'RFC 3339 time.', example: '2030-01-31T12:00:00.000Z' });

export const instantInput = instant
  .meta({ example: undefined })
  .transform((text) => new Date(text))
  // PostgreSQL and JavaScript both support these years; an offset may lead out of them.
  .refine((time) => time.getUTCFullYear() >= 1970 && time.getUTCFullYear() <= 9998, 'must be a time from 1970 to 9998');

export function timeInQuery(description: string) {
  return instantInput.optional().meta({ description, override: { type: 'string', format: 'date-time' } });
}

export function instantJson(instant: Date | null): string | null {
  return instant === null ? null : instant.toISOString();
}

export const currency = z
  .string()
  .regex(/^[A-Z]{3}$/, 'must be an ISO 4217 code in upper case, such as EUR')
  .meta({ description: 'ISO 4217 code.', example: 'USD' });

export const money = z
  .strictObject({ amount: z.string().meta({ description: 'Exact decimal amount.', example: '12.50' }), currency })
  .meta({ id: 'Money', description: 'An exact amount with its currency; never a float.' });

/** For examples. */
export function usd(amount: string) {
  return { amount, currency: 'USD' };
}

export function priceForReseller(example: string) {
  return money.meta({ description: 'Price that the service charges the reseller.', example: usd(example) });
}

const DECIMAL_PATTERN = '^(0|[1-9][0-9]{0,14})(\\.[0-9]{1,6})?$';

/** A string, because JSON numbers lose digits in many parsers. */
export const unsignedDecimal = z
  .string()
  .refine(isUnsignedDecimal, {
    message: 'must be a decimal in a string, not negative, with at most 15 digits before and 6 after the point',
  })
  .meta({ description: 'Exact decimal amount.', example: '12.50', override: { pattern: DECIMAL_PATTERN } });

export const moneyInput = z.strictObject({ amount: unsignedDecimal, currency }).meta({ id: 'MoneyInput' });

/** UTF-8 excludes lone surrogates already. */
export const TEXT_PATTERN = '^[^\\x00]*$';

export const FILLED_TEXT_PATTERN = '^[^\\x00]*[^\\s\\x00][^\\x00]*$';

/** PostgreSQL can store neither NUL nor a lone surrogate. */
export const storable = z.refine<string>((text) => !text.includes('\0') && text.isWellFormed(), {
  message: 'must be well-formed text without NUL',
});

/** The space around it is removed. Its length counts as sent: the description of the API states it so. */
export function filledText(maxLength: number) {
  return z.string().max(maxLength).trim().min(1, 'must not be empty').check(storable);
}

export const country = z
  .string()
  .regex(/^[A-Z]{2}$/, 'must be an ISO 3166-1 alpha-2 code in upper case, such as DE')
  .meta({ description: 'ISO 3166-1 alpha-2 code.', example: 'DE' });

/** The keys of a table. */
export function enumOf<Key extends string>(table: Record<Key, unknown>) {
  return z.enum(Object.keys(table) as Key[]);
}

export function meaningsOf(values: Readonly<Record<string, string | { readonly meaning: string }>>): string {
  return Object.entries(values)
    .map(([name, said]) => `\`${name}\`: ${typeof said === 'string' ? said : said.meaning}`)
    .join(' ');
}

export const freshness = {
  read_at: instant.meta({ description: 'When this was read from the service.' }),
  age_seconds: z.number().meta({ description: 'Age of that read in seconds.', example: 1.5 }),
};

/** @param readAt, now epoch milliseconds. */
export function ageOf(readAt: number, now: number) {
  return { read_at: new Date(readAt).toISOString(), age_seconds: Math.max(0, now - readAt) / 1_000 };
}

export const actionReason = filledText(MAX_ACTION_REASON).meta({
  description: 'The reason; shown in the timeline. Do not include personal data.',
  example: 'The customer no longer wants it.',
  override: { pattern: FILLED_TEXT_PATTERN },
});

/** Without a schema id: parameters contain their schema. */
export const failureClassInQuery = enumOf(FAILURE_CLASSES);

/** A request takes the known classes; an answer may have others, in later versions. */
export const failureClass = failureClassInQuery.meta({
  id: 'KnownFailureClass',
  outputId: 'FailureClass',
  description: meaningsOf(FAILURE_CLASSES),
});

export const failureEnd = enumOf(FAILURE_ENDS)
  .nullable()
  .meta({
    description:
      `What ended it: ${meaningsOf(FAILURE_ENDS)} Null while it may be tried again, and when the failure is final ` +
      'by itself.',
    example: null,
  });

export const serviceMessage = z
  .string()
  .nullable()
  .meta({
    description:
      'The reason in the words of the service, on one line of at most 300 characters; null: it gave none. Foreign ' +
      'text: show it as text, and do not compare it.',
    example: null,
  });

/** Without a schema id: parameters contain their schema. */
export const attentionReasonInQuery = enumOf(ATTENTION_REASONS);

export const attentionReason = attentionReasonInQuery.meta({
  id: 'KnownAttentionReason',
  outputId: 'AttentionReason',
  description: meaningsOf(ATTENTION_REASONS),
});

export const apiScope = z.enum(apiScopes).meta({ id: 'ApiScope', description: 'A scope of an API key.' });
