import {
  Client,
  Connection,
  type ConnectionLike,
  type ConnectionOptions,
  isGrpcServiceError,
  type WorkflowClientInterceptor,
} from '@temporalio/client';
import { defaultPayloadConverter, type Headers } from '@temporalio/common';
import { NativeConnection } from '@temporalio/worker';
import type { TemporalConfig, TemporalTls } from '#config/config.ts';
import type { KeyRing } from '#crypto/key-ring.ts';
import { currentTraceparent } from '#telemetry/tracing.ts';
import { within } from '#telemetry/waiting.ts';
import { createDataConverter } from '#temporal/codec/payload-codec.ts';
import { connectionProblem } from '#temporal/connection-problem.ts';
import { TRACE_HEADER } from '#workflows/messages.ts';

/** Long enough for a server that is starting. */
const CONNECT_TIMEOUT_MS = 10_000;

interface ConnectOptions {
  readonly timeoutMs?: number;
}

/** The message contains advice. */
export class TemporalUnavailableError extends Error {
  private constructor(message: string, cause: unknown) {
    super(message, { cause });
    this.name = 'TemporalUnavailableError';
  }

  /** Takes up to three seconds. */
  static async explaining(config: TemporalConfig, cause: unknown): Promise<TemporalUnavailableError> {
    return new TemporalUnavailableError(`Temporal at ${config.address} ${await whatIsWrong(config, cause)}`, cause);
  }
}

/** The caller closes `client.connection`. @throws TemporalUnavailableError */
export async function connectClient(config: TemporalConfig, keyRing: KeyRing, options?: ConnectOptions) {
  return createClient(await connect(config, options), config, keyRing);
}

/** For set-up. @throws TemporalUnavailableError */
export async function connect(config: TemporalConfig, options: ConnectOptions = {}): Promise<Connection> {
  try {
    return await Connection.connect({
      ...connectionOptions(config),
      ...DIRECT,
      connectTimeout: options.timeoutMs ?? CONNECT_TIMEOUT_MS,
    });
  } catch (error) {
    throw await TemporalUnavailableError.explaining(config, error);
  }
}

/** Whether Temporal answers. @throws TemporalUnavailableError */
export async function tryConnection(config: TemporalConfig, options: ConnectOptions): Promise<void> {
  const connection = await connect(config, options);
  await connection.close();
}

/** @throws TemporalUnavailableError */
export async function connectNative(config: TemporalConfig, options: ConnectOptions = {}): Promise<NativeConnection> {
  const timeoutMs = options.timeoutMs ?? CONNECT_TIMEOUT_MS;
  const connecting = NativeConnection.connect(connectionOptions(config));
  try {
    return await within(timeoutMs, () => connecting);
  } catch (error) {
    // It may still succeed after the deadline.
    connecting.then((late) => late.close()).catch(() => undefined);
    throw await TemporalUnavailableError.explaining(config, error);
  }
}

/** On a worker's `NativeConnection` it can start workflows eagerly on that worker. */
export function createClient(connection: ConnectionLike, config: TemporalConfig, keyRing: KeyRing): Client {
  return new Client({
    connection,
    namespace: config.namespace,
    dataConverter: createDataConverter(keyRing),
    interceptors: { workflow: [traceHeaderSender] },
  });
}

function connectionOptions({ address, tls, apiKey }: TemporalConfig): ServerOptions {
  return { address, tls: tls === undefined ? false : tlsOptions(tls), ...(apiKey === undefined ? {} : { apiKey }) };
}

/** The gRPC library would obey `http_proxy`, also for this machine. A worker's connection does not. */
const DIRECT = { channelArgs: { 'grpc.enable_http_proxy': 0 } };

type ServerOptions = Pick<ConnectionOptions, 'address' | 'tls'> & { readonly apiKey?: string };

