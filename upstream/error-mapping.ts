import type * as z from 'zod';
import type { FailureClass } from '#domain/failure.ts';
import {
  loginRequest,
  orderRequest,
  SERVICE_ERROR_CODES,
  serviceErrorBody,
  simulationRequest,
  topupRequest,
  updateQuery,
  vpnOrderRequest,
  type ServiceErrorCode,
} from '#upstream/contract.ts';
import type { HttpAnswer, HttpResult } from '#upstream/http.ts';
import { readJson } from '#upstream/json.ts';
import { retryAfterMs } from '#domain/retry-after.ts';

/** A call that did not give what was asked for. */
export interface ServiceFailure {
  readonly ok: false;
  readonly kind: 'failure';
  readonly failure: FailureClass;
  /** A sentence for the reader. Made of our own words, codes and names of the contract only: nothing personal. */
  readonly detail: string;
  /** Milliseconds that the service asks us to wait. */
  readonly retryAfterMs?: number;
  /** HTTP status, where there was one. */
  readonly status?: number;
  /** Error code of the service, where it named one that we know. */
  readonly code?: ServiceErrorCode;
}

export interface ServiceSuccess<Value> {
  readonly ok: true;
  readonly value: Value;
  readonly status: number;
}

export type ServiceResult<Value> = ServiceSuccess<Value> | ServiceFailure;

/** What a readable answer must be. */
export interface Expectation<Schema extends z.ZodType> {
  readonly schema: Schema;
  /** @returns what contradicts our request, as a sentence; undefined when nothing does. */
  readonly contradiction?: (value: z.output<Schema>) => string | undefined;
}

/**
 * The one mapping from what came back to success or a member of the failure catalogue. Total: every status, header,
 * body and way to get no answer has its class, and it never throws. What is not listed is unknown.
 *
 * @param now epoch milliseconds, for a Retry-After that is a date.
 */
export function judgeResult<Schema extends z.ZodType>(
  result: HttpResult,
  expected: Expectation<Schema>,
  now: number,
): ServiceResult<z.output<Schema>> {
  if (result.kind === 'no_answer') {
    return { ok: false, kind: 'failure', failure: result.failure, detail: `${capitalized(result.reason)}.` };
  }
  const { answer } = result;
  if (answer.status >= 200 && answer.status <= 299) return judgeSuccess(answer, expected);

  const named = readErrorBody(answer);
  const failure = classOf(answer.status, named.code);
  const wait = retryAfterMs(answer.headers['retry-after'], now);
  return {
    ok: false,
    kind: 'failure',
    failure,
    detail: describe(answer.status, named),
    status: answer.status,
    ...(named.code === undefined ? {} : { code: named.code }),
    ...(wait === undefined ? {} : { retryAfterMs: wait }),
  };
}

function classOf(status: number, code: ServiceErrorCode | undefined): FailureClass {
  if (status >= 500 && status <= 599) return 'server_error';
  if (status < 400 || status > 499) return 'unreadable_answer';
  // Whatever status it comes with, "known already" means: look it up. The reverse mistake would buy twice.
  if (status === 409 || (code !== undefined && KNOWN_ALREADY.has(code))) return 'key_or_reference_known';
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
    // A proxy or a wrong address answers these as well; only the service's own words make them definite.
    case 404:
    case 405:
      return code === undefined ? 'unreadable_answer' : classOf(422, code);
    case 400:
    case 413:
    case 415:
    case 422:
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

const KNOWN_ALREADY: ReadonlySet<ServiceErrorCode> = new Set([
  'already_cancelled',
  // What is under way for the eSIM may be what an earlier send of ours began.
  'esim_busy',
  'idempotency_key_in_use',
  'idempotency_key_reused',
  'reference_exists',
  'webhook_secret_exists',
]);

function judgeSuccess<Schema extends z.ZodType>(
  answer: HttpAnswer,
  expected: Expectation<Schema>,
): ServiceResult<z.output<Schema>> {
  const { status } = answer;
  const failed = (failure: FailureClass, detail: string): ServiceFailure => ({
    ok: false,
    kind: 'failure',
    failure,
    detail: `The service answered ${status}, but ${detail}.`,
    status,
  });
  if (isEncoded(answer)) return failed('unreadable_answer', 'with a content encoding that was not asked for');
  const json = readJson(answer.body);
  if (!json.ok) return failed('unreadable_answer', UNREADABLE[json.reason]);
  const parsed = expected.schema.safeParse(json.value);
  if (!parsed.success) return failed('contract_drift', `its body lacks or misstates ${fieldsOf(parsed.error)}`);
  const contradiction = expected.contradiction?.(parsed.data);
  if (contradiction !== undefined) return failed('contract_drift', contradiction);
  return { ok: true, value: parsed.data, status };
}

const UNREADABLE = {
  not_utf8: 'its body is not UTF-8',
  not_json: 'its body is not JSON',
  duplicate_key: 'its body names a field twice',
} as const;

/** Paths come from the contract's schemas, which have no free keys in answers; long lists are cut. */
function fieldsOf(error: z.ZodError): string {
  const paths = [...new Set(error.issues.map((issue) => issue.path.map(String).join('.') || 'the object itself'))];
  return paths.length <= 5 ? paths.join(', ') : `${paths.slice(0, 5).join(', ')} and ${paths.length - 5} more`;
}

interface NamedError {
  readonly code?: ServiceErrorCode;
  /** Names of our own request fields that the service complains of. */
  readonly fields: readonly string[];
}

const NOTHING_NAMED: NamedError = { fields: [] };
const CODES: ReadonlySet<string> = new Set(SERVICE_ERROR_CODES);
const REQUEST_FIELDS = [
  ...new Set(
    [loginRequest, orderRequest, topupRequest, vpnOrderRequest, simulationRequest, updateQuery].flatMap(({ shape }) =>
      Object.keys(shape),
    ),
  ),
];

/** Takes only what we know by name from an error body: anything else may repeat what we sent. */
function readErrorBody(answer: HttpAnswer): NamedError {
  if (isEncoded(answer)) return NOTHING_NAMED;
  const json = readJson(answer.body);
  const parsed = json.ok ? serviceErrorBody.safeParse(json.value) : undefined;
  if (parsed === undefined || !parsed.success) return NOTHING_NAMED;
  const { code, fields = {} } = parsed.data.error;
  return {
    ...(CODES.has(code) ? { code: code as ServiceErrorCode } : {}),
    fields: REQUEST_FIELDS.filter((name) => Object.hasOwn(fields, name)),
  };
}

function describe(status: number, named: NamedError): string {
  const code = named.code === undefined ? '' : ` (${named.code})`;
  const fields = named.fields.length === 0 ? '' : `, about ${named.fields.join(', ')}`;
  return `The service answered ${status}${code}${fields}.`;
}

function isEncoded(answer: HttpAnswer): boolean {
  const encoding = answer.headers['content-encoding'];
  return encoding !== undefined && String(encoding).trim().toLowerCase() !== 'identity';
}

function capitalized(clause: string): string {
  return clause.charAt(0).toUpperCase() + clause.slice(1);
}
