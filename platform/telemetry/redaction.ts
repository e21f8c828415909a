/** Removes fields by name at any depth, parts of texts by shape, and configured secrets literally. */

const REDACTED = '[redacted]';

/** Without case and punctuation. */
const SECRET_NAME_PARTS = [
  'password',
  'passwd',
  'passphrase',
  'secret',
  'token',
  'authorization',
  'cookie',
  'credential',
  'apikey',
  'privatekey',
  'encryptionkey',
  'idempotencykey',
  'signature',
  'imei',
  'activationcode',
  'confirmationcode',
  'matchingid',
  'lpastring',
  'customerreference',
  'encrypted',
  'rawbody',
  'requestbody',
  'responsebody',
];

/** As parts of other names they are harmless. */
const SECRET_NAMES = new Set(['lpa', 'body', 'params', 'parameters', 'qr', 'activation']);

const SECRET_NAME_PATTERN = new RegExp(SECRET_NAME_PARTS.join('|'));

/** In any spelling (`deviceImei`, `device_imei`, …). */
export function isSecretName(name: string): boolean {
  const plain = name.toLowerCase().replaceAll(/[^a-z0-9]/g, '');
  return SECRET_NAMES.has(plain) || SECRET_NAME_PATTERN.test(plain);
}

/** In a text with `"name": "value"` or `name=value`. */
const TEXT_NAME =
  '[a-z_-]{0,40}(?:password|secret|token|api_?key|signature|imei|activation_?code|matching_?id|customer_?reference)';
/** With the escapes of a JSON text inside another. */
const QUOTE = String.raw`\\{0,7}["']`;
/** A text, a text inside a text, a truncated text, or a number. */
const FIELD_VALUE = [
  String.raw`"(?:[^"\\]|\\.){0,8000}"`,
  String.raw`'(?:[^'\\]|\\.){0,8000}'`,
  String.raw`(?<open>\\{1,7}["'])[\s\S]{0,8000}?(?<!\\)\k<open>`,
  String.raw`${QUOTE}[\s\S]*`,
  String.raw`[^\s,}\]"'\\]+`,
].join('|');

