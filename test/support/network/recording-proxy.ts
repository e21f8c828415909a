import { once } from 'node:events';
import { createServer, request, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A request as it came. */
interface ProxiedRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
}

/** Stands in front of another server and records the headers of each request. */
export interface RecordingProxy extends AsyncDisposable {
  readonly origin: string;
  readonly requests: readonly ProxiedRequest[];
}

/** @param target origin of the server that answers; asked at each request. */
export async function startRecordingProxy(target: () => string): Promise<RecordingProxy> {
  const requests: ProxiedRequest[] = [];
  const server = createServer((incoming, answer) => {
    const { method = '', url: path = '', headers } = incoming;
    requests.push({ method, path, headers });
    const forwarded = request(new URL(path, target()), { method, headers }, (got) => {
      answer.writeHead(got.statusCode ?? 502, got.headers);
      got.pipe(answer);
    });
    forwarded.on('error', () => answer.destroy());
    incoming.pipe(forwarded);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
