import { isGrpcServiceError } from '@temporalio/client';

/** The status codes of gRPC that we act on. */
export const GRPC_STATUS = { notFound: 5, alreadyExists: 6, permissionDenied: 7, unauthenticated: 16 } as const;

/** The gRPC status of an error of Temporal's server; undefined for any other error. */
export function grpcStatus(error: unknown): number | undefined {
  return isGrpcServiceError(error) ? error.code : undefined;
}
