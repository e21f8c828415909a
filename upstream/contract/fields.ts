import * as z from 'zod';
import { parseDecimal } from '#domain/money/money.ts';
import { ZERO_ID } from '#upstream/contract/variants.ts';

/**
 * The specification says "string" for some and shows none, so numbers are accepted. Only visible ASCII: identifiers go
 * into paths and text columns, where a NUL or a lone surrogate would fail. Zero means "none": two records with it would
 * count as one.
 */
export const wireId = z
  .union([z.string().regex(/^[\x21-\x7e]{1,128}$/), z.number().int().nonnegative()])
  .transform(String)
  .refine((id) => !ZERO_ID.test(id), 'means that there is no identifier')
  .meta({ description: 'Identifier (string, or a number that is read as one).' });

/** A service may repeat a reference of digits as a whole number. */
export const wireReference = z
  .union([z.string(), z.number().int().nonnegative()])
  .transform(String)
  .meta({ description: 'Our reference (string, or a number that is read as one).' });

export const wireDecimal = z
  .union([z.string(), z.number()])
  .transform((value, context) => {
    try {
      // A number with more digits was rounded when the JSON was parsed.
      if (typeof value === 'string' || significantDigits(value) <= MOST_DIGITS) return parseDecimal(value);
    } catch {
      // Reported below.
    }
    context.addIssue({ code: 'custom', message: 'not a decimal amount' });
    return z.NEVER;
  })
  .meta({ description: 'Decimal amount.' });

const MOST_DIGITS = 15;

function significantDigits(value: number): number {
  return value.toExponential().replace(/e.*$/, '').replaceAll(/\D/g, '').length;
}

export const wirePrice = wireDecimal.refine((amount) => !amount.startsWith('-'), 'must not be negative');

export const wireCurrency = z
  .string()
  .regex(/^[A-Za-z]{3}$/)
  .transform((code) => code.toUpperCase())
  .meta({ description: 'ISO 4217 currency code, in either case.' });

/** Read as RFC 3339 in UTC, whatever form it has. */
export const wireTime = z
  .union([z.string().max(64), z.number()])
  .transform((value, context) => {
    const ms = epochMs(value);
    if (ms !== undefined) return new Date(ms).toISOString();
    context.addIssue({ code: 'custom', message: 'not a time' });
    return z.NEVER;
  })
  .meta({ description: 'Time: RFC 3339, the same without a zone (then UTC), or Unix seconds or milliseconds.' });

const DATE_TIME = /^(\d{4}-\d{2}-\d{2})[T ](\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?)(?: ?(Z|[+-]\d{2}:?\d{2}))?$/i;
// The years 2001 to 2286. Other numbers may be dates without separators, or a value for "never".
const SECONDS = { from: 1e9, to: 1e10 };
const MILLISECONDS = { from: 1e12, to: 1e13 };

/** Epoch milliseconds; undefined when it is no time. */
function epochMs(value: string | number): number | undefined {
  const number = typeof value === 'string' && /^\d{10}(?:\d{3})?$/.test(value) ? Number(value) : value;
  if (typeof number === 'number') {
    if (number >= SECONDS.from && number < SECONDS.to) return Math.trunc(number * 1_000);
    return number >= MILLISECONDS.from && number < MILLISECONDS.to ? Math.trunc(number) : undefined;
  }
  const [, date, time, zone = 'Z'] = DATE_TIME.exec(number) ?? [];
  if (date === undefined || time === undefined) return undefined;
  const ms = Date.parse(`${date}T${time}${zone.toUpperCase().replace(/^([+-]\d{2})(\d{2})$/, '$1:$2')}`);
  // Date.parse reads the 31st of February as the 3rd of March.
  const midnight = Date.parse(`${date}T00:00:00Z`);
  const isReal = !Number.isNaN(midnight) && new Date(midnight).toISOString().startsWith(date);
  return isReal && !Number.isNaN(ms) ? ms : undefined;
}

/** Sent as an integer; a text of digits is accepted as well. */
export const wireNumericId = z
  .union([z.int().nonnegative(), z.string().regex(/^(?:0|[1-9]\d{0,14})$/)])
  .transform(Number)
  .meta({ description: 'Identifier (integer, or text that holds one).' });

export const wireValue = z.string().regex(/^[\x20-\x7e]{1,64}$/);

export const wireState = wireValue
  .transform((word) => word.trim().toLowerCase())
  .meta({ description: 'State; compared in lower case.' });

export const wireFailure = z.union([
  z.object({ code: z.string().regex(/^[\x20-\x7e]{1,128}$/), message: z.string().default('') }),
  z
    .string()
    .regex(/\S/)
    .transform((text) => (/^[\w.-]{1,128}$/.test(text) ? { code: text, message: '' } : { message: text })),
]);

/**
 * The product depends on the field, although single answers may lack it.
 * @param purpose what is impossible without it, as a clause. @param alternatives of which one is enough.
 */
export function neededFor<Schema extends z.ZodType>(
  schema: Schema,
  purpose: string,
  alternatives: readonly string[] = [],
): Schema {
  return schema.meta({
    ...schema.meta(),
    [NEEDED_FOR]: purpose,
    ...(alternatives.length === 0 ? {} : { [NEEDED_UNLESS]: [...alternatives] }),
  });
}

/** A paid purchase cannot be delivered without it. A placeholder is read as "not there yet". */
export function deliveredFact<Schema extends z.ZodType>(schema: Schema, purpose: string) {
  return neededFor(informingFact(schema), purpose);
}

/** As {@link deliveredFact}, but the product needs it for nothing. */
export function informingFact<Schema extends z.ZodType>(schema: Schema) {
  return schema.nullish().meta({ ...schema.meta(), [DELIVERED_FACT]: true });
}

const DELIVERED_FACT = 'x-delivered-fact';

export interface Misstating {
  /** {@link deliveredFact}s with a value that cannot be read. */
  readonly misstated?: readonly string[];
}

export function deliveredFactsOf(schema: z.ZodType): readonly string[] {
  const fields = schema instanceof z.ZodObject ? Object.entries<z.ZodType>(schema.shape) : [];
  return fields.filter(([, field]) => field.meta()?.[DELIVERED_FACT] === true).map(([name]) => name);
}

export const NEEDED_FOR = 'x-needed-for';
export const NEEDED_UNLESS = 'x-needed-unless';
