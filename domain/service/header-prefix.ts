/**
 * The specification writes the brand in header names as the neutral word *Service*; `SERVICE_HEADER_PREFIX` sets the
 * real brand.
 */
import { counted } from '#domain/counted.ts';

export const DEFAULT_HEADER_PREFIX = 'X-Service';

/**
 * Part of a header name, with fewer characters than HTTP allows (RFC 9110, token): anyone can send it, and it is
 * logged.
 */
export const HEADER_PREFIX = /^[A-Za-z0-9]([A-Za-z0-9_-]{0,38}[A-Za-z0-9])?$/;

/** Deliveries that were refused because their headers had an unexpected prefix. */
export interface RefusedHeaderPrefix {
  /** Matches {@link HEADER_PREFIX}. */
  readonly prefix: string;
  /** True when the signature is valid with one of our secrets. */
  readonly verified: boolean;
  /** Number of deliveries; the most recent ones may be missing. */
  readonly deliveries: number;
  readonly lastAt: Date;
}

/**
 * Describes such deliveries to an operator.
 * @returns the fact and the advice, in sentences.
 */
export function describeRefusedPrefix({ prefix, verified, deliveries, lastAt }: RefusedHeaderPrefix): {
  readonly fact: string;
  readonly advice: string;
} {
  const count = counted(deliveries, 'delivery', 'deliveries');
  const seen =
    `Refused with 401: ${count} with headers ${prefix}-Event, ${prefix}-Signature and so on, the last at ` +
    `${lastAt.toISOString()}. No valid delivery has come since.`;
  const setting = `SERVICE_HEADER_PREFIX=${prefix}, and start the API again.`;
  if (verified) {
    const proof = 'The signature is right by our webhook secret, so the service signed what came.';
    return { fact: `${seen} ${proof}`, advice: `Set ${setting}` };
  }
  return {
    fact: `${seen} This is unverified: anybody can send such headers.`,
    advice: `If ${prefix.replace(/^x-/i, '')} is the brand of the service, set ${setting}`,
  };
}
