import * as z from 'zod';
import type { KeyRing } from '#crypto/key-ring.ts';
import { isUnsignedDecimal, type Money } from '#domain/money/money.ts';

/** What a quote was made for: the caller, and what it would buy. */
export interface QuotedItem {
  readonly lineageId: string;
  readonly kind: 'order' | 'topup' | 'vpn_subscription';
  /** The package, or the VPN plan. */
  readonly itemId: number;
  /** Our id of the eSIM that a top-up recharges. */
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

/**
 * A quote as a text that only this installation can make and read. Nothing is stored: the text contains the price.
 *
 * @param expiresAt epoch milliseconds.
 */
export function quoteToken(keyRing: KeyRing, item: QuotedItem, { amount, currency }: Money, expiresAt: number): string {
  const plain: z.input<typeof content> = { of: nameOf(item), amount, currency, expires: expiresAt };
  return PREFIX + keyRing.encrypt(JSON.stringify(plain), AAD).toString('base64url');
}

/**
 * The price of a quote.
 *
 * @param now epoch milliseconds.
 * @returns `other`: no quote of ours for this caller and item.
 */
export function quotedPrice(
  keyRing: KeyRing,
  token: string,
  item: QuotedItem,
  now: number,
): Money | 'expired' | 'other' {
  const read = token.startsWith(PREFIX) ? contentOf(keyRing, token.slice(PREFIX.length)) : undefined;
  if (read === undefined || read.of !== nameOf(item)) return 'other';
  if (read.expires <= now) return 'expired';
  return { amount: read.amount, currency: read.currency };
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
