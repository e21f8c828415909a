/** Kinds of fields that our requests and answers share. */
import * as z from 'zod';
import { apiScopes, type ApiScope } from '#db/access/api-keys.ts';
import { isUnsignedDecimal } from '#domain/money/money.ts';
import { idPattern, isId, type IdKind } from '#domain/work/identifiers.ts';

/** PostgreSQL's `integer`; the service's package ids are far below. */
const MAX_INTEGER = 2_147_483_647;
const DEFAULT_LIMIT = 20;
const MAX_LIMIT = 100;

export const instant = z.iso
  .datetime({ offset: true, error: 'must be an RFC 3339 time with offset, such as 2030-01-31T12:00:00Z' })
  .meta({ description: 'RFC 3339 time.', example: '2030-01-31T12:00:00.000Z' });

/** {@link instant} of a request, as a Date. */
export const instantInput = instant
  .transform((text) => new Date(text))
  // PostgreSQL and JavaScript agree on these years; an offset can lead out of them.
  .refine((time) => time.getUTCFullYear() >= 1970 && time.getUTCFullYear() <= 9998, 'must be a time from 1970 to 9998');

/** A whole number of a body, from one to another. */
export function wholeNumber(least: number, most: number) {
  const range = `must be from ${least} to ${most}`;
  return z.int({ error: 'must be a whole number' }).min(least, range).max(most, range);
}

export const packageId = wholeNumber(1, MAX_INTEGER).meta({
  description: 'Id of a package at the service.',
  example: 1001,
});

export const currency = z
  .string()
  .regex(/^[A-Z]{3}$/, 'must be an ISO 4217 code in upper case, such as EUR')
  .meta({ description: 'ISO 4217 code.', example: 'EUR' });

export const country = z
  .string()
  .regex(/^[A-Z]{2}$/, 'must be an ISO 3166-1 alpha-2 code in upper case, such as DE')
  .meta({ description: 'ISO 3166-1 alpha-2 code.', example: 'DE' });

const decimal = z.string().meta({ description: 'Exact decimal amount.', example: '12.50' });

/** An amount in an answer. */
export const money = z
  .strictObject({ amount: decimal, currency })
  .meta({ id: 'Money', description: 'An exact amount with its currency; never a float.' });

/** What {@link isUnsignedDecimal} lets through, for the description. */
const DECIMAL_PATTERN = '^(0|[1-9][0-9]{0,14})(\\.[0-9]{1,6})?$';

/** Text that PostgreSQL can store, for the description: JSON itself cannot hold half of a surrogate pair in UTF-8. */
export const TEXT_PATTERN = '^[^\\x00]*$';

/** The same with something in it. */
export const FILLED_TEXT_PATTERN = '^[^\\x00]*[^\\s\\x00][^\\x00]*$';

/**
 * An amount without its currency in a request: a string, since JSON numbers lose digits on the way through many
 * parsers.
 */
export const unsignedDecimal = z
  .string()
  .refine(isUnsignedDecimal, {
    message: 'must be a decimal in a string, not negative, with at most 15 digits before and 6 after the point',
  })
  .meta({ description: 'Exact decimal amount.', example: '12.50', override: { pattern: DECIMAL_PATTERN } });

/** An amount in a request. */
export const moneyInput = z.strictObject({ amount: unsignedDecimal, currency }).meta({ id: 'MoneyInput' });

/** An id of ours in an answer. */
export function ourId(kind: IdKind, example: string) {
  return z
    .string()
    .meta({ description: `Id of the ${kind}.`, example, 'x-kind': kind, override: { pattern: idPattern(kind) } });
}

export const exampleKeyId = 'key_01JQ8Z00000000000000000000';

/** Who made something, in an answer about it: the owner that its row has, so it costs no query. */
export const createdBy = ourId('apiKey', exampleKeyId).meta({
  description:
    'Id of the API key that it was made with; of one that was rotated, the id of the first of its line. The audit log says what was done with it since.',
});

