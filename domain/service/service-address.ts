import { counted } from '#domain/text.ts';

/** `{base_url}` ends with this (specification, Versioning). */
export const BASE_PATH = '/api/reseller/v1';

/** `{sandbox_url}` is `{base_url}` followed by this. */
export const SANDBOX_SUFFIX = '/sandbox';

export type ServiceMode = 'production' | 'sandbox';

/** The address that calls go to. @param baseUrl `{base_url}`, without a trailing slash. */
export function serviceAddress(baseUrl: string, mode: ServiceMode): string {
  return mode === 'sandbox' ? `${baseUrl}${SANDBOX_SUFFIX}` : baseUrl;
}

/**
 * The specification writes the brand in header names as the neutral word *Service*; `SERVICE_HEADER_PREFIX` sets the
 * real brand.
 */

export const DEFAULT_HEADER_PREFIX = 'X-Service';

/**
 * Part of a header name, with fewer characters than HTTP allows (RFC 9110, token): anyone can send it, and it is
 * logged.
 */
export const HEADER_PREFIX = /^[A-Za-z0-9]([A-Za-z0-9_-]{0,38}[A-Za-z0-9])?$/;

/** Deliveries that were refused because their headers had an unexpected prefix. */
export interface RefusedHeaderPrefix {
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

/** Seconds a webhook's timestamp may differ from the receiver's clock, either way (specification, Limits). */
export const WEBHOOK_TOLERANCE_SECONDS = 300;

/**
 * How long a copy of a received webhook is accepted at most: one whose timestamp is ahead of our clock by the whole
 * tolerance is accepted until the timestamp is older than the tolerance. A stored report is needed for as long, because
 * only that shows that the delivery is a copy.
 *
 * A retry of the service that is signed anew may come later. The specification shows no retry schedule. Such a retry
 * says about ended work what is known, so it has no effect.
 *
 * @param toleranceMs milliseconds. @returns milliseconds.
 */
export function copiesAcceptedForMs(toleranceMs: number): number {
  return 2 * toleranceMs;
}
