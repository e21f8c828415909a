import type { FieldError } from '#api/problems/problem.ts';
import { type QuotedItem, quotedPrice } from '#api/quotes/quote-token.ts';
import type { KeyRing } from '#crypto/key-ring.ts';
import type { Money } from '#domain/money/money.ts';

/** The limit of a purchase, or why its quote cannot be used. */
export type LimitOfRequest =
  | { readonly limit: Money | undefined; readonly error?: never; readonly isExpired?: never }
  | { readonly limit?: never; readonly error: FieldError; readonly isExpired: boolean };

/**
 * The limit of a purchase: the given one, or the price of the given quote.
 *
 * @param item what the quote must be about.
 * @param now epoch milliseconds.
 */
export function limitOfRequest(
  keyRing: KeyRing,
  {
    quote_id: token,
    max_price: limit,
  }: { readonly quote_id?: string | undefined; readonly max_price?: Money | undefined },
  item: QuotedItem,
  now: number,
): LimitOfRequest {
  if (token === undefined) return { limit };
  if (limit !== undefined) return refused('must not be given together with `max_price`');
  const price = quotedPrice(keyRing, token, item, now);
  if (price === 'expired') return refused('is the id of a quote that has expired', true);
  if (price === 'other') return refused('is not the id of a quote for this purchase by this API key');
  return { limit: price };
}

function refused(message: string, isExpired = false): LimitOfRequest {
  return { error: { in: 'body', field: 'quote_id', message }, isExpired };
}
