import type { Capabilities } from '#domain/service/capability-profile.ts';
import { serviceAddress, type ServiceMode } from '#domain/service/service-address.ts';
import { createServiceClient, type ServiceClient } from '#upstream/client.ts';
import { createCaller, type CallEvent } from '#upstream/client/call.ts';
import { createHttpTransport, type Timers } from '#upstream/client/http.ts';
import { ServiceSession, type TokenStore } from '#upstream/client/session.ts';

export interface ServiceOptions {
  readonly baseUrl: string;
  readonly mode: ServiceMode;
  readonly email: string;
  readonly password: string;
  readonly deviceName: string;
  /** Used in production only. */
  readonly tokenDays?: number | undefined;
  readonly capabilities: Capabilities;
  readonly proxy?: string | undefined;
  /** For one call, login and repetition included; shorter than the lease of a send. */
  readonly deadlineMs: number;
  readonly tokens: TokenStore;
  /** Epoch milliseconds. */
  readonly now: () => number;
  readonly timers?: Timers;
  readonly onCall?: (event: CallEvent) => void;
  readonly onStoreError?: (error: unknown) => void;
}

export interface Service {
  readonly client: ServiceClient;
  readonly session: Pick<ServiceSession, 'token'>;
  close(): Promise<void>;
}

/** Opens no connection before the first call. */
export function openService(options: ServiceOptions): Service {
  const address = serviceAddress(options.baseUrl, options.mode);
  const { now, timers, onCall, onStoreError } = options;
  const transport = createHttpTransport({
    origin: new URL(address).origin,
    proxy: options.proxy,
    ...(timers === undefined ? {} : { timers }),
  });
  const call = createCaller({ address, transport, now, ...(onCall === undefined ? {} : { onCall }) });
  const session = new ServiceSession({
    call,
    store: options.tokens,
    credentials: { email: options.email, password: options.password, deviceName: options.deviceName },
    mode: options.mode,
    tokenDays: options.tokenDays,
    now,
    ...(timers === undefined ? {} : { timers }),
    ...(onStoreError === undefined ? {} : { onStoreError }),
  });
  const { mode, capabilities, deadlineMs } = options;
  return {
    client: createServiceClient({ call, session, mode, capabilities, deadlineMs }),
    session,
    close: async () => {
      await session.settled();
      await transport.close();
    },
  };
}
