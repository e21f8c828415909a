/** Writes the records of the foreign service as a style has them. */
import type { RecordKind, Style } from '#test/foreign/service/style.ts';

/**
 * A record with its plain names and values. Amounts are whole cents, times epoch milliseconds, identifiers text.
 */
export type Plain = Readonly<Record<string, unknown>>;

export const CURRENCY = 'USD';

const AMOUNTS: ReadonlySet<string> = new Set(['price_for_reseller', 'amount', 'balance']);
const WORDS: ReadonlySet<string> = new Set(['status', 'type', 'review', 'reason']);
const OWN_IDS: ReadonlySet<string> = new Set([
  'id',
  'order_id',
  'esim_id',
  'topup_id',
  'refund_id',
  'vpn_subscription_id',
]);

/** Writes one record. */
export function presented(style: Style, kind: RecordKind, record: Plain): Plain {
  const shown: Record<string, unknown> = {};
  for (const [field, value] of Object.entries(record)) {
    // An amount that names its currency itself has none beside it.
    if (field === 'currency' && hasOwnCurrency(style) && Object.keys(record).some((each) => AMOUNTS.has(each)))
      continue;
    shown[nameOf(style, kind, field)] = valueOf(style, kind, field, value);
  }
  return shown;
}

function hasOwnCurrency({ money }: Style): boolean {
  return money === 'object' || money === 'minor_object' || money === 'divided';
}

/** The name of a field in a style. */
export function nameOf({ names = {}, letters }: Style, kind: RecordKind, field: string): string {
  const name = names[kind]?.[field] ?? field;
  // The names of OAuth, which services of every style use.
  if (kind === 'access') return field;
  const camel = name.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
  if (letters === 'snake') return name;
  return letters === 'camel' ? camel : camel.charAt(0).toUpperCase() + camel.slice(1);
}

function valueOf(style: Style, kind: RecordKind, field: string, value: unknown): unknown {
  if (value === null || value === undefined) return value;
  if (AMOUNTS.has(field) && typeof value === 'number') return amountOf(style.moneyOf?.[kind] ?? style.money, value);
  if (field.endsWith('_at') && typeof value === 'number') return timeOf(style, value);
  if (field === 'currency' && typeof value === 'string')
    return style.lowerCurrency === true ? value.toLowerCase() : value;
  if (WORDS.has(field) && typeof value === 'string') return wordOf(style, kind, value);
  if (OWN_IDS.has(field) && typeof value === 'string' && /^\d+$/.test(value)) return asNumber(value);
  if (field === 'refund') return presented(style, 'refund', value as Plain);
  if (field === 'failure' || field === 'access') return presented(style, kind, value as Plain);
  return value;
}

/** The service's word for a state. */
export function wordOf({ words = {}, capitals }: Style, kind: RecordKind, plain: string): string {
  const word = words[kind]?.[plain] ?? plain;
  return capitals === true ? word.toUpperCase() : word;
}

/** An amount in cents as the style writes it. */
function amountOf(money: Style['money'], cents: number): unknown {
  const text = (cents / 100).toFixed(2);
  switch (money) {
    case 'text':
      return text;
    case 'number':
      return cents / 100;
    case 'minor':
      return cents;
    case 'comma':
      return text.replace('.', ',');
    case 'object':
      return { amount: text, currency: CURRENCY };
    case 'minor_object':
      return { amount: String(cents), currency_code: CURRENCY };
    case 'divided':
      return { fixed: cents, currencyDivisor: 100, currency: CURRENCY };
  }
}

function timeOf({ times }: Style, ms: number): string | number {
  const iso = new Date(ms).toISOString();
  switch (times) {
    case 'iso':
      return iso;
    case 'offset':
      return iso.replace('Z', '000+00:00');
    case 'zoneless':
      return iso.slice(0, 19).replace('T', ' ');
    case 'seconds':
      return Math.trunc(ms / 1_000);
    case 'milliseconds':
      return ms;
  }
}

const NUMBER_MARK = '\u0001number:';

/** Marks digits that are written as a JSON number. JavaScript would round those of 64 bits. */
function asNumber(digits: string): string {
  return `${NUMBER_MARK}${digits}`;
}

/** True for digits that are written as a JSON number. */
export function isNumber(text: string): boolean {
  return text.startsWith(NUMBER_MARK);
}

/** The text of a JSON body. */
export function jsonOf(body: unknown): string {
  return JSON.stringify(body).replaceAll(/"\\u0001number:(\d+)"/g, '$1');
}

