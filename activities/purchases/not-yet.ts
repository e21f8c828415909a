import type { FailureClass } from '#domain/work/failure.ts';
import type { ServiceFailure } from '#upstream/client/error-mapping.ts';

/**
 * Why a purchase cannot be completed yet: a failure of the service, or something that it does not show yet.
 * `not_filled`: the service calls it completed, and a fact of the delivery has no value so far.
 */
export type NotYetReason = FailureClass | 'not_listed' | 'not_filled' | 'refund_not_in_wallet';

/** Thrown while a purchase is completed: the workflow waits and tries again. */
export class NotYetError extends Error {
  readonly reason: NotYetReason;
  /** Wait that the service asked for, in milliseconds. */
  readonly retryAfterMs: number | undefined;

  constructor(reason: NotYetReason, detail: string, retryAfterMs?: number) {
    super(detail);
    this.name = 'NotYetError';
    this.reason = reason;
    this.retryAfterMs = retryAfterMs;
  }
}

/** The service did not answer. */
export function notAnswered({
  failure,
  detail,
  retryAfterMs,
}: Pick<ServiceFailure, 'failure' | 'detail' | 'retryAfterMs'>): NotYetError {
  return new NotYetError(failure, detail, retryAfterMs);
}
