import { Client, Connection, type ClientOptions, type ConnectionOptions } from '@temporalio/client';
import { NativeConnection } from '@temporalio/worker';
import type { TemporalConfig } from '#config/config.ts';
import type { KeyRing } from '#crypto/key-ring.ts';
import { createDataConverter } from '#temporal/codec/data-converter.ts';
import { GRPC_STATUS, grpcStatus } from '#temporal/grpc-status.ts';

/** Long enough for a server that is starting, short enough for a person who waits. */
const CONNECT_TIMEOUT_MS = 10_000;

export interface ConnectOptions {
  /** Milliseconds; default ten seconds. */
  readonly timeoutMs?: number;
}

/** Temporal cannot be reached, or refuses our credentials. The message contains advice. */
export class TemporalUnavailableError extends Error {
  constructor(config: TemporalConfig, cause: unknown) {
    super(`Temporal at ${config.address} ${whatIsWrong(config, cause)}`, { cause });
    this.name = 'TemporalUnavailableError';
  }
}

/**
 * Connects a client.
 *
 * @returns the client; the caller closes `client.connection`.
 * @throws TemporalUnavailableError
 */
export async function connectClient(
  config: TemporalConfig,
  keyRing: KeyRing,
  options?: ConnectOptions,
): Promise<Client> {
  return createClient(await connect(config, options), config, keyRing);
}

/** Opens a connection without a client, for set-up. @throws TemporalUnavailableError */
export async function connect(config: TemporalConfig, options: ConnectOptions = {}): Promise<Connection> {
  try {
    return await Connection.connect({
      ...connectionOptions(config),
      connectTimeout: options.timeoutMs ?? CONNECT_TIMEOUT_MS,
    });
  } catch (error) {
    throw new TemporalUnavailableError(config, error);
  }
}

/**
 * A client that connects at its first call, for a process that must start and serve while Temporal is down. Its calls
 * fail while Temporal is down.
 */
export function createLazyClient(config: TemporalConfig, keyRing: KeyRing): Client {
  return createClient(Connection.lazy(connectionOptions(config)), config, keyRing);
}

/** Connects a worker. @throws TemporalUnavailableError */
export async function connectNative(config: TemporalConfig, options: ConnectOptions = {}): Promise<NativeConnection> {
  const timeoutMs = options.timeoutMs ?? CONNECT_TIMEOUT_MS;
  const { promise: deadline, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new Error(`no connection within ${timeoutMs} ms`)), timeoutMs);
  const connecting = NativeConnection.connect(connectionOptions(config));
  try {
    return await Promise.race([connecting, deadline]);
  } catch (error) {
    // It may still succeed after the deadline: close it then.
    connecting.then((late) => late.close()).catch(() => undefined);
    throw new TemporalUnavailableError(config, error);
  } finally {
    clearTimeout(timer);
  }
}

/**
 * A client on an existing connection. On a worker's `NativeConnection` it can start workflows eagerly on that worker.
 */
export function createClient(connection: ConnectionLike, config: TemporalConfig, keyRing: KeyRing): Client {
  return new Client({ connection, namespace: config.namespace, dataConverter: createDataConverter(keyRing) });
}

type ConnectionLike = NonNullable<ClientOptions['connection']>;

function connectionOptions(config: TemporalConfig): Pick<ConnectionOptions, 'address' | 'tls'> & { apiKey?: string } {
  const { address, tls, apiKey } = config;
  // An API key must be sent over TLS only.
  return { address, tls: tls || apiKey !== undefined, ...(apiKey === undefined ? {} : { apiKey }) };
}

function whatIsWrong(config: TemporalConfig, cause: unknown): string {
  const status = grpcStatus(cause);
  if (status === GRPC_STATUS.unauthenticated || status === GRPC_STATUS.permissionDenied) {
    return `refuses our credentials: check TEMPORAL_API_KEY and that it may use the namespace ${config.namespace}.`;
  }
  const secured = config.tls || config.apiKey !== undefined;
  return (
    'does not answer. Check that it runs and that TEMPORAL_ADDRESS is right; ' +
    `the connection was tried ${secured ? 'with' : 'without'} TLS (TEMPORAL_TLS).`
  );
}
