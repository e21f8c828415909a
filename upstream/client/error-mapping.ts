import { retryAfterMs } from '#domain/retry/retry-after.ts';
import { capitalized } from '#domain/text.ts';
import type { FailureClass } from '#domain/work/failure.ts';
import { foreignText, quoted } from '#domain/work/foreign-text.ts';
import { isFormOf } from '#domain/work/identifiers.ts';
import type { HttpAnswer, HttpResult } from '#upstream/client/http.ts';
import { readServiceJson } from '#upstream/client/json.ts';
import { readErrorBody, type NamedError, type ServiceErrorCode } from '#upstream/contract.ts';

export interface ServiceFailure {
  readonly ok: false;
  readonly kind: 'failure';
  readonly failure: FailureClass;
  /** For operators: our own words, codes and names of the contract, and {@link serviceMessage}. No personal data. */
  readonly detail: string;
  /** Foreign text, made safe by `foreignText`. */
  readonly serviceMessage?: string;
  readonly retryAfterMs?: number;
  readonly status?: number;
  readonly code?: ServiceErrorCode;
  /** `contract_drift` in an answer that names what was sent: it is about our purchase. */
  readonly isOurs?: true;
}

export function failed(
  failure: FailureClass,
  detail: string,
  more: Partial<Omit<ServiceFailure, 'failure' | 'detail'>> = {},
): ServiceFailure {
  return { ok: false, kind: 'failure', failure, detail, ...more };
}

interface ServiceSuccess<Value> {
  readonly ok: true;
  readonly value: Value;
  readonly status: number;
  readonly unused?: Unused;
  /** Fields that name what we sent in another form; absent when there is none. */
  readonly differing?: readonly string[];
}

/** Parts that were read as absent, because they are not needed and could not be used. */
export interface Unused {
  readonly fields: readonly string[];
  readonly items: number;
}

export type ServiceResult<Value> = ServiceSuccess<Value> | ServiceFailure;

export type BodyResult<Value> =
  | { readonly ok: true; readonly value: Value; readonly unused?: Unused }
  | { readonly ok: false; readonly problem: string };

interface Expectation<Value> {
  readonly read: (body: unknown, linkHeader: string | undefined) => BodyResult<Value>;
  readonly match?: Match<Value> | undefined;
  readonly names?: string | undefined;
  /** The message of an error must not repeat its values. */
  readonly sent?: Buffer | undefined;
}

export type Match<Value> = (value: Value) => Matching;

interface Matching {
  /** A clause; absent when the answer does not contradict the request. */
  readonly contradiction?: string;
  readonly differing?: readonly string[];
}

/** Total, never throws: every status, header, body and transport failure has a class; what is not listed is unknown. */
export function judgeResult<Value>(
  result: HttpResult,
  expected: Expectation<Value>,
  now: number,
): ServiceResult<Value> {
  if (result.kind === 'no_answer') return failed(result.failure, `${capitalized(result.reason)}.`);
  const { answer } = result;
  if (answer.status >= 200 && answer.status <= 299) return judgeSuccess(answer, expected);

  const { message, ...named } = namedIn(answer);
  const serviceMessage = message === undefined ? undefined : foreignText(message, valuesIn(expected.sent));
  const wait = retryAfterMs(answer.headers['retry-after'], now);
  return failed(classOf(answer.status, named), describe(answer.status, named, serviceMessage), {
    ...(serviceMessage === undefined ? {} : { serviceMessage }),
    status: answer.status,
    ...(named.code === undefined ? {} : { code: named.code }),
    ...(wait === undefined ? {} : { retryAfterMs: wait }),
  });
}

function classOf(status: number, { code, isKnownAlready }: Omit<NamedError, 'fields'>): FailureClass {
  if (status >= 500 && status <= 599) return 'server_error';
  if (status < 400 || status > 499) return 'unreadable_answer';
  // "Known already" leads to a look-up, whatever its status. Read as a definite failure it would buy twice.
  if (status === 409 || (code !== undefined && KNOWN_ALREADY.has(code))) return 'key_or_reference_used';
  switch (status) {
    case 401:
      return 'unauthorized';
    case 402:
      return 'insufficient_balance';
    case 403:
      return code === 'insufficient_balance' ? code : 'not_approved';
    case 408:
      return 'timeout';
    // 425: "unwilling to risk processing a request that might be replayed" (RFC 8470), so it was not processed.
    case 425:
    case 429:
      return 'rate_limited';
    // Proxies and wrong addresses answer so, too. Only an error code of the service makes it definite.
    case 404:
    case 405:
      return code === undefined ? 'unreadable_answer' : classOf(422, { code, isKnownAlready });
    case 400:
    case 413:
    case 415:
    case 422:
      if (isKnownAlready && (code === undefined || SAYS_ONLY_INVALID.has(code))) return 'key_or_reference_used';
      return code === undefined ? 'invalid_request' : (CLASSES_OF_CODES.get(code) ?? 'invalid_request');
    default:
      return 'unreadable_answer';
  }
}

