import { isGrpcServiceError } from '@temporalio/client';

/** The gRPC status codes that we handle. */
export const GRPC_STATUS = {
  cancelled: 1,
  invalidArgument: 3,
  deadlineExceeded: 4,
  notFound: 5,
  alreadyExists: 6,
  permissionDenied: 7,
  resourceExhausted: 8,
  failedPrecondition: 9,
  unavailable: 14,
  unauthenticated: 16,
} as const;

const { cancelled, deadlineExceeded, resourceExhausted, unavailable } = GRPC_STATUS;
const PASSING: ReadonlySet<number> = new Set([cancelled, deadlineExceeded, resourceExhausted, unavailable]);

/**
 * Whether the same call may succeed a moment later.
 *
 * @param error an error of gRPC, or one of Temporal's client with it as its cause.
 */
export function isPassing(error: unknown): boolean {
  const status = statusBehind(error);
  return status !== undefined && PASSING.has(status);
}

/**
 * Whether a query failed because no worker can answer it: none has polled the task queue for some time, or those of the
 * run's version have ended. The server has no status of its own for it, only these texts.
 *
 * @param error an error of gRPC, or one of Temporal's client with it as its cause.
 */
export function isUnanswered(error: unknown): boolean {
  const cause = isGrpcServiceError(error) ? error : error instanceof Error ? error.cause : undefined;
  return (
    isGrpcServiceError(cause) &&
    grpcStatus(cause) === GRPC_STATUS.failedPrecondition &&
    /\bno pollers?\b/.test(cause.details || cause.message)
  );
}

/** As {@link grpcStatus}, also of an error of Temporal's client with an error of gRPC as its cause. */
export function statusBehind(error: unknown): number | undefined {
  return grpcStatus(error) ?? (error instanceof Error ? grpcStatus(error.cause) : undefined);
}

/** The gRPC status of an error of Temporal's server; undefined for any other error. */
export function grpcStatus(error: unknown): number | undefined {
  return isGrpcServiceError(error) ? error.code : undefined;
}
