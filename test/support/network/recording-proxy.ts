import { createServer, request, type IncomingHttpHeaders } from 'node:http';
import { close, listen } from '#telemetry/http-server.ts';

/**
 * Stands in front of another server and records the headers of each request.
 *
 * @param target origin of the server that answers; asked at each request.
 */
export async function startRecordingProxy(target: () => string) {
  const requests: { method: string; path: string; headers: IncomingHttpHeaders }[] = [];
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
  const port = await listen(server, { host: '127.0.0.1', port: 0 });
  return { origin: `http://127.0.0.1:${port}`, requests, [Symbol.asyncDispose]: () => close(server, 'all') };
}
