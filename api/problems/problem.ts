import * as z from 'zod';
import { nounWithArticle } from '#api/fields/fields.ts';
import { type ProblemCode, problemCodes, PROBLEMS } from '#api/problems/problem-catalogue.ts';
import { counted } from '#domain/text.ts';
import type { FailureClass } from '#domain/work/failure.ts';
import { ID_PREFIXES, type IdKind, idKindOf, isId } from '#domain/work/identifiers.ts';
import type { OptionalResult } from '#upstream/client.ts';
import type { ServiceFailure, ServiceResult } from '#upstream/client/error-mapping.ts';

/** The message never contains the value. */
export interface FieldError {
  readonly in: 'body' | 'query' | 'path' | 'header';
  /** Dotted path, such as `max_price.amount`; empty for the whole body. */
  readonly field: string;
  readonly message: string;
}

export class Problem extends Error {
  readonly code: ProblemCode;
  readonly detail: string | undefined;
  readonly errors: readonly FieldError[] | undefined;
  readonly headers: Readonly<Record<string, string>>;
  readonly extra: Readonly<Record<string, unknown>>;

  constructor(
    code: ProblemCode,
    options: {
      /** Never contains personal data. */
      readonly detail?: string;
      readonly errors?: readonly FieldError[];
      readonly headers?: Readonly<Record<string, string>>;
      readonly extra?: Readonly<Record<string, unknown>>;
      readonly cause?: unknown;
    } = {},
  ) {
    super(options.detail ?? PROBLEMS[code].title, { cause: options.cause });
    this.name = 'Problem';
    this.code = code;
    this.detail = options.detail;
    this.errors = options.errors;
    this.headers = options.headers ?? {};
    this.extra = options.extra ?? {};
  }

  get status(): number {
    return PROBLEMS[this.code].status;
  }
}

export function problemPath(code: ProblemCode): `/problems/${string}` {
  return `/problems/${code.replaceAll('_', '-')}`;
}

export function problemType(code: ProblemCode, publicUrl: string): string {
  return `${publicUrl}${problemPath(code)}`;
}

/** Accepts the code itself, too. */
export function codeOfProblemPage(name: string): ProblemCode | undefined {
  return problemCodes.find((code) => code === name || problemPath(code) === `/problems/${name}`);
}

export function problemBody(problem: Problem, requestId: string, publicUrl: string): Record<string, unknown> {
  return {
    type: problemType(problem.code, publicUrl),
    code: problem.code,
    title: PROBLEMS[problem.code].title,
    status: problem.status,
    detail: problem.detail ?? `${PROBLEMS[problem.code].title}. ${PROBLEMS[problem.code].advice}`,
    ...(problem.errors === undefined ? {} : { errors: problem.errors }),
    ...problem.extra,
    request_id: requestId,
  };
}

/** Used when the service gives no time. */
const RETRY_SECONDS = 5;

/** Answered with 503: the call did not happen, or the condition passes. Other failures are 502. */
const UNAVAILABLE: ReadonlySet<FailureClass> = new Set(['not_sent', 'rate_limited', 'unauthorized', 'not_approved']);

/** @throws Problem service_timeout, service_unavailable, service_failed */
export function valueOf<Value>(result: ServiceResult<Value>): Value {
  if (result.ok) return result.value;
  throw problemOf(result);
}

/** @throws Problem service_does_not_offer, and those of {@link valueOf} */
export function optionalValueOf<Value>(result: OptionalResult<Value>): Value {
  if (result.ok || result.kind === 'failure') return valueOf(result);
  throw new Problem('service_does_not_offer', {
    detail: `SERVICE_MISSING_CAPABILITIES switches ${result.capability} off.`,
  });
}

export function problemOf(failure: ServiceFailure, detail: string = failure.detail): Problem {
  const { retryAfterMs } = failure;
  const seconds = retryAfterMs === undefined ? RETRY_SECONDS : Math.max(1, Math.ceil(retryAfterMs / 1_000));
  return new Problem(codeOf(failure.failure), {
    detail,
    extra: { failure_class: failure.failure },
    headers: { 'Retry-After': String(seconds) },
  });
}

function codeOf(failure: FailureClass): ProblemCode {
  if (failure === 'timeout') return 'service_timeout';
  return UNAVAILABLE.has(failure) ? 'service_unavailable' : 'service_failed';
}

/** @throws Problem when it was not found. */
export function requireFound<Found>(found: Found | undefined, code: ProblemCode): Found {
  if (found === undefined) throw new Problem(code);
  return found;
}

/** Made once: zod compiles a schema at its first use, which takes longer than the rest of a read. */
const pathWithId = z.object({ id: z.string() });

/** Before any query. @throws Problem when the id in the path has the form of no id of its kind. */
export function requireIdForm(params: z.ZodObject | undefined, path: unknown): void {
  const kind = kindOfId(params);
  if (kind === undefined || isId(kind, pathWithId.parse(path).id)) return;
  throw new Problem(missingCodeOf(params) ?? 'route_not_found');
}

/** The code of an unknown id in the path. */
export function missingCodeOf(params: z.ZodObject | undefined): ProblemCode | undefined {
  const code = `${kindOfId(params)?.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)}_not_found`;
  return problemCodes.find((each) => each === code);
}

/** Adds to a 404 what kind of id the path contains. It never contains the id. */
export function explainMissing(error: unknown, params: z.ZodObject | undefined, path: unknown): unknown {
  if (!(error instanceof Problem) || PROBLEMS[error.code].status !== 404 || error.detail !== undefined) return error;
  const kind = kindOfId(params);
  const given = pathWithId.safeParse(path).data?.id;
  if (kind === undefined || given === undefined) return error;
  return new Problem(error.code, { detail: explanation(kind, given), headers: error.headers, extra: error.extra });
}

function explanation(kind: IdKind, given: string): string {
  const takes = `This call takes the id of ${nounWithArticle(kind)}, which begins with \`${ID_PREFIXES[kind]}_\`.`;
  const found = idKindOf(given);
  if (found === kind)
    return `The id has the right form, but there is no such resource, or this API key may not see it.`;
  if (found !== undefined) return `The path contains the id of ${nounWithArticle(found)}. ${takes}`;
  if (given.startsWith(`${ID_PREFIXES[kind]}_`)) return `The id in the path is not complete. ${takes}`;
  return `The path contains none of our ids. ${takes}`;
}

function kindOfId(params: z.ZodObject | undefined): IdKind | undefined {
  const id: unknown = params?.shape['id'];
  const kind = id instanceof z.ZodType ? id.meta()?.['x-kind'] : undefined;
  return typeof kind === 'string' && kind in ID_PREFIXES ? (kind as IdKind) : undefined;
}

export function invalid(errors: readonly FieldError[]): Problem {
  return fieldProblem('validation_failed', errors);
}

export function fieldProblem(
  code: ProblemCode,
  errors: readonly FieldError[],
  extra: Readonly<Record<string, unknown>> = {},
): Problem {
  const [first] = errors;
  const more = errors.length - 1;
  const rest = more < 1 ? '' : ` ${counted(more, 'more error is', 'more errors are')} in \`errors\`.`;
  return new Problem(code, { ...(first !== undefined && { detail: `${sentenceOf(first)}${rest}` }), errors, extra });
}

export const PLACES = { body: 'field', query: 'parameter', path: 'parameter', header: 'header' } as const;

function sentenceOf({ in: where, field, message }: FieldError): string {
  const subject = field === '' ? `The ${where}` : `The ${PLACES[where]} \`${field}\``;
  return `${subject} ${message}${/[.?]$/.test(message) ? '' : '.'}`;
}
