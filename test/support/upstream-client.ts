import { ALL_CAPABILITIES, type Capabilities } from '#domain/service/capability-profile.ts';
import { BASE_PATH, type ServiceMode } from '#domain/service/service-address.ts';
import { disposedAfterEach } from '#test/support/disposed-at-end.ts';
import { MemoryTokenStore } from '#test/support/memory-token-store.ts';
import { httpAnswer, startRawServer, type RawRequest } from '#test/support/network/raw-server.ts';
import type { CallEvent } from '#upstream/client/call.ts';
import { openService } from '#upstream/service.ts';

/** Answers one request. Undefined: no answer. */
export type Answer = (request: {
  readonly target: string;
  readonly body: Buffer;
  readonly token: string | undefined;
  readonly raw: RawRequest;
}) => Buffer | undefined;

export const jsonAnswer = (body: unknown, status = 200) => httpAnswer(status, JSON.stringify(body));
export const refusal = (status: number, code: string) => jsonAnswer({ error: { code } }, status);

interface TestClientSettings {
  readonly capabilities?: Partial<Capabilities>;
  readonly mode?: ServiceMode;
  readonly deadlineMs?: number;
  readonly tokenDays?: number;
  /** Replaces the answer to logins. */
  readonly onLogin?: (raw: RawRequest) => Buffer | undefined;
}

/** A client of a service that accepts every login (`token-1`, `token-2`, …). The test defines the other answers. */
export async function startTestClient(answer: Answer, settings: TestClientSettings = {}) {
  const { mode = 'sandbox', capabilities, deadlineMs = 10_000, tokenDays, onLogin } = settings;
  let logins = 0;
  const server = await startRawServer({
    onRequest: (raw) => {
      const target = raw.head.split(' ')[1] ?? '';
      const token = /^authorization: Bearer (.*)$/im.exec(raw.head)?.[1];
      const bytes = target.endsWith('/login')
        ? (onLogin ?? (() => jsonAnswer({ access_token: `token-${(logins += 1)}` })))(raw)
        : answer({ target, body: raw.body, token, raw });
      if (bytes !== undefined) raw.socket.write(bytes);
    },
  });
  const events: CallEvent[] = [];
  const service = openService({
    baseUrl: `${server.origin}${BASE_PATH}`,
    mode,
    email: 'shop@example.com',
    password: 'secret',
    deviceName: 'backend',
    tokenDays,
    capabilities: { ...ALL_CAPABILITIES, ...capabilities },
    deadlineMs,
    tokens: new MemoryTokenStore(),
    now: Date.now,
    onCall: (event) => void events.push(event),
  });
  /** Path and query of each request, below `{base_url}`. */
  const targets = () => server.requests.map(({ head }) => head.split(' ')[1]?.replace(BASE_PATH, ''));
  return {
    client: service.client,
    server,
    events,
    targets,
    [Symbol.asyncDispose]: async () => {
      // The server first, so that the client does not wait for a login without a caller.
      await server[Symbol.asyncDispose]();
      await service.close();
    },
  };
}

/** An order that the service still processes. */
export const ORDER = { id: 'so_1', external_order_id: 'shop-1', status: 'processing' };

/** Items since June, at most two pages. */
export const RECENT = { since: Date.UTC(2025, 5, 1), maxPages: 2 };

/** A function that starts clients and closes them after each test, the last one first. */
export function closedTestClients(): typeof startTestClient {
  const opened = disposedAfterEach();
  return async (answer, settings) => {
    const client = await startTestClient(answer, settings);
    opened.push(client);
    return client;
  };
}

/** Value of a header of a request; undefined if it is missing. */
export function headerOf(request: RawRequest | undefined, name: string): string | undefined {
  return new RegExp(`^${name}: (.*)$`, 'im').exec(request?.head ?? '')?.[1];
}
