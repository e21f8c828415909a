import { request as send, type IncomingMessage, type ServerResponse } from 'node:http';
import { pipeline } from 'node:stream';

/** Headers of one connection, which are not forwarded (RFC 9110, 7.6.1), and `Expect`, which Node.js has answered. */
const OF_ONE_CONNECTION = new Set([
  'connection',
  'expect',
  'keep-alive',
  'proxy-connection',
  'te',
  'trailer',
  'upgrade',
]);

/** Methods of requests that read. They have no body. */
export const READS: ReadonlySet<string> = new Set(['GET', 'HEAD']);

/** Headers that stay, also when `Connection` names them: dropped, a body could become a second request. */
const OF_THE_MESSAGE = new Set(['content-length', 'host', 'transfer-encoding']);

interface Target {
  readonly host: string;
  readonly port: number;
}

/** A failure of {@link forward}. The answer may have begun. */
export interface ForwardFailure {
  readonly error: Error;
  /** False: no connection was made, so no byte of the request was sent. */
  readonly sent: boolean;
}

/**
 * Sends a request to another HTTP server and streams the answer back. The end of the caller's connection also ends the
 * request. Each request has a connection of its own: on a kept one, a server that closes it would leave open whether
 * it has received the request. The server is nevertheless asked to keep the connection. Otherwise it closes it right
 * after an answer that it gives before it has read the body, such as 413, and the reset may arrive before the answer.
 *
 * @param target host and port of the other server.
 * @param onFailure called at most once, when there is no complete answer.
 */
export function forward(
  request: IncomingMessage,
  response: ServerResponse,
  target: Target,
  onFailure: (failure: ForwardFailure) => void,
): void {
  // Do not build a URL from the path: `//other.example/` would name another server.
  const { method = 'GET', url: path = '/' } = request;
  let sent = false;
  let answered: IncomingMessage | undefined;
  const headers = [...ofTheMessage(request), ...neededHeaders(request, target), 'Connection', 'keep-alive'];
  const outgoing = send({ ...target, method, path, headers, agent: false });
  outgoing.once('socket', (socket) =>
    socket.once('connect', () => {
      sent = true;
      request.pipe(outgoing);
    }),
  );
  outgoing.on('error', (error) => {
    // The connection may break after a complete answer, when the server has not read the whole body.
    if (!response.destroyed && answered?.complete !== true) onFailure({ error, sent });
  });
  outgoing.on('response', (answer) => {
    answered = answer;
    try {
      // Node.js chooses the framing that the caller's version of HTTP knows.
      response.writeHead(answer.statusCode ?? 502, ofTheMessage(answer, 'transfer-encoding'));
    } catch (error) {
      outgoing.destroy();
      return onFailure({ error: new Error('the status of the answer is not valid', { cause: error }), sent });
    }
    // The caller must not wait for the first event of a stream to see that it is accepted.
    response.flushHeaders();
    pipeline(answer, response, () => undefined);
  });
  outgoing.on('upgrade', (_answer, socket) => {
    socket.destroy();
    onFailure({ error: new Error('the answer changes the protocol, which was not requested'), sent });
  });
  response.on('close', () => {
    outgoing.destroy();
    // The rest of a body that the server did not read: the caller's next request comes after it.
    request.unpipe(outgoing).resume();
  });
}

/**
 * Names and values in turn, as received: a header that is repeated stays repeated, so that the other server can refuse
 * it. Without those that `Connection` names, except those that the message cannot be read without.
 */
function ofTheMessage({ rawHeaders, headers }: IncomingMessage, without?: string): string[] {
  const named = (headers.connection ?? '').split(',').map((name) => name.trim().toLowerCase());
  const dropped = new Set([...OF_ONE_CONNECTION, ...named.filter((name) => !OF_THE_MESSAGE.has(name)), without]);
  // The name of each header has an even index, and its value the next one.
  return rawHeaders.filter((_, index) => !dropped.has(rawHeaders[index - (index % 2)]?.toLowerCase()));
}

/**
 * Headers that Node.js adds to a request, unless it gets them as a list: a host, which HTTP/1.0 does not require, and
 * the length of a body that does not exist. It would send chunks instead.
 */
function neededHeaders({ headers, method = '' }: IncomingMessage, { host, port }: Target): string[] {
  const hasBody = headers['content-length'] !== undefined || headers['transfer-encoding'] !== undefined;
  return [
    ...(headers.host === undefined ? ['Host', `${host}:${port}`] : []),
    ...(hasBody || READS.has(method) ? [] : ['Content-Length', '0']),
  ];
}
