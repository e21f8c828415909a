/** A TCP proxy that holds, delays or refuses what passes through it, and lets an inspector cut connections. */
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';

/**
 * Looks at the bytes of one connection before they go on. @returns false: the connection is cut, and the bytes are
 * lost.
 */
export interface Inspector {
  readonly toServer: (bytes: Buffer) => boolean;
  readonly toClient: (bytes: Buffer) => boolean;
}

export interface ProxyTarget {
  readonly host: string;
  readonly port: number;
}

/** What a refused connection gets before it is closed; undefined: it is reset without an answer. */
export type Refusal = { readonly answer: string | undefined };

/**
 * Stands between the processes of a seed and one server. Nothing that it holds or delays is lost, reordered, or
 * closed: a connection that the client gives up meanwhile still brings its bytes to the server, as a network would.
 */
export class NetworkProxy implements AsyncDisposable {
  readonly #server: Server;
  readonly #target: ProxyTarget;
  readonly #inspect: (() => Inspector) | undefined;
  readonly #sockets = new Set<Socket>();
  readonly #streams = new Set<Stream>();
  #isHeld = false;
  #delayMs = 0;
  #refusal: Refusal | undefined;
  #touched = 0;

  private constructor(target: ProxyTarget, inspect: (() => Inspector) | undefined) {
    this.#target = target;
    this.#inspect = inspect;
    this.#server = createServer({ allowHalfOpen: true }, (socket) => this.#join(socket));
  }

  /** Listens on a port of its own. @param inspect makes an inspector for each connection. */
  static async before(target: ProxyTarget, inspect?: () => Inspector): Promise<NetworkProxy> {
    const proxy = new NetworkProxy(target, inspect);
    await new Promise<void>((resolve) => proxy.#server.listen(0, '127.0.0.1', resolve));
    return proxy;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /** The same URL, through the proxy. */
  through(url: string): string {
    const way = new URL(url);
    way.hostname = '127.0.0.1';
    way.port = String(this.port);
    return way.href;
  }

  /** How many chunks of bytes and connections a fault has met so far: none means that it has not come about. */
  get touched(): number {
    return this.#touched;
  }

  /** Nothing goes on in either direction until {@link release}; connections stay open, and new ones are accepted. */
  hold(): void {
    this.#isHeld = true;
  }

  release(): void {
    this.#isHeld = false;
    for (const stream of this.#streams) stream.flush();
  }

  /** From now on everything arrives so many milliseconds later, in its order. */
  delay(ms: number): void {
    this.#delayMs = ms;
  }

  /** Cuts all connections, and answers new ones so until {@link admit}. */
  refuse(refusal: Refusal): void {
    this.#refusal = refusal;
    for (const socket of this.#sockets) socket.destroy();
  }

  admit(): void {
    this.#refusal = undefined;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    for (const stream of this.#streams) stream.end();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #join(client: Socket): void {
    if (this.#refusal !== undefined) return this.#turnAway(client, this.#refusal);
    const server = connect({ ...this.#target, allowHalfOpen: true });
    const cut = () => {
      client.destroy();
      server.destroy();
    };
    const inspector = this.#inspect?.();
    this.#pass(client, server, inspector?.toServer, cut);
    this.#pass(server, client, inspector?.toClient, cut);
  }

  #pass(from: Socket, to: Socket, inspect: ((bytes: Buffer) => boolean) | undefined, cut: () => void): void {
    const stream = new Stream(to, {
      isHeld: () => this.#isHeld,
      delayMs: () => this.#delayMs,
      onTouched: () => (this.#touched += 1),
    });
    this.#sockets.add(from);
    this.#streams.add(stream);
    from.setNoDelay(true);
    from.on('data', (bytes) => (inspect === undefined || inspect(bytes) ? stream.push(bytes) : cut()));
    from.on('end', () => stream.push(undefined));
    from.on('error', () => stream.push(undefined));
    from.on('close', () => {
      this.#sockets.delete(from);
      stream.push(undefined);
    });
    stream.ended.then(() => this.#streams.delete(stream), cut);
  }

  #turnAway(client: Socket, { answer }: Refusal): void {
    this.#touched += 1;
    client.on('error', () => client.destroy());
    if (answer === undefined) return void client.resetAndDestroy();
    client.once('data', () => client.end(answer));
    client.once('end', () => client.destroy());
  }
}

interface Conditions {
  readonly isHeld: () => boolean;
  readonly delayMs: () => number;
  readonly onTouched: () => void;
}

/** One direction of a connection: a queue of chunks, each with the time at which it may go on. Undefined is the end. */
class Stream {
  readonly ended: Promise<void>;
  readonly #to: Socket;
  readonly #conditions: Conditions;
  readonly #queue: { readonly bytes: Buffer | undefined; readonly dueAt: number }[] = [];
  #timer: NodeJS.Timeout | undefined;
  #lastDueAt = 0;
  #isEnding = false;
  #resolve: () => void = () => undefined;

  constructor(to: Socket, conditions: Conditions) {
    this.#to = to;
    this.#conditions = conditions;
    this.ended = new Promise((resolve) => (this.#resolve = resolve));
  }

  push(bytes: Buffer | undefined): void {
    if (this.#isEnding) return;
    this.#isEnding = bytes === undefined;
    const { isHeld, delayMs, onTouched } = this.#conditions;
    const delay = delayMs();
    if (isHeld() || delay > 0) onTouched();
    // A delay that has become shorter must not let later bytes overtake earlier ones.
    this.#lastDueAt = Math.max(this.#lastDueAt, performance.now() + delay);
    this.#queue.push({ bytes, dueAt: this.#lastDueAt });
    this.flush();
  }

  /** Sends on what is due. */
  flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#conditions.isHeld()) return;
    for (let next = this.#queue[0]; next !== undefined; next = this.#queue[0]) {
      const waitMs = next.dueAt - performance.now();
      if (waitMs > 0) {
        this.#timer = setTimeout(() => this.flush(), waitMs);
        return;
      }
      this.#queue.shift();
      if (next.bytes === undefined) return this.end();
      this.#to.write(next.bytes);
    }
  }

  end(): void {
    clearTimeout(this.#timer);
    this.#to.end();
    this.#resolve();
  }
}
