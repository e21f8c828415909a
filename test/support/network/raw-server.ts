import { once } from 'node:events';
import { createServer, type AddressInfo, type Socket } from 'node:net';

/** One HTTP request as received bytes. */
export interface RawRequest {
  /** Request line and headers, as text. */
  readonly head: string;
  readonly body: Buffer;
  /** From 1, over all connections. */
  readonly number: number;
  /** From 1. */
  readonly connection: number;
  readonly socket: Socket;
}

export type RawServer = Awaited<ReturnType<typeof startRawServer>>;

export interface RawServerBehaviour {
  /** Called for each accepted connection, before anything is read. */
  readonly onConnection?: (socket: Socket, connection: number) => void;
  /** Called with the first bytes of a connection, complete or not. */
  readonly onFirstBytes?: (socket: Socket) => void;
  readonly onRequest?: (request: RawRequest) => void;
}

/** A TCP server that records a client's exact bytes. A test defines its answers and its faults. */
export async function startRawServer(behaviour: RawServerBehaviour) {
  const requests: RawRequest[] = [];
  const sockets = new Set<Socket>();
  let connections = 0;
  let bytes = 0;
  const server = createServer((socket) => {
    connections += 1;
    const connection = connections;
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
    // The tests check only the client's side, so errors here have no meaning.
    socket.on('error', () => undefined);
    behaviour.onConnection?.(socket, connection);
    let pending: Buffer = Buffer.alloc(0);
    let first = true;
    socket.on('data', (chunk) => {
      bytes += chunk.length;
      if (first) behaviour.onFirstBytes?.(socket);
      first = false;
      pending = Buffer.concat([pending, chunk]);
      for (let taken = takeRequest(pending); taken !== undefined; taken = takeRequest(pending)) {
        pending = taken.rest;
        const request = { head: taken.head, body: taken.body, number: requests.length + 1, connection, socket };
        requests.push(request);
        behaviour.onRequest?.(request);
      }
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    origin: `http://127.0.0.1:${port}`,
    port,
    requests,
    /** Connections accepted so far. */
    connections: () => connections,
    /** Bytes received so far, complete requests or not. */
    bytesReceived: () => bytes,
    [Symbol.asyncDispose]: async () => {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}

function takeRequest(bytes: Buffer): { head: string; body: Buffer; rest: Buffer } | undefined {
  const end = bytes.indexOf('\r\n\r\n');
  if (end === -1) return undefined;
  const head = bytes.toString('latin1', 0, end);
  const length = Number(/^content-length: (\d+)$/im.exec(head)?.[1] ?? 0);
  const bodyEnd = end + 4 + length;
  if (bytes.length < bodyEnd) return undefined;
  return { head, body: bytes.subarray(end + 4, bodyEnd), rest: bytes.subarray(bodyEnd) };
}

/** A complete HTTP answer with a body of known length. */
export function httpAnswer(
  status: number,
  body: string | Buffer,
  headers: Readonly<Record<string, string>> = {},
): Buffer {
  const bytes = Buffer.from(body);
  const all = { 'content-type': 'application/json', 'content-length': String(bytes.length), ...headers };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}`);
  const head = [`HTTP/1.1 ${status} Status`, ...lines, '', ''].join('\r\n');
  return Buffer.concat([Buffer.from(head, 'latin1'), bytes]);
}
