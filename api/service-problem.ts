import type { FailureClass } from '#domain/failure.ts';
import type { ServiceFailure, ServiceResult } from '#upstream/error-mapping.ts';
import { Problem, type ProblemCode } from '#api/problem.ts';

/** Where the service names no time: long enough not to hammer it, short enough for a caller that waits. */
const RETRY_SECONDS = 5;

/** What did not happen, or passes by itself, is 503; what came back and cannot be used is 502. */
const UNAVAILABLE: ReadonlySet<FailureClass> = new Set(['not_sent', 'rate_limited', 'unauthorized', 'not_approved']);

/** @returns what the service answered. @throws Problem service_timeout, service_unavailable, service_failed */
export function valueOf<Value>(result: ServiceResult<Value>): Value {
  if (result.ok) return result.value;
  throw new Problem(codeOf(result.failure), {
    detail: result.detail,
    extra: { failure_class: result.failure },
    headers: { 'Retry-After': String(retryAfterSeconds(result)) },
  });
}

function codeOf(failure: FailureClass): ProblemCode {
  if (failure === 'timeout') return 'service_timeout';
  return UNAVAILABLE.has(failure) ? 'service_unavailable' : 'service_failed';
}

function retryAfterSeconds({ retryAfterMs }: ServiceFailure): number {
  return retryAfterMs === undefined ? RETRY_SECONDS : Math.max(1, Math.ceil(retryAfterMs / 1_000));
}
