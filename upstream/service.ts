import type { Capabilities } from '#domain/service/capability-profile.ts';
import { serviceAddress, type ServiceMode } from '#domain/service/service-address.ts';
import { createServiceClient, type ServiceClient } from '#upstream/client.ts';
import { createCaller, type CallEvent } from '#upstream/client/call.ts';
import { createHttpTransport } from '#upstream/client/http.ts';
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
  readonly onCall?: (event: CallEvent) => void;
  /** The affected call fails as not sent. */
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
  const transport = createHttpTransport({ origin: new URL(address).origin, proxy: options.proxy });
  const call = createCaller(transport, address, options);
  const session = new ServiceSession(call, options);
  return {
    client: createServiceClient(call, session, options),
    session,
    close: async () => {
      await session.settled();
      await transport.close();
    },
  };
}
