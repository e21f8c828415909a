import { hash, randomBytes as systemRandomBytes } from 'node:crypto';
import { base62 } from '#crypto/base62.ts';

/**
 * Secrets of share links. Letters and digits only: messengers end a link before other characters. 62^32 is above
 * 2^190, so a secret cannot be guessed, and its unsalted SHA-256 hash can be stored.
 */
const LENGTH = 32;
/** 32 bits more than the letters need, so that all secrets are about equally likely. */
const BYTES = 28;

/** Generates a secret. @param randomBytes a cryptographic source; tests pass their own. */
export function generateShareSecret(randomBytes: (size: number) => Uint8Array = systemRandomBytes): string {
  return base62(randomBytes(BYTES), LENGTH);
}

/** The hash that is stored instead of the secret, and by which a link is looked up. */
export function hashShareSecret(secret: string): Buffer {
  return hash('sha256', secret, 'buffer');
}
