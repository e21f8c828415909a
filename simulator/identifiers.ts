import { createHmac } from 'node:crypto';

const ID_PREFIXES = {
  order: 'so',
  topup: 'stu',
  vpn: 'sv',
  esim: 'se',
  refund: 'sr',
  ledger: 'st',
  delivery: 'sd',
  fault: 'flt',
  behaviour: 'bhv',
} as const;

/** Without I, L, O and U, which are easily misread. */
const ALPHABET = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';

/** Telecom (89), a country code that no operator has, and an issuer. */
const ICCID_PREFIX = '8999942';

export type Identifiers = ReturnType<typeof createIdentifiers>;

/**
 * The same seed and calls give the same ids, and a restart never repeats one. `seed` is read at each use: a reset may
 * draw a new one.
 */
export function createIdentifiers(seed: () => string) {
  const bytes = (label: string, sequence: number): Buffer =>
    createHmac('sha256', seed()).update(`${label}/${sequence}`).digest();

  return {
    id: (kind: keyof typeof ID_PREFIXES, sequence: number) =>
      `${ID_PREFIXES[kind]}_${letters(bytes(kind, sequence), 16)}`,
    /** 19 or 20 digits with their Luhn check digit. */
    iccid: (sequence: number) => {
      const source = bytes('iccid', sequence);
      const length = source.readUInt8(31) % 2 === 0 ? 19 : 20;
      const account = [...source.subarray(0, length - ICCID_PREFIX.length - 1)].map((byte) => byte % 10).join('');
      const payload = `${ICCID_PREFIX}${account}`;
      return `${payload}${luhnCheckDigit(payload)}`;
    },
    matchingId: (sequence: number) => {
      const text = letters(bytes('matching-id', sequence), 16);
      return `${text.slice(0, 4)}-${text.slice(4, 10)}-${text.slice(10)}`;
    },
    vpnLogin: (sequence: number) => ({
      username: `vpn-${letters(bytes('vpn-username', sequence), 10).toLowerCase()}`,
      password: letters(bytes('vpn-password', sequence), 20),
    }),
    chance: (label: string, sequence: number) => bytes(label, sequence).readUInt32BE(0) / 2 ** 32,
  };
}

/** ISO/IEC 7812-1, annex B. */
export function luhnCheckDigit(payload: string): string {
  const digits = Array.from(payload, Number).toReversed();
  const sum = digits.reduce((total, digit, index) => {
    if (index % 2 === 1) return total + digit;
    return total + (digit > 4 ? digit * 2 - 9 : digit * 2);
  }, 0);
  return String((10 - (sum % 10)) % 10);
}

function letters(source: Buffer, length: number): string {
  return [...source.subarray(0, length)].map((byte) => ALPHABET[byte % ALPHABET.length]).join('');
}
