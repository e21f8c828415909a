import { isIP } from 'node:net';
import * as z from 'zod';
import { DAY, HOUR, MINUTE, SECOND } from '#domain/policy/settings.ts';

/** Without blanks around them, and without empty ones. */
export function commaList(text: string): string[] {
  return text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '');
}

export function urlOf(...protocols: string[]) {
  return z.string().refine((text) => URL.canParse(text) && protocols.includes(new URL(text).protocol), {
    message: `must be a URL that starts with ${protocols.map((protocol) => `${protocol}//`).join(' or ')}`,
  });
}

export function withoutEndSlashes(address: string): string {
  return address.replace(/\/+$/, '');
}

export function flag(fallback: boolean) {
  return z
    .enum(['true', 'false'], { message: 'must be true or false' })
    .default(fallback ? 'true' : 'false')
    .transform((text) => text === 'true');
}

export function port(fallback: number) {
  const error = 'must be a port number';
  return z.coerce.number({ error }).int({ error }).min(0, { error }).max(65_535, { error }).default(fallback);
}

const UNITS: Readonly<Record<string, number>> = { ms: 1, s: SECOND, m: MINUTE, h: HOUR, d: DAY };

function milliseconds(text: string): number {
  const unit = /[a-z]+$/.exec(text)?.[0] ?? 'ms';
  return Number.parseInt(text, 10) * (UNITS[unit] ?? 1);
}

/** Ten years. */
export const LONGEST_MS = 3_650 * DAY;

/** `500ms`, `20s`, `10m`, `24h` or `7d`, parsed to milliseconds. */
export function duration() {
  const error = 'must be a duration such as 500ms, 20s, 10m, 24h';
  return z
    .string({ error })
    .regex(/^\d{1,9}(ms|s|m|h|d)$/, error)
    .transform(milliseconds);
}

export function durationMs(fallback: string) {
  return duration()
    .refine((ms) => ms <= LONGEST_MS, 'must be at most 3650d')
    .prefault(fallback);
}

export function price() {
  const error = 'must be an amount with its currency, such as 500.00 USD';
  return z
    .string({ error })
    .regex(/^(?:0|[1-9]\d{0,14})(?:\.\d{1,6})? [A-Z]{3}$/, error)
    .transform((text) => ({ amount: text.slice(0, -4), currency: text.slice(-3) }));
}

/** `id:base64` pairs, comma separated, 32 bytes each. */
export function keyList() {
  const named = (pair: string) => {
    const [id = '', encoded = ''] = pair.trim().split(':', 2);
    return { id, key: Buffer.from(encoded, 'base64') };
  };
  return z
    .string()
    .transform((text) => text.split(',').map(named))
    .refine((keys) => keys.every(({ id, key }) => /^[A-Za-z0-9_-]{1,32}$/.test(id) && key.length === 32), {
      message: 'must be id:base64 pairs of 32-byte keys, comma separated',
      abort: true,
    })
    .refine((keys) => new Set(keys.map(({ id }) => id)).size === keys.length, { message: 'key ids must be unique' });
}

/** `secret` or `secret@<RFC 3339 time>`, comma separated. */
export function secretList() {
  const withEnd = (entry: string) => {
    const [secret = '', until] = entry.trim().split('@', 2);
    return until === undefined ? { secret } : { secret, acceptedUntil: Date.parse(until) };
  };
  return z
    .string()
    .transform((text) => text.split(',').map(withEnd))
    .refine((all) => all.every(({ secret, acceptedUntil }) => secret.length >= 8 && !Number.isNaN(acceptedUntil)), {
      message: 'must be secrets of 8 characters or more, each with an optional @<time>',
    });
}

/** `scheme://host[:port]`, comma separated. */
export function originList(fallback: string) {
  return z
    .string()
    .default(fallback)
    .transform((text) => text.split(',').map((origin) => origin.trim()))
    .refine((origins) => origins.every((origin) => URL.canParse(origin) && new URL(origin).origin === origin), {
      message: 'must be origins such as https://temporal.example.com, comma separated, without a path',
    });
}

/** As in `Host`, in lower case, without port, comma separated. */
export function hostList(fallback: string) {
  return z
    .string()
    .default(fallback)
    .transform((text) => text.split(',').map((host) => host.trim().toLowerCase()))
    .refine(
      (hosts) => hosts.every((host) => URL.canParse(`http://${host}`) && new URL(`http://${host}`).hostname === host),
      'must be names or addresses such as codec.example.com or [::1], comma separated, without a port',
    );
}

/** Such as `5` or `0.5`; `none` for no limit. */
export function perSecond() {
  return z
    .string()
    .regex(/^(none|(?!0+(\.0+)?$)\d{1,5}(\.\d{1,3})?)$/, 'must be how many a second, such as 5 or 0.5, or none')
    .default('none')
    .transform((text) => (text === 'none' ? undefined : Number(text)));
}

export function networkList() {
  return z
    .string()
    .transform(commaList)
    .refine(
      (networks) => networks.every(isNetwork),
      'must be IP addresses or networks such as 10.0.0.0/8, comma separated',
    );
}

function isNetwork(text: string): boolean {
  const [, address = '', bits] = /^([^/]+)(?:\/(\d{1,3}))?$/.exec(text) ?? [];
  const family = isIP(address);
  return family !== 0 && (bits === undefined || Number(bits) <= (family === 4 ? 32 : 128));
}

export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^127\.\d{1,3}\.\d{1,3}\.\d{1,3}$/.test(host);
}
