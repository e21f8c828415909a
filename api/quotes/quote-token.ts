import * as z from 'zod';
import type { FieldError } from '#api/problems/problem.ts';
import type { KeyRing } from '#crypto/key-ring.ts';
import { isUnsignedDecimal, type Money } from '#domain/money/money.ts';

export interface QuotedItem {
  readonly lineageId: string;
  readonly kind: 'order' | 'topup' | 'vpn_subscription';
  readonly itemId: number;
  readonly esimId: string | undefined;
}

const PREFIX = 'quo_';
const AAD = 'quote';

const content = z.object({
  of: z.string(),
  amount: z.string().refine(isUnsignedDecimal),
  currency: z.string(),
  /** Epoch milliseconds. */
  expires: z.number(),
});

/** Only this installation can make and read it. Nothing is stored: the text contains the price. */
export function quoteToken(keyRing: KeyRing, item: QuotedItem, { amount, currency }: Money, expiresAt: number): string {
  const plain: z.input<typeof content> = { of: nameOf(item), amount, currency, expires: expiresAt };
  return PREFIX + keyRing.encrypt(JSON.stringify(plain), AAD).toString('base64url');
}

function contentOf(keyRing: KeyRing, encoded: string): z.output<typeof content> | undefined {
  try {
    return content.parse(JSON.parse(keyRing.decryptText(Buffer.from(encoded, 'base64url'), AAD)));
  } catch {
    // Altered, cut off, or made with a key that was removed.
    return undefined;
  }
}

function nameOf({ lineageId, kind, itemId, esimId }: QuotedItem): string {
  return [lineageId, kind, itemId, esimId ?? ''].join('/');
}

type LimitOfRequest =
  | { readonly limit: Money | undefined; readonly error?: never; readonly isExpired?: never }
  | { readonly limit?: never; readonly error: FieldError; readonly isExpired: boolean };

/** The given limit, or the price of the given quote. @param item what the quote must be about. */
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
  const read = token.startsWith(PREFIX) ? contentOf(keyRing, token.slice(PREFIX.length)) : undefined;
  if (read === undefined || read.of !== nameOf(item))
    return refused('is not the id of a quote for this purchase by this API key');
  if (read.expires <= now) return refused('is the id of a quote that has expired', true);
  return { limit: { amount: read.amount, currency: read.currency } };
}

function refused(message: string, isExpired = false): LimitOfRequest {
  return { error: { in: 'body', field: 'quote_id', message }, isExpired };
}
