/** Writes the records of the foreign service as a style has them. */
import type { RecordKind, Style } from '#test/foreign/service/style.ts';

/** A record with its plain names and values. Amounts are whole cents, times epoch milliseconds, identifiers text. */
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
  if (AMOUNTS.has(field) && typeof value === 'number') return AMOUNT_OF[style.moneyOf?.[kind] ?? style.money](value);
  if (field.endsWith('_at') && typeof value === 'number') return TIME_OF[style.times](value);
  if (field === 'currency' && typeof value === 'string')
    return style.lowerCurrency === true ? value.toLowerCase() : value;
  if (WORDS.has(field) && typeof value === 'string') return wordOf(style, kind, value);
  if (OWN_IDS.has(field) && typeof value === 'string' && /^\d+$/.test(value)) return `${NUMBER_MARK}${value}`;
  if (field === 'refund') return presented(style, 'refund', value as Plain);
  if (field === 'failure' || field === 'access') return presented(style, kind, value as Plain);
  return value;
}

/** The service's word for a state. */
export function wordOf({ words = {}, capitals }: Style, kind: RecordKind, plain: string): string {
  const word = words[kind]?.[plain] ?? plain;
  return capitals === true ? word.toUpperCase() : word;
}

const decimal = (cents: number) => (cents / 100).toFixed(2);

/** How a style writes an amount in cents. */
const AMOUNT_OF: Readonly<Record<Style['money'], (cents: number) => unknown>> = {
  text: decimal,
  number: (cents) => cents / 100,
  minor: (cents) => cents,
  comma: (cents) => decimal(cents).replace('.', ','),
  object: (cents) => ({ amount: decimal(cents), currency: CURRENCY }),
  minor_object: (cents) => ({ amount: String(cents), currency_code: CURRENCY }),
  divided: (cents) => ({ fixed: cents, currencyDivisor: 100, currency: CURRENCY }),
};

const isoOf = (ms: number) => new Date(ms).toISOString();

const TIME_OF: Readonly<Record<Style['times'], (ms: number) => string | number>> = {
  iso: isoOf,
  offset: (ms) => isoOf(ms).replace('Z', '000+00:00'),
  zoneless: (ms) => isoOf(ms).slice(0, 19).replace('T', ' '),
  seconds: (ms) => Math.trunc(ms / 1_000),
  milliseconds: (ms) => ms,
};

/** Marks digits that are written as a JSON number. JavaScript would round those of 64 bits. */
const NUMBER_MARK = '\u0001number:';

/** True for digits that are written as a JSON number. */
export function isNumber(text: string): boolean {
  return text.startsWith(NUMBER_MARK);
}

/** The text of a JSON body. */
export function jsonOf(body: unknown): string {
  return JSON.stringify(body).replaceAll(/"\\u0001number:(\d+)"/g, '$1');
}

const WRAPPERS: Readonly<Record<Style['envelope'], (record: Plain, name: string, style: Style) => unknown>> = {
  bare: (record, name, { list }) => (list === 'stripe' ? { object: name, ...record } : record),
  data: (record) => ({ data: record }),
  result: (record, _name, { letters }) =>
    letters === 'pascal' ? { Success: true, Result: record } : { success: true, result: record },
  named: (record, name) => ({ [name]: record }),
  jsend: (record, name) => ({ status: 'success', data: { [name]: record } }),
  json_api: ({ id, ...attributes }, name) => ({ data: { type: `${name}s`, id: String(id), attributes } }),
  coded: (record) => ({ code: 0, msg: 'ok', data: record }),
  obj: (record) => ({ success: true, errorCode: '0', obj: record }),
  nested: (record) => ({ response: { header: { state: 'OK' }, body: record } }),
};

/** Wraps one record. @param name of the record in the wrapper, such as `order`. */
export function wrapped(style: Style, name: string, record: Plain): unknown {
  return 'access_token' in record ? record : WRAPPERS[style.envelope](record, name, style);
}

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
  const cursor = next === null ? null : String(number + 1);
  const list = style.envelope === 'json_api' ? items.map((item) => inside(wrapped(style, name, item))) : items;
  const bodies: Readonly<Record<Style['list'], () => unknown>> = {
    cursor: () => enclosed(style, { data: list, next_cursor: cursor }),
    laravel: () => ({
      ...(style.envelope === 'coded' ? { code: 0, msg: 'ok' } : {}),
      data: list,
      links: { first: linkTo(url, 1), last: linkTo(url, last), prev: null, next },
      meta: { current_page: number, last_page: last, per_page: size, total },
    }),
    django: () => ({ count: total, next, previous: null, results: list }),
    stripe: () => ({ object: 'list', url: url.pathname, has_more: next !== null, data: list }),
    paddle: () => ({
      data: list,
      meta: { request_id: 'req_1', pagination: { per_page: size, next, has_more: next !== null } },
    }),
    offset: () => enclosed(style, { items: list, offset: (number - 1) * size, limit: size, total }),
    link: () => list,
    rails: () => ({ [`${name}s`]: list, meta: { current_page: number, total_pages: last, total_count: total } }),
    after_cursor: () => ({ [`${name}s`]: list, afterCursor: cursor }),
    plain: () => enclosed(style, { list }),
  };
  const links = [...(next === null ? [] : [`<${next}>; rel="next"`]), `<${linkTo(url, last)}>; rel="last"`];
  return { body: bodies[style.list](), ...(style.list === 'link' && { link: links.join(', ') }) };
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

export interface Fault {
  readonly status: number;
  readonly code: string;
  readonly message: string;
  /** The field that the service refuses. */
  readonly field?: string;
}

/** The body of an error. */
export const FAULT_BODY: Readonly<Record<Style['errors'], (fault: Fault) => unknown>> = {
  problem: ({ status, code, message, field }) => {
    return { type: `https://foreign.example/problems/${code}`, title: message, status, ...(field && { field }) };
  },
  laravel: ({ message, field = 'base' }) => ({ message, errors: { [field]: [message] } }),
  django: ({ message, field = 'non_field_errors' }) => ({ [field]: [message] }),
  stripe: ({ code, message, field }) => {
    return { error: { type: 'invalid_request_error', code, message, ...(field && { param: field }) } };
  },
  jsend: ({ message, field = 'base' }) => ({ status: 'fail', data: { [field]: message } }),
  coded: ({ status, message }) => ({ code: 40_000 + status, msg: message, data: null }),
  html: ({ status, message }) => `<!doctype html><title>${status}</title><h1>${message}</h1>`,
};
