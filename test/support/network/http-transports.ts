import { disposedAfterEach } from '#test/support/disposed-at-end.ts';
import type { ManualTimers } from '#test/support/manual-timers.ts';
import { httpAnswer, startRawServer, type RawServerBehaviour } from '#test/support/network/raw-server.ts';
import { createHttpTransport, type HttpRequest, type HttpTransport } from '#upstream/client/http.ts';

/** Starts servers and transports that are closed after each test, the last one first. */
export function closedTransports() {
  const opened = disposedAfterEach();

  async function serve(behaviour: RawServerBehaviour) {
    const server = await startRawServer(behaviour);
    opened.push(server);
    return server;
  }

  function connect(origin: string, options: { timers?: ManualTimers; connections?: number } = {}): HttpTransport {
    const transport = createHttpTransport({ origin, ...options });
    opened.push({ [Symbol.asyncDispose]: () => transport.close() });
    return transport;
  }

  return { opened, serve, connect };
}

export const get: HttpRequest = { method: 'GET', path: '/orders/1', headers: {}, deadlineMs: 10_000 };
export const post: HttpRequest = {
  method: 'POST',
  path: '/orders',
  headers: { 'content-type': 'application/json' },
  body: Buffer.from('{"package_id":1}'),
  deadlineMs: 10_000,
  ownConnection: true,
};
/** The bytes of a successful answer. */
export const SUCCESS = httpAnswer(200, '{}');
