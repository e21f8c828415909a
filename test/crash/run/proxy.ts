/** A TCP proxy that holds, delays or refuses traffic. An inspector can cut connections. */
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';

/** Inspects the bytes of one connection before they are forwarded. @returns false to cut the connection. */
export interface Inspector {
  readonly toServer: (bytes: Buffer) => boolean;
  readonly toClient: (bytes: Buffer) => boolean;
}

export interface ProxyTarget {
  readonly host: string;
  readonly port: number;
}

/** The answer to a refused connection before it is closed; undefined: the connection is reset without an answer. */
export type Refusal = { readonly answer: string | undefined };

/**
 * A proxy between the processes of a seed and one server. It forwards held and delayed bytes later, all and in order,
 * also if the client has closed its connection meanwhile. A real network does the same.
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

  /** Starts a proxy on a free port. @param inspect creates an inspector for each connection. */
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

  /** Number of chunks and connections that were held, delayed or refused so far. */
  get touched(): number {
    return this.#touched;
  }

  /** Holds all bytes in both directions until {@link release}. Connections stay open, and new ones are accepted. */
  hold(): void {
    this.#isHeld = true;
  }

  release(): void {
    this.#isHeld = false;
    for (const stream of this.#streams) stream.flush();
  }

  /** Delays all following bytes by `ms`, in order. */
  delay(ms: number): void {
    this.#delayMs = ms;
  }

  /** Cuts all connections, and refuses new ones until {@link admit}. */
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

/** One direction of a connection: a queue of chunks with the times when they are due. An undefined chunk is the end. */
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
    // After a delay was shortened, later bytes must not overtake earlier ones.
    this.#lastDueAt = Math.max(this.#lastDueAt, performance.now() + delay);
    this.#queue.push({ bytes, dueAt: this.#lastDueAt });
    this.flush();
  }

  /** Forwards the chunks that are due. */
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
