/** The specification writes the brand in header names as the neutral word *Service*; `SERVICE_HEADER_PREFIX` sets the real one. */
export const DEFAULT_HEADER_PREFIX = 'X-Service';

/** Part of a header name: fewer characters than HTTP allows (RFC 9110, token), so that it is safe in logs and in texts for people. */
export const HEADER_PREFIX = /^[A-Za-z0-9]([A-Za-z0-9_-]{0,38}[A-Za-z0-9])?$/;

/** Deliveries that were refused because their headers had another prefix than ours. */
export interface RefusedHeaderPrefix {
  /** Matches {@link HEADER_PREFIX}. */
  readonly prefix: string;
  /** True where the signature is right by one of our secrets. */
  readonly verified: boolean;
  /** How many came; a few of the last may be missing. */
  readonly deliveries: number;
  readonly lastAt: Date;
}

/** @returns what was refused, and what to do about it, in sentences. */
export function describeRefusedPrefix(refused: RefusedHeaderPrefix): { readonly fact: string; readonly advice: string } {
  const { prefix, verified, deliveries, lastAt } = refused;
  const count = deliveries === 1 ? '1 delivery' : `${deliveries} deliveries`;
  const seen = `${count} with headers ${prefix}-Event, ${prefix}-Signature and so on came up to ${lastAt.toISOString()}, refused with 401, and none that is valid since.`;
  const setting = `SERVICE_HEADER_PREFIX=${prefix}, and start the API again.`;
  return verified
    ? { fact: `${seen} They are signed with our webhook secret, so the service signed them.`, advice: `Set ${setting}` }
    : {
        fact: `${seen} This is unverified: anybody can send such headers.`,
        advice: `If ${prefix.replace(/^x-/i, '')} is the brand of the service, set ${setting}`,
      };
}
