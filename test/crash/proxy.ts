/** A TCP proxy before PostgreSQL that cuts connections at chosen moments of a transaction. */
import { connect, createServer, type Server, type Socket } from 'node:net';
import type { AddressInfo } from 'node:net';
import type { PlannedCut } from '#test/crash/plan.ts';

/** The two statements as the product sends them: simple queries that end with a zero byte. */
const BEGIN = Buffer.from('BEGIN\0');
const COMMIT = Buffer.from('COMMIT\0');

export class CuttingProxy implements AsyncDisposable {
  readonly #server: Server;
  readonly #target: { readonly host: string; readonly port: number };
  readonly #cuts: readonly PlannedCut[];
  readonly #sockets = new Set<Socket>();
  readonly #fired: PlannedCut[] = [];
  #begins = 0;
  #commits = 0;

  private constructor(target: { host: string; port: number }, cuts: readonly PlannedCut[]) {
    this.#target = target;
    this.#cuts = cuts;
    this.#server = createServer((socket) => this.#join(socket));
  }

  /** Listens on a port of its own. @param url connection string of PostgreSQL. */
  static async before(url: string, cuts: readonly PlannedCut[]): Promise<CuttingProxy> {
    const { hostname: host, port } = new URL(url);
    const proxy = new CuttingProxy({ host, port: Number(port) }, cuts);
    await new Promise<void>((resolve) => proxy.#server.listen(0, '127.0.0.1', resolve));
    return proxy;
  }

  /** The same connection string, through the proxy. */
  through(url: string): string {
    const way = new URL(url);
    way.hostname = '127.0.0.1';
    way.port = String((this.#server.address() as AddressInfo).port);
    return way.href;
  }

  /** The cuts that came about. */
  get fired(): readonly PlannedCut[] {
    return this.#fired;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #join(client: Socket): void {
    const server = connect(this.#target);
    const cut = () => {
      client.destroy();
      server.destroy();
    };
    for (const socket of [client, server]) {
      this.#sockets.add(socket);
      socket.setNoDelay(true);
      socket.on('error', cut);
      socket.on('close', () => {
        this.#sockets.delete(socket);
        cut();
      });
    }
    /** What cuts this connection: its next bytes in one of the two directions. */
    let atNextQuery = false;
    let atNextAnswer = false;
    client.on('data', (bytes) => {
      if (atNextQuery) return cut();
      if (bytes.includes(BEGIN)) {
        this.#begins += 1;
        atNextQuery = this.#fires('in_transaction', this.#begins);
      }
      if (bytes.includes(COMMIT)) {
        this.#commits += 1;
        if (this.#fires('before_commit', this.#commits)) return cut();
        atNextAnswer = this.#fires('answer_of_commit', this.#commits);
      }
      server.write(bytes);
    });
    server.on('data', (bytes) => {
      if (atNextAnswer) return cut();
      client.write(bytes);
    });
  }

  #fires(moment: PlannedCut['moment'], hit: number): boolean {
    const cut = this.#cuts.find((each) => each.moment === moment && each.hit === hit);
    if (cut !== undefined) this.#fired.push(cut);
    return cut !== undefined;
  }
}