function tlsOptions({ ca, client, serverName }: TemporalTls): Exclude<ConnectionOptions['tls'], undefined> {
  return {
    ...(ca !== undefined && { serverRootCACertificate: ca }),
    ...(client !== undefined && { clientCertPair: { crt: client.cert, key: client.key } }),
    ...(serverName !== undefined && { serverNameOverride: serverName }),
  };
}

/** A worker's connection reports the status as a text only. */
const REFUSED = /does not have (valid authentication credentials|permission to execute)/;

function isRefusal(cause: unknown): boolean {
  const status = grpcStatus(grpcErrorBehind(cause));
  if (status === undefined) return cause instanceof Error && REFUSED.test(cause.message);
  return status === GRPC_STATUS.unauthenticated || status === GRPC_STATUS.permissionDenied;
}

async function whatIsWrong(config: TemporalConfig, cause: unknown): Promise<string> {
  if (isRefusal(cause)) {
    return (
      'refuses our credentials: check TEMPORAL_API_KEY, or the client certificate in TEMPORAL_TLS_CERT, and that it ' +
      `may use the namespace ${config.namespace}.`
    );
  }
  const problem = await connectionProblem(config);
  if (problem !== undefined) return problem;
  return (
    'does not answer. Check that it runs and that TEMPORAL_ADDRESS is right; ' +
    `the connection was tried ${config.tls === undefined ? 'without' : 'with'} TLS (TEMPORAL_TLS).`
  );
}

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

/** The same call may succeed a moment later. @param error of gRPC, or of Temporal's client with it as its cause. */
export function isTemporary(error: unknown): boolean {
  const status = grpcStatus(grpcErrorBehind(error));
  return status !== undefined && PASSING.has(status);
}

const NO_ANSWER: ReadonlySet<number> = new Set([cancelled, deadlineExceeded, unavailable, GRPC_STATUS.unauthenticated]);

/** The server answers and our credentials are accepted, but this call was refused. */
export function isRefusalOfCall(error: unknown): boolean {
  const status = grpcStatus(error);
  return status !== undefined && !NO_ANSWER.has(status);
}

/** No worker polls the task queue, or those of the run's version have ended. The server has only these texts for it. */
export function isUnanswered(error: unknown): boolean {
  const cause = grpcErrorBehind(error);
  if (cause === undefined || grpcStatus(cause) !== GRPC_STATUS.failedPrecondition) return false;
  return /\bno pollers?\b/.test(cause.details || cause.message);
}

/** Of gRPC, or the cause of an error of Temporal's client. */
function grpcErrorBehind(error: unknown) {
  const cause = isGrpcServiceError(error) ? error : error instanceof Error ? error.cause : undefined;
  return isGrpcServiceError(cause) ? cause : undefined;
}

export function grpcStatus(error: unknown): number | undefined {
  return isGrpcServiceError(error) ? error.code : undefined;
}

/** Not encrypted: a trace id is a random number. */
const traceHeaderSender: WorkflowClientInterceptor = {
  startWithDetails: (input, next) => next({ ...input, headers: withTrace(input.headers) }),
  signalWithStart: (input, next) => next({ ...input, headers: withTrace(input.headers) }),
};

function withTrace(headers: Headers): Headers {
  const traceparent = currentTraceparent();
  if (traceparent === undefined) return headers;
  return { ...headers, [TRACE_HEADER]: defaultPayloadConverter.toPayload({ traceparent }) };
}

/** Any client of the server may have written it: undefined if unusable. */
export function traceparentIn(headers: Headers): string | undefined {
  const payload = headers[TRACE_HEADER];
  if (payload === undefined) return undefined;
  try {
    const carrier = defaultPayloadConverter.fromPayload<unknown>(payload);
    if (typeof carrier !== 'object' || carrier === null || !('traceparent' in carrier)) return undefined;
    return typeof carrier.traceparent === 'string' ? carrier.traceparent : undefined;
  } catch {
    return undefined;
  }
}
