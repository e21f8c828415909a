/** The kinds of field that wire shapes are made of, and the names that the specification gives its headers. */
import * as z from 'zod';
import { parseDecimal } from '#domain/money.ts';

/**
 * How sure we are of a part of the contract. *stated*: the specification says it; *shape assumed*: the call is stated,
 * the shape of its answer is ours; *call assumed*: nothing about it is stated but that it exists, if that.
 */
export type Mark = 'stated' | 'shape assumed' | 'call assumed';

/** The specification writes the brand in header names as the neutral word *Service*; `SERVICE_HEADER_PREFIX` sets the real one. */
export const DEFAULT_HEADER_PREFIX = 'X-Service';

/** Names of the headers of a webhook delivery (specification, Delivery headers). */
export interface ServiceHeaders {
  readonly event: string;
  readonly delivery: string;
  readonly timestamp: string;
  readonly signature: string;
}

/** @param prefix everything before `-Event`, such as `X-Acme`. */
export function serviceHeaders(prefix: string): ServiceHeaders {
  return {
    event: `${prefix}-Event`,
    delivery: `${prefix}-Delivery`,
    timestamp: `${prefix}-Timestamp`,
    signature: `${prefix}-Signature`,
  };
}

export const SERVICE_HEADERS = serviceHeaders(DEFAULT_HEADER_PREFIX);

export const IDEMPOTENCY_KEY_HEADER = 'Idempotency-Key';

/**
 * An identifier; the specification says "string" for some and shows none, so numbers are taken too. Visible ASCII:
 * identifiers go into paths and text columns, where a NUL or half a character would do harm.
 */
export const wireId = z
  .union([z.string().regex(/^[\x21-\x7e]{1,128}$/), z.number().int().nonnegative()])
  .transform(String)
  .meta({ description: 'Identifier (string, or a number that is read as one).' });

/** An exact amount: a JSON number or a decimal string. */
export const wireDecimal = z
  .union([z.string(), z.number()])
  .transform((value, context) => {
    try {
      return parseDecimal(value);
    } catch {
      context.addIssue({ code: 'custom', message: 'not a decimal amount' });
      return z.NEVER;
    }
  })
  .meta({ description: 'Decimal amount.' });

/** A price: never negative. */
export const wirePrice = wireDecimal.refine((amount) => !amount.startsWith('-'), 'must not be negative');

/** An amount whose direction stands beside it: a debit of -5 is a debit of 5. */
export const wireUnsigned = wireDecimal.transform((amount) => amount.replace(/^-/, ''));

export const wireCurrency = z.string().regex(/^[A-Z]{3}$/).meta({ description: 'ISO 4217 currency code.' });
export const wireTime = z.iso.datetime({ offset: true }).meta({ description: 'RFC 3339 time.' });

/** A word of the service's own, such as a state that we show but do not judge. */
export const wireWord = z.string().regex(/^[\x20-\x7e]{1,64}$/);

/** Why a purchase came to nothing, in the service's words. */
export const wireFailure = z.object({
  code: z.string().regex(/^[\x20-\x7e]{1,128}$/),
  message: z.string().default(''),
});

/**
 * Marks a field that the product depends on although single answers may lack it or have null there, such as the eSIM of an order that
 * is still processing. The contract check, `docs/assumptions.md` and the sandbox tour read the mark.
 *
 * @param purpose what cannot be done without it, as a clause.
 * @param alternatives fields of the same object of which one is enough.
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

/** How {@link neededFor} shows in a JSON Schema of the contract: the purpose, and the names of the alternatives. */
export const NEEDED_FOR = 'x-needed-for';
export const NEEDED_UNLESS = 'x-needed-unless';

/** A page of a list; `next_cursor` is null on the last one. */
export function pageOf<Item extends z.ZodType>(item: Item) {
  return z.object({ data: z.array(item), next_cursor: z.string().nullish() });
}