/** Who made something, in a query. */
export const createdByInQuery = ourId('apiKey', exampleKeyId)
  .refine((text) => isId('apiKey', text), { message: 'must be the id of an API key; it begins with `key_`' })
  .meta({
    description: 'Only what was made with this API key; of one that was rotated, the id of the first of its line.',
  });

/** What a key may do. */
export const apiScope = z
  .enum(apiScopes as [ApiScope, ...ApiScope[]])
  .meta({ id: 'ApiScope', description: 'A scope of an API key.' });

/** The values of a closed set with what each means, for its description. */
export function meaningsOf(values: Readonly<Record<string, string | { readonly meaning: string }>>): string {
  return Object.entries(values)
    .map(([name, said]) => `\`${name}\`: ${typeof said === 'string' ? said : said.meaning}`)
    .join(' ');
}

/** Ids of ours in a path; one of another form cannot exist, so it is answered like one that does not. */
export function idInPath(kind: IdKind, example: string) {
  return z.strictObject({ id: ourId(kind, example) });
}

/** Tells whether a path can name something of this kind; keeps nonsense away from the database. */
export function mayExist(kind: IdKind, id: string): boolean {
  return isId(kind, id);
}

/** A whole number in a query. */
export function queryInteger(min: number, max: number) {
  const message = `must be a whole number from ${min} to ${max}`;
  return z
    .string()
    .regex(/^[0-9]{1,10}$/, message)
    .transform(Number)
    .refine((value) => value >= min && value <= max, { message })
    .meta({ override: { type: 'integer', minimum: min, maximum: max } });
}

export const packageIdInQuery = queryInteger(1, MAX_INTEGER);

/** More is not granted anyway. */
const MAX_WAIT_SECONDS = 3_600;

/** How long a caller waits for the answer. */
export const waitInQuery = queryInteger(0, MAX_WAIT_SECONDS)
  // Who waits for no time does not wait.
  .transform((seconds) => (seconds === 0 ? undefined : seconds))
  .optional()
  .meta({
    description: 'Seconds to wait at most; no more than the API grants (`POLICY_WAIT_MAX`, 50 by default).',
    override: { type: 'integer', minimum: 0, maximum: MAX_WAIT_SECONDS },
  });

/** A time by which a list is narrowed. */
export function timeInQuery(description: string) {
  return instantInput.optional().meta({ description, override: { type: 'string', format: 'date-time' } });
}

/** Yes or no in a query. */
export function flagInQuery(description: string) {
  return z
    .string()
    .refine((text) => text === 'true' || text === 'false', { message: 'must be true or false' })
    .transform((text) => text === 'true')
    .optional()
    .meta({ description, override: { type: 'boolean' } });
}

/** Several of a closed set in one parameter, separated by commas. */
export function listOf<Value extends string>(values: readonly [Value, ...Value[]]) {
  const isOne = (text: string): text is Value => (values as readonly string[]).includes(text);
  return z
    .string()
    .refine((text) => text.split(',').every(isOne), {
      message: `must be one of ${values.join(', ')}, or several, separated by commas`,
    })
    .transform((text) => text.split(',').filter(isOne))
    .meta({ override: { type: 'array', items: { type: 'string', enum: [...values] }, minItems: 1 } });
}

/** How much a page holds, and where it starts. */
export const pageQuery = {
  limit: queryInteger(1, MAX_LIMIT)
    .default(DEFAULT_LIMIT)
    .meta({
      description: `How many at most, 1 to ${MAX_LIMIT}.`,
      override: { type: 'integer', minimum: 1, maximum: MAX_LIMIT, default: DEFAULT_LIMIT },
    }),
  cursor: z
    .string()
    .max(200)
    .optional()
    .meta({ description: '`next_cursor` of the page before; leave it out for the first page.' }),
};

/** A page of a list. */
export function pageOf<Item extends z.ZodType>(item: Item, id: string) {
  return z
    .strictObject({
      data: z.array(item),
      next_cursor: z
        .string()
        .nullable()
        .meta({ description: 'Goes into `cursor` for the next page; null on the last.' }),
    })
    .meta({ id });
}
