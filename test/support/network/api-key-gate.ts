/** A Temporal frontend that requires an API key, as Temporal Cloud does: TLS and a check of the key before a server. */
import { connect, constants, createSecureServer, type IncomingHttpHeaders, type ServerHttp2Stream } from 'node:http2';
import type { AddressInfo } from 'node:net';

export interface ApiKeyGate extends AsyncDisposable {
  readonly address: string;
  /** Calls with the key, and calls that were refused, by path. */
  readonly accepted: readonly string[];
  readonly refused: readonly string[];
}

const UNAUTHENTICATED = '16';

/**
 * @param target address of a server without TLS.
 * @param apiKey the key that every call must have, and that the server behind does not see.
 */
export async function startApiKeyGate(
  certificate: { readonly cert: Buffer; readonly key: Buffer },
  target: string,
  apiKey: string,
): Promise<ApiKeyGate> {
  const accepted: string[] = [];
  const refused: string[] = [];
  const upstream = connect(`http://${target}`);
  const server = createSecureServer(certificate);
  server.on('stream', (stream: ServerHttp2Stream, { authorization, ...headers }) => {
    const isKnown = authorization === `Bearer ${apiKey}`;
    (isKnown ? accepted : refused).push(headers[':path'] ?? '');
    stream.on('error', () => undefined);
    if (!isKnown) {
      const type = 'application/grpc';
      stream.respond({ 'content-type': type, 'grpc-status': UNAUTHENTICATED }, { endStream: true });
      return;
    }
    const call = upstream.request({ ...headers, ':scheme': 'http', ':authority': target });
    call.on('error', () => stream.close(constants.NGHTTP2_INTERNAL_ERROR));
    call.on('response', (answer, flags) => {
      const endStream = (flags & constants.NGHTTP2_FLAG_END_STREAM) !== 0;
      stream.respond(answer, { endStream, waitForTrailers: !endStream });
    });
    call.on('trailers', (trailers: IncomingHttpHeaders) =>
      stream.once('wantTrailers', () => stream.sendTrailers(trailers)),
    );
    stream.on('close', () => call.close());
    stream.pipe(call).pipe(stream);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    address: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    accepted,
    refused,
    [Symbol.asyncDispose]: async () => {
      upstream.destroy();
      server.close();
    },
  };
}