/** Quantifiers are bounded, so that no text takes long. */
const SHAPES: readonly (readonly [RegExp, string])[] = [
  [/\b(Bearer|Basic)\s+[A-Za-z0-9+/=._~-]{4,}/gi, `$1 ${REDACTED}`],
  [/\brsk_((?:[a-z]{4}_)?[0-9A-Za-z]{8})_[0-9A-Za-z]{20,}/g, `rsk_$1_${REDACTED}`],
  [/\bwhsec_[A-Za-z0-9+/=_-]{4,}/g, `whsec_${REDACTED}`],
  [/\beyJ[A-Za-z0-9_-]{8,1000}\.[A-Za-z0-9_-]{4,4000}\.[A-Za-z0-9_-]*/g, REDACTED],
  [/\bv1=[0-9a-f]{64}\b/gi, `v1=${REDACTED}`],
  [/\bLPA:[^\s"'\\]+/gi, `LPA:${REDACTED}`],
  [/\b1\$[A-Za-z0-9.-]{3,253}\$[A-Za-z0-9-]*/g, REDACTED],
  [/([a-z][a-z0-9+.-]{0,30}:\/\/[^\s:/@"']{0,200}):[^\s/"']{1,500}@/gi, `$1:${REDACTED}@`],
  [new RegExp(String.raw`(${QUOTE})(${TEXT_NAME})\1(\s{0,8}:\s{0,8})(?:${FIELD_VALUE})`, 'gi'), `$1$2$1$3${REDACTED}`],
  [new RegExp(String.raw`\b(${TEXT_NAME})=[^\s&"'\\,;]+`, 'gi'), `$1=${REDACTED}`],
  // An IMEI has 14 to 16 digits. Our ids contain letters, epoch milliseconds have 13 digits, an ICCID has 18 or more.
  [/(?<![0-9A-Za-z])[0-9]{14,16}(?![0-9A-Za-z])/g, REDACTED],
];

export interface Redactor {
  text(text: string): string;
  /** A plain copy. Never throws. */
  value(value: unknown): unknown;
  message(error: Error): string;
}

/** Deeper values, longer lists and longer texts are cut. */
const MAX_DEPTH = 8;
const MAX_ITEMS = 100;
const MAX_TEXT = 8_000;

/** Harmless texts that need not be searched again. */
const MAX_KEPT_TEXTS = 1_000;
const MAX_KEPT_TEXT = 100;

const MIN_KNOWN_SECRET = 6;

/** @param knownSecrets must not appear anywhere. */
export function createRedactor(knownSecrets: readonly string[] = []): Redactor {
  const known = knownSecrets.filter((secret) => secret.length >= MIN_KNOWN_SECRET);
  // Sentences come again in every line. A secret is not kept: its text would change.
  const harmless = new Set<string>();
  const text = (raw: string) => {
    if (harmless.has(raw)) return raw;
    const redacted = redactText(raw, known);
    if (redacted === raw && raw.length <= MAX_KEPT_TEXT) {
      if (harmless.size >= MAX_KEPT_TEXTS) harmless.clear();
      harmless.add(raw);
    }
    return redacted;
  };
  return {
    text,
    value: (value) => redactValue(value, text, new Set(), 0),
    message: (error) => text(safeMessage(error)),
  };
}

function redactText(raw: string, known: readonly string[]): string {
  // Cut twice. The first cut limits the time and may split a secret; the second one removes that end.
  let text = withoutQueryParameters(raw.slice(0, 4 * MAX_TEXT));
  for (const secret of known) text = text.replaceAll(secret, REDACTED);
  for (const [pattern, replacement] of SHAPES) text = text.replace(pattern, replacement);
  return text.length > MAX_TEXT ? `${text.slice(0, MAX_TEXT)}…` : text;
}

/** drizzle appends the parameters of a failed query to its message, and messages are passed on through Temporal. */
function withoutQueryParameters(text: string): string {
  const query = text.indexOf('Failed query: ');
  const parameters = query < 0 ? -1 : text.indexOf('\nparams:', query);
  return parameters < 0 ? text : `${text.slice(0, parameters)} (parameters ${REDACTED})`;
}

type RedactText = (text: string) => string;

function redactValue(value: unknown, text: RedactText, ancestors: Set<object>, depth: number): unknown {
  switch (typeof value) {
    case 'string':
      return text(value);
    case 'bigint':
    case 'symbol':
      return text(String(value));
    case 'function':
      return '[function]';
    case 'object':
      break;
    default:
      return value;
  }
  if (value === null) return null;
  if (ancestors.has(value)) return '[circular]';
  if (depth >= MAX_DEPTH) return '[deeper]';
  ancestors.add(value);
  try {
    return redactObject(value, text, ancestors, depth);
  } catch {
    return '[unreadable]';
  } finally {
    ancestors.delete(value);
  }
}

function redactObject(value: object, text: RedactText, ancestors: Set<object>, depth: number): unknown {
  const inner = (item: unknown) => redactValue(item, text, ancestors, depth + 1);
  if (value instanceof Error) return redactError(value, text, inner);
  if (ArrayBuffer.isView(value) || value instanceof ArrayBuffer) return `[${value.byteLength} bytes]`;
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? 'invalid date' : value.toISOString();
  if (value instanceof URL || value instanceof RegExp) return text(String(value));
  if (value instanceof Map) return redactEntries(value.entries(), text, inner);
  if (Array.isArray(value) || value instanceof Set) return redactList([...value], inner);
  if (hasToJson(value)) return inner(value.toJSON());
  return redactEntries(Object.entries(value), text, inner);
}

function hasToJson(value: object): value is { toJSON: () => unknown } {
  return 'toJSON' in value && typeof value.toJSON === 'function';
}

function redactList(items: readonly unknown[], inner: (item: unknown) => unknown): unknown[] {
  const shown = items.slice(0, MAX_ITEMS).map((item) => inner(item));
  return items.length > MAX_ITEMS ? [...shown, `[${items.length - MAX_ITEMS} more]`] : shown;
}

function redactEntries(
  entries: Iterable<[unknown, unknown]>,
  text: RedactText,
  inner: (item: unknown) => unknown,
): Record<string, unknown> {
  const shown: [string, unknown][] = [];
  for (const [key, item] of entries) {
    if (shown.length === MAX_ITEMS) {
      shown.push(['…', 'more']);
      break;
    }
    const name = String(key);
    shown.push([text(name), isSecretName(name) ? redactWhole(item) : inner(item)]);
  }
  return Object.fromEntries(shown);
}

/** Null, undefined and flags contain no secret. */
function redactWhole(value: unknown): unknown {
  return value === null || value === undefined || typeof value === 'boolean' ? value : REDACTED;
}

/** Other fields may contain customer data: bodies, query parameters, the `detail` of PostgreSQL, which quotes rows. */
const ERROR_FIELDS = [
  'code',
  'errno',
  'syscall',
  'address',
  'port',
  'status',
  'statusCode',
  'severity',
  'schema',
  'table',
  'column',
  'constraint',
  'type',
  'failureClass',
  'nonRetryable',
] as const;

function redactError(error: Error, text: RedactText, inner: (value: unknown) => unknown): Record<string, unknown> {
  const shown: Record<string, unknown> = { name: text(nameOf(error)), message: text(safeMessage(error)) };
  for (const field of ERROR_FIELDS) {
    const value: unknown = field in error ? error[field as keyof typeof error] : undefined;
    if (['string', 'number', 'boolean'].includes(typeof value)) shown[field] = inner(value);
  }
  shown['stack'] = text(stackFrames(error));
  if (error.cause !== undefined) shown['cause'] = inner(error.cause);
  if (error instanceof AggregateError) shown['errors'] = inner(error.errors);
  return shown;
}

/** PostgreSQL quotes values that it could not read (SQLSTATE class 22), `JSON.parse` quotes the text. */
function safeMessage(error: Error): string {
  if (error instanceof SyntaxError && error.message.includes('JSON')) return 'not valid JSON';
  if ('severity' in error && 'code' in error && String(error.code).startsWith('22')) {
    return error.message.replaceAll(/"[^"]*"/g, `"${REDACTED}"`);
  }
  return error.message;
}

function nameOf(error: Error): string {
  return error.name === 'Error' ? error.constructor.name : error.name;
}

/** The head of a stack repeats the original message. */
function stackFrames(error: Error): string {
  const stack = error.stack ?? '';
  const afterMessage = stack.lastIndexOf(error.message) + error.message.length;
  const frames = stack.includes(error.message) ? stack.slice(afterMessage) : stack;
  return frames
    .split('\n')
    .filter((line) => /^ {2,}at \S/.test(line))
    .join('\n');
}
