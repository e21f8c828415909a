import { counted } from '#domain/text.ts';

/** `{base_url}` ends with this (specification, Versioning). */
export const BASE_PATH = '/api/reseller/v1';

/** `{sandbox_url}` is `{base_url}` followed by this. */
export const SANDBOX_SUFFIX = '/sandbox';

export type ServiceMode = 'production' | 'sandbox';

export function serviceAddress(baseUrl: string, mode: ServiceMode): string {
  return mode === 'sandbox' ? `${baseUrl}${SANDBOX_SUFFIX}` : baseUrl;
}

/** The specification writes the brand in header names as *Service*; `SERVICE_HEADER_PREFIX` sets the real one. */
export const DEFAULT_HEADER_PREFIX = 'X-Service';

/** Fewer characters than HTTP allows (RFC 9110, token): anyone can send it, and it is logged. */
export const HEADER_PREFIX = /^[A-Za-z0-9]([A-Za-z0-9_-]{0,38}[A-Za-z0-9])?$/;

export interface RefusedHeaderPrefix {
  readonly prefix: string;
  readonly verified: boolean;
  readonly deliveries: number;
  readonly lastAt: Date;
}

export function describeRefusedPrefix({ prefix, verified, deliveries, lastAt }: RefusedHeaderPrefix) {
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
 * A timestamp may be ahead of our clock by the whole tolerance, so a copy is accepted for twice that. A stored report
 * is needed for as long: only that shows that the delivery is a copy. A retry that is signed anew may come later; about
 * ended work it has no effect.
 */
export function copiesAcceptedForMs(toleranceMs: number): number {
  return 2 * toleranceMs;
}
