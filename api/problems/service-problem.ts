import type { ProblemCode } from '#api/problems/problem-catalogue.ts';
import { Problem } from '#api/problems/problem.ts';
import type { FailureClass } from '#domain/work/failure.ts';
import type { OptionalResult } from '#upstream/client.ts';
import type { ServiceFailure, ServiceResult } from '#upstream/client/error-mapping.ts';

/** Where the service names no time: long enough not to hammer it, short enough for a caller that waits. */
const RETRY_SECONDS = 5;

/** Failures answered with 503: the call did not happen, or the condition passes. Other failures are 502. */
const UNAVAILABLE: ReadonlySet<FailureClass> = new Set(['not_sent', 'rate_limited', 'unauthorized', 'not_approved']);

/** @returns what the service answered. @throws Problem service_timeout, service_unavailable, service_failed */
export function valueOf<Value>(result: ServiceResult<Value>): Value {
  if (result.ok) return result.value;
  throw problemOf(result);
}

/** As {@link valueOf}, of a call that the service may lack. @throws Problem service_does_not_offer, besides. */
export function optionalValueOf<Value>(result: OptionalResult<Value>): Value {
  if (result.ok || result.kind === 'failure') return valueOf(result);
  throw new Problem('service_does_not_offer', { detail: `It is taken to lack ${result.capability}.` });
}

/** @param detail what is to be said instead of the failure's own sentence. */
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
