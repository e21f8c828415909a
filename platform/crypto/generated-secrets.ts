import { hash, randomBytes as systemRandomBytes, timingSafeEqual } from 'node:crypto';

/**
 * `rsk_test_<prefix>_<secret>`, or `rsk_live_…` where purchases cost real money. Letters and digits only: a double
 * click selects the whole key. Only an unsalted SHA-256 hash is stored: a key has 256 random bits, which cannot be
 * guessed or precomputed.
 */
const KEY = /^rsk_(test|live)_([0-9A-Za-z]{8})_([0-9A-Za-z]{43})$/;

const PREFIX_LENGTH = 8;
/** 62^43 is just above 2^256. */
const SECRET_LENGTH = 43;
const SECRET_BYTES = 32;
/** 16 bits more than eight letters need: all prefixes are about equally likely. */
const PREFIX_BYTES = 8;

export type ApiKeyMode = 'test' | 'live';

export interface GeneratedApiKey {
  /** Shown once and never stored. */
  readonly key: string;
  /** Stored in plain text, unique. */
  readonly prefix: string;
  readonly hash: Buffer;
}

/** @param randomBytes cryptographic; tests pass their own. */
export function generateApiKey(
  mode: ApiKeyMode = 'test',
  randomBytes: (size: number) => Uint8Array = systemRandomBytes,
): GeneratedApiKey {
  const prefix = base62(randomBytes(PREFIX_BYTES), PREFIX_LENGTH);
  const key = `rsk_${mode}_${prefix}_${base62(randomBytes(SECRET_BYTES), SECRET_LENGTH)}`;
  return { key, prefix, hash: hashApiKey(key) };
}

/** Undefined when `text` is not one of our keys. */
export function parseApiKey(text: string): { readonly prefix: string; readonly mode: ApiKeyMode } | undefined {
  const [, mode, prefix] = KEY.exec(text) ?? [];
  return prefix === undefined ? undefined : { prefix, mode: mode === 'live' ? 'live' : 'test' };
}

export function apiKeyMode(serviceMode: string | undefined): ApiKeyMode {
  return serviceMode === 'production' ? 'live' : 'test';
}

export function hashApiKey(key: string): Buffer {
  return hash('sha256', key, 'buffer');
}

/** Takes constant time. @param hash the stored hash. */
export function matchesApiKey(key: string, hash: Uint8Array): boolean {
  const presented = hashApiKey(key);
  return hash.length === presented.length && timingSafeEqual(presented, hash);
}

/**
 * Messengers end a link before other characters. 62^32 is above 2^190: a secret cannot be guessed, and its unsalted
 * SHA-256 hash can be stored.
 */
const LENGTH = 32;
/** 32 bits more than needed: all secrets are about equally likely. */
const BYTES = 28;

export function generateShareSecret(randomBytes: (size: number) => Uint8Array = systemRandomBytes): string {
  return base62(randomBytes(BYTES), LENGTH);
}

export function hashShareSecret(secret: string): Buffer {
  return hash('sha256', secret, 'buffer');
}

const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

function base62(bytes: Uint8Array, length: number): string {
  let rest = BigInt(`0x${Buffer.from(bytes).toString('hex')}`);
  let digits = '';
  for (let position = 0; position < length; position += 1) {
    digits = ALPHABET.charAt(Number(rest % 62n)) + digits;
    rest /= 62n;
  }
  return digits;
}
