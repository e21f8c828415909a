import type { ProblemCode } from '#api/problems/problem-catalogue.ts';
import { Problem } from '#api/problems/problem.ts';
import type { FailureClass } from '#domain/work/failure.ts';
import type { OptionalResult } from '#upstream/client.ts';
import type { ServiceFailure, ServiceResult } from '#upstream/client/error-mapping.ts';

/** Retry-After if the service gives no time, in seconds. */
const RETRY_SECONDS = 5;

/** Failures answered with 503: the call did not happen, or the condition passes. Other failures are 502. */
const UNAVAILABLE: ReadonlySet<FailureClass> = new Set(['not_sent', 'rate_limited', 'unauthorized', 'not_approved']);

/** @returns the answer of the service. @throws Problem service_timeout, service_unavailable, service_failed */
export function valueOf<Value>(result: ServiceResult<Value>): Value {
  if (result.ok) return result.value;
  throw problemOf(result);
}

/** {@link valueOf} for a call that the service may lack. @throws also Problem service_does_not_offer. */
export function optionalValueOf<Value>(result: OptionalResult<Value>): Value {
  if (result.ok || result.kind === 'failure') return valueOf(result);
  throw new Problem('service_does_not_offer', {
    detail: `SERVICE_MISSING_CAPABILITIES switches ${result.capability} off.`,
  });
}

/** @param detail replaces the failure's own sentence. */
export function problemOf(failure: ServiceFailure, detail: string = failure.detail): Problem {
  return new Problem(codeOf(failure.failure), {
    detail,
    extra: { failure_class: failure.failure },
    headers: { 'Retry-After': String(retryAfterSeconds(failure)) },
  });
}

function codeOf(failure: FailureClass): ProblemCode {
  if (failure === 'timeout') return 'service_timeout';
  return UNAVAILABLE.has(failure) ? 'service_unavailable' : 'service_failed';
}

function retryAfterSeconds({ retryAfterMs }: ServiceFailure): number {
  return retryAfterMs === undefined ? RETRY_SECONDS : Math.max(1, Math.ceil(retryAfterMs / 1_000));
}