const CLASSES_OF_CODES: ReadonlyMap<ServiceErrorCode, FailureClass> = new Map([
  ['cancellation_refused', 'cancellation_refused'],
  ['insufficient_balance', 'insufficient_balance'],
  ['package_unavailable', 'package_unavailable'],
  ['plan_unavailable', 'package_unavailable'],
]);

/** Codes that do not say what is wrong. */
const SAYS_ONLY_INVALID: ReadonlySet<ServiceErrorCode> = new Set(['malformed_request', 'validation_failed']);

const KNOWN_ALREADY: ReadonlySet<ServiceErrorCode> = new Set([
  'already_cancelled',
  // The operation under way for the eSIM may come from an earlier send of ours.
  'esim_busy',
  'idempotency_key_in_use',
  'idempotency_key_reused',
  'reference_exists',
  'webhook_secret_exists',
]);

function judgeSuccess<Value>(answer: HttpAnswer, { read, match, names }: Expectation<Value>): ServiceResult<Value> {
  const { status } = answer;
  const detail = (problem: string) => `The service answered ${status}, but ${problem}.`;
  const unreadable = (problem: string) => failed('unreadable_answer', detail(problem), { status });
  if (isEncoded(answer)) return unreadable('with a content encoding that was not requested');
  const json = readServiceJson(answer.body);
  if (!json.ok) return unreadable(UNREADABLE[json.reason]);
  const { link } = answer.headers;
  const reading = read(json.value, link === undefined ? undefined : String(link));
  const isOurs = names !== undefined && contains(json.value, names);
  const drift = (problem: string) => failed('contract_drift', detail(problem), { status, ...(isOurs && { isOurs }) });
  if (!reading.ok) return drift(reading.problem);
  const { value, unused } = reading;
  const { contradiction, differing = [] } = match?.(value) ?? {};
  if (contradiction !== undefined) return drift(contradiction);
  return {
    ok: true,
    value,
    status,
    ...(unused === undefined ? {} : { unused }),
    ...(differing.length === 0 ? {} : { differing }),
  };
}

/** Looks in any field, form and surrounding text. `readJson` limits the depth. */
function contains(body: unknown, name: string): boolean {
  if (typeof body === 'object' && body !== null) return Object.values(body).some((value) => contains(value, name));
  if (typeof body === 'number') return isFormOf(name, String(body));
  return typeof body === 'string' && (isFormOf(name, body) || (name.length >= LONG_NAME && body.includes(name)));
}

/** A shorter name may be part of another text by chance. */
const LONG_NAME = 8;

const UNREADABLE = {
  not_utf8: 'its body is not UTF-8',
  not_json: 'its body is not JSON',
  duplicate_key: 'its body names a field twice',
  too_deep: 'its body is nested too deeply',
} as const;

const NOTHING_NAMED: NamedError = { fields: [], isKnownAlready: false };

/** Numbers are excepted: the id of a package is not personal. */
function valuesIn(body: Buffer | undefined): readonly string[] {
  const json = body === undefined ? undefined : readServiceJson(body);
  return json?.ok === true ? textsIn(json.value) : [];
}

function textsIn(value: unknown): readonly string[] {
  if (typeof value === 'string') return [value];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsIn) : [];
}

function namedIn(answer: HttpAnswer): NamedError {
  if (isEncoded(answer)) return NOTHING_NAMED;
  const json = readServiceJson(answer.body);
  return json.ok ? readErrorBody(json.value) : NOTHING_NAMED;
}

function describe(status: number, named: NamedError, message: string | undefined): string {
  const code = named.code === undefined ? '' : ` (${named.code})`;
  const fields = named.fields.length === 0 ? '' : `, about ${named.fields.join(', ')}`;
  const said = message === undefined ? '.' : `: ${quoted(message)}`;
  return `The service answered ${status}${code}${fields}${said}`;
}

function isEncoded(answer: HttpAnswer): boolean {
  const encoding = answer.headers['content-encoding'];
  return encoding !== undefined && String(encoding).trim().toLowerCase() !== 'identity';
}
