/** A TCP proxy that holds, delays or refuses traffic. An inspector can cut connections. */
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';

/** Inspects the bytes of one connection before they are forwarded. @returns false to cut the connection. */
export interface Inspector {
  readonly toServer: (bytes: Buffer) => boolean;
  readonly toClient: (bytes: Buffer) => boolean;
}

interface ProxyTarget {
  readonly host: string;
  readonly port: number;
}

/** The answer to a refused connection before it is closed; undefined: the connection is reset without an answer. */
type Refusal = { readonly answer: string | undefined };

/**
 * A proxy between the processes of a seed and one server. It forwards held and delayed bytes later, all and in order,
 * also if the client has closed its connection meanwhile. A real network does the same.
 */
export class NetworkProxy implements AsyncDisposable {
  readonly #server: Server;
  readonly #target: ProxyTarget;
  readonly #inspect: (() => Inspector) | undefined;
  readonly #sockets = new Set<Socket>();
  /** Resolved when held bytes are released; undefined while nothing is held. */
  #hold: PromiseWithResolvers<void> | undefined;
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
    this.#hold ??= Promise.withResolvers<void>();
  }

  release(): void {
    this.#hold?.resolve();
    this.#hold = undefined;
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
    this.release();
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
    let isEnding = false;
    // A chain, so that later bytes do not overtake earlier ones after a delay was shortened.
    let passed = Promise.resolve();
    const push = (bytes: Buffer | undefined) => {
      if (isEnding) return;
      isEnding = bytes === undefined;
      if (this.#hold !== undefined || this.#delayMs > 0) this.#touched += 1;
      const dueAt = performance.now() + this.#delayMs;
      passed = passed.then(() => this.#forward(bytes, to, dueAt));
    };
    this.#sockets.add(from);
    from.setNoDelay(true);
    from.on('data', (bytes) => (inspect === undefined || inspect(bytes) ? push(bytes) : cut()));
    from.on('end', () => push(undefined));
    from.on('error', () => push(undefined));
    from.on('close', () => {
      this.#sockets.delete(from);
      push(undefined);
    });
  }

  /** @param bytes undefined: the end. */
  async #forward(bytes: Buffer | undefined, to: Socket, dueAt: number): Promise<void> {
    if (dueAt > performance.now()) await delay(dueAt - performance.now());
    while (this.#hold !== undefined) await this.#hold.promise;
    if (bytes === undefined) to.end();
    else to.write(bytes);
  }

  #turnAway(client: Socket, { answer }: Refusal): void {
    this.#touched += 1;
    client.on('error', () => client.destroy());
    if (answer === undefined) return void client.resetAndDestroy();
    client.once('data', () => client.end(answer));
    client.once('end', () => client.destroy());
  }
}
