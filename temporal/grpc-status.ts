import { isGrpcServiceError } from '@temporalio/client';

/** The status codes of gRPC that we act on. */
export const GRPC_STATUS = {
  cancelled: 1,
  deadlineExceeded: 4,
  notFound: 5,
  alreadyExists: 6,
  permissionDenied: 7,
  resourceExhausted: 8,
  unavailable: 14,
  unauthenticated: 16,
} as const;

const { cancelled, deadlineExceeded, resourceExhausted, unavailable } = GRPC_STATUS;
const PASSING: ReadonlySet<number> = new Set([cancelled, deadlineExceeded, resourceExhausted, unavailable]);

/**
 * True when the same call may succeed a moment later. @param error of a client, which has that of gRPC as its cause, or
 * the latter itself.
 */
export function isPassing(error: unknown): boolean {
  const status = grpcStatus(error) ?? (error instanceof Error ? grpcStatus(error.cause) : undefined);
  return status !== undefined && PASSING.has(status);
}

/** The gRPC status of an error of Temporal's server; undefined for any other error. */
export function grpcStatus(error: unknown): number | undefined {
  return isGrpcServiceError(error) ? error.code : undefined;
}
