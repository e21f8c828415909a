import { hash, randomBytes as systemRandomBytes, timingSafeEqual } from 'node:crypto';

/**
 * `rsk_test_<prefix>_<secret>`, or `rsk_live_…` where purchases cost real money. Letters and digits only: a double
 * click selects the whole key. Only an unsalted SHA-256 hash is stored: a key has 256 random bits, which cannot be
 * guessed or precomputed.
 */
const KEY = /^rsk_(test|live)_([0-9A-Za-z]{8})_([0-9A-Za-z]{43})$/;

export type ApiKeyMode = 'test' | 'live';

/**
 * The key is shown once and never stored; its unique prefix is stored in plain text.
 * @param randomBytes cryptographic; tests pass their own.
 */
export function generateApiKey(
  mode: ApiKeyMode = 'test',
  randomBytes: (size: number) => Uint8Array = systemRandomBytes,
) {
  // 16 bits more than eight letters need: all prefixes are about equally likely.
  const prefix = digitsOf(randomBytes(8), BASE62, 8);
  // 62^43 is just above 2^256.
  const key = `rsk_${mode}_${prefix}_${digitsOf(randomBytes(32), BASE62, 43)}`;
  return { key, prefix, hash: hashSecret(key) };
}

/** Undefined when `text` is not one of our keys. */
export function parseApiKey(text: string): { readonly prefix: string; readonly mode: ApiKeyMode } | undefined {
  const [, mode, prefix] = KEY.exec(text) ?? [];
  return prefix === undefined ? undefined : { prefix, mode: mode === 'live' ? 'live' : 'test' };
}

export function apiKeyMode(serviceMode: string | undefined): ApiKeyMode {
  return serviceMode === 'production' ? 'live' : 'test';
}

export function hashSecret(secret: string): Buffer {
  return hash('sha256', secret, 'buffer');
}

/** Takes constant time. @param hash the stored hash. */
export function matchesApiKey(key: string, hash: Uint8Array): boolean {
  const presented = hashSecret(key);
  return hash.length === presented.length && timingSafeEqual(presented, hash);
}

/**
 * Messengers end a link before other characters. 62^32 is above 2^190: a secret cannot be guessed, and its unsalted
 * SHA-256 hash can be stored.
 */
export function generateShareSecret(randomBytes: (size: number) => Uint8Array = systemRandomBytes): string {
  // 32 bits more than needed: all secrets are about equally likely.
  return digitsOf(randomBytes(28), BASE62, 32);
}

const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

/** The last digits of the number that the bytes are, in the base of the alphabet. */
export function digitsOf(bytes: Uint8Array, alphabet: string, length: number): string {
  const base = BigInt(alphabet.length);
  let rest = BigInt(`0x${Buffer.from(bytes).toString('hex')}`);
  let digits = '';
  for (let position = 0; position < length; position += 1) {
    digits = alphabet.charAt(Number(rest % base)) + digits;
    rest /= base;
  }
  return digits;
}