/** Wraps one record. @param name of the record in the wrapper, such as `order`. */
export function wrapped(style: Style, name: string, record: Plain): unknown {
  if ('access_token' in record) return record;
  switch (style.envelope) {
    case 'bare':
      return style.list === 'stripe' ? { object: name, ...record } : record;
    case 'data':
      return { data: record };
    case 'result':
      return style.letters === 'pascal' ? { Success: true, Result: record } : { success: true, result: record };
    case 'named':
      return { [name]: record };
    case 'jsend':
      return { status: 'success', data: { [name]: record } };
    case 'json_api': {
      const { id, ...attributes } = record;
      return { data: { type: `${name}s`, id: String(id), attributes } };
    }
    case 'coded':
      return { code: 0, msg: 'ok', data: record };
    case 'obj':
      return { success: true, errorCode: '0', obj: record };
    case 'nested':
      return { response: { header: { state: 'OK' }, body: record } };
  }
}

/** One page of a list. */
export interface Page {
  readonly items: readonly Plain[];
  readonly page: number;
  readonly size: number;
  readonly total: number;
  /** The path and query of this page; `page` is replaced in links. */
  readonly url: URL;
}

/** The body of a page, and its header `Link`. */
export function listed(style: Style, name: string, page: Page): { readonly body: unknown; readonly link?: string } {
  const { items, page: number, size, total, url } = page;
  const last = Math.max(1, Math.ceil(total / size));
  const next = number < last ? linkTo(url, number + 1) : null;
  const list = style.envelope === 'json_api' ? items.map((item) => inside(wrapped(style, name, item))) : items;
  switch (style.list) {
    case 'cursor':
      return { body: enclosed(style, { data: list, next_cursor: next === null ? null : String(number + 1) }) };
    case 'laravel':
      return {
        body: {
          ...(style.envelope === 'coded' ? { code: 0, msg: 'ok' } : {}),
          data: list,
          links: { first: linkTo(url, 1), last: linkTo(url, last), prev: null, next },
          meta: { current_page: number, last_page: last, per_page: size, total },
        },
      };
    case 'django':
      return { body: { count: total, next, previous: null, results: list } };
    case 'stripe':
      return { body: { object: 'list', url: url.pathname, has_more: next !== null, data: list } };
    case 'paddle':
      return {
        body: {
          data: list,
          meta: { request_id: 'req_1', pagination: { per_page: size, next, has_more: next !== null } },
        },
      };
    case 'offset':
      return { body: enclosed(style, { items: list, offset: (number - 1) * size, limit: size, total }) };
    case 'link':
      return {
        body: list,
        link: [...(next === null ? [] : [`<${next}>; rel="next"`]), `<${linkTo(url, last)}>; rel="last"`].join(', '),
      };
    case 'rails':
      return { body: { [`${name}s`]: list, meta: { current_page: number, total_pages: last, total_count: total } } };
    case 'after_cursor':
      return { body: { [`${name}s`]: list, afterCursor: next === null ? null : String(number + 1) } };
    case 'plain':
      return { body: enclosed(style, { list }) };
  }
}

function inside(body: unknown): unknown {
  return typeof body === 'object' && body !== null && 'data' in body ? body.data : body;
}

function enclosed(style: Style, list: Plain): unknown {
  if (style.envelope === 'bare') return list;
  if (style.envelope === 'jsend') return { status: 'success', data: list };
  return wrapped(style, 'list', list);
}

function linkTo(url: URL, page: number): string {
  const link = new URL(url);
  link.searchParams.set('page', String(page));
  return link.href;
}

/** An error of the service. */
export interface Fault {
  readonly status: number;
  readonly code: string;
  readonly message: string;
  /** The field that the service refuses. */
  readonly field?: string;
}

/** The body of an error. */
export function faultBody(style: Style, { status, code, message, field }: Fault): unknown {
  switch (style.errors) {
    case 'problem':
      return { type: `https://foreign.example/problems/${code}`, title: message, status, ...(field && { field }) };
    case 'laravel':
      return { message, errors: { [field ?? 'base']: [message] } };
    case 'django':
      return { [field ?? 'non_field_errors']: [message] };
    case 'stripe':
      return { error: { type: 'invalid_request_error', code, message, ...(field && { param: field }) } };
    case 'jsend':
      return { status: 'fail', data: { [field ?? 'base']: message } };
    case 'coded':
      return { code: 40_000 + status, msg: message, data: null };
    case 'html':
      return `<!doctype html><title>${status}</title><h1>${message}</h1>`;
  }
}
