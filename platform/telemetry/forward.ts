import { request as send, type IncomingMessage, type ServerResponse } from 'node:http';
import { pipeline } from 'node:stream';

/** RFC 9110, 7.6.1, and `Expect`, which Node.js has answered. */
const HOP_BY_HOP = ['connection', 'expect', 'keep-alive', 'proxy-connection', 'te', 'trailer', 'upgrade'];

export const READS: ReadonlySet<string> = new Set(['GET', 'HEAD']);

/** They stay even when `Connection` names them: without them, a body could become a second request. */
const OF_THE_MESSAGE = new Set(['content-length', 'host', 'transfer-encoding']);

export interface ForwardFailure {
  readonly error: Error;
  /** False: no byte of the request was sent. */
  readonly sent: boolean;
}

/**
 * Streams the answer back. Each request has its own connection: on a kept one, a server that closes it would leave open
 * whether it has received the request. The server is still asked to keep it: otherwise an answer before the whole body,
 * such as 413, may be lost to the reset.
 * @param onFailure at most once, when there is no complete answer.
 */
export function forward(
  request: IncomingMessage,
  response: ServerResponse,
  target: { readonly host: string; readonly port: number },
  onFailure: (failure: ForwardFailure) => void,
): void {
  // Do not build a URL from the path: `//other.example/` would name another server.
  const { method = 'GET', url: path = '/' } = request;
  let sent = false;
  let answered: IncomingMessage | undefined;
  const headers = [
    ...ofTheMessage(request),
    ...neededHeaders(request, `${target.host}:${target.port}`),
    'Connection',
    'keep-alive',
  ];
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

/** As received: a repeated header stays repeated, so that the other server can refuse it. */
function ofTheMessage({ rawHeaders, headers }: IncomingMessage, without?: string): string[] {
  const named = (headers.connection ?? '').split(',').map((name) => name.trim().toLowerCase());
  const dropped = new Set([...HOP_BY_HOP, ...named.filter((name) => !OF_THE_MESSAGE.has(name)), without]);
  // The name of each header has an even index, and its value the next one.
  return rawHeaders.filter((_, index) => !dropped.has(rawHeaders[index - (index % 2)]?.toLowerCase()));
}

/** Node.js adds them unless it gets a list: a host, which HTTP/1.0 does not require, and the length of no body. */
function neededHeaders({ headers, method = '' }: IncomingMessage, host: string): string[] {
  const hasBody = headers['content-length'] !== undefined || headers['transfer-encoding'] !== undefined;
  return [
    ...(headers.host === undefined ? ['Host', host] : []),
    ...(hasBody || READS.has(method) ? [] : ['Content-Length', '0']),
  ];
}
