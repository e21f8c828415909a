import * as z from 'zod';
import { isUnsignedDecimal } from '#domain/money/money.ts';

export const currency = z
  .string()
  .regex(/^[A-Z]{3}$/, 'must be an ISO 4217 code in upper case, such as EUR')
  .meta({ description: 'ISO 4217 code.', example: 'USD' });

const decimal = z.string().meta({ description: 'Exact decimal amount.', example: '12.50' });

/** An amount in an answer. */
export const money = z
  .strictObject({ amount: decimal, currency })
  .meta({ id: 'Money', description: 'An exact amount with its currency; never a float.' });

/** The price of a package or plan. */
export function priceForReseller(example: string) {
  return money.meta({
    description: 'Price that the service charges the reseller.',
    example: { amount: example, currency: 'USD' },
  });
}

/** The pattern of {@link isUnsignedDecimal}, for the description. */
const DECIMAL_PATTERN = '^(0|[1-9][0-9]{0,14})(\\.[0-9]{1,6})?$';

/**
 * An amount without its currency in a request: a string, because JSON numbers lose digits in many
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
