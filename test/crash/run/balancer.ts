/** A round-robin load balancer in front of the APIs of a seed, for callers and the service's webhooks. */
import { Agent, createServer, request, type IncomingMessage, type Server, type ServerResponse } from 'node:http';

/** The usual time limit of a load balancer, scaled like the waits of the proof. After it the caller gets 504. */
const ANSWER_WITHIN_MS = 6_000;

export class LoadBalancer implements AsyncDisposable {
  readonly #server: Server;
  readonly #ports: readonly number[];
  readonly #agent = new Agent({ keepAlive: false });
  #turn = 0;
  #shut: string | undefined;

  private constructor(ports: readonly number[]) {
    this.#ports = ports;
    this.#server = createServer((incoming, outgoing) => this.#pass(incoming, outgoing));
  }

  /** @param port its own port. @param backends ports of the APIs. */
  static async start(port: number, backends: readonly number[]): Promise<LoadBalancer> {
    const balancer = new LoadBalancer(backends);
    await new Promise<void>((resolve) => balancer.#server.listen(port, '127.0.0.1', resolve));
    return balancer;
  }

  /** Answers 503 to requests whose path starts with `path`. @param path undefined opens all paths again. */
  shut(path: string | undefined): void {
    this.#shut = path;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#agent.destroy();
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #pass(incoming: IncomingMessage, outgoing: ServerResponse): void {
    const { method, url = '/', headers } = incoming;
    if (this.#shut !== undefined && url.startsWith(this.#shut)) return refuse(outgoing, 503);
    const port = this.#ports[this.#turn % this.#ports.length] ?? 0;
    this.#turn += 1;
    const onwards = request({
      host: '127.0.0.1',
      port,
      method,
      path: url,
      headers,
      agent: this.#agent,
      timeout: ANSWER_WITHIN_MS,
    });
    onwards.on('response', (answer) => {
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.on('error', () => outgoing.destroy());
      answer.pipe(outgoing);
    });
    onwards.on('timeout', () => {
      refuse(outgoing, 504);
      onwards.destroy();
    });
    onwards.on('error', () => (outgoing.headersSent ? outgoing.destroy() : refuse(outgoing, 502)));
    outgoing.on('error', () => onwards.destroy());
    incoming.on('error', () => onwards.destroy());
    incoming.pipe(onwards);
  }
}

function refuse(outgoing: ServerResponse, status: number): void {
  if (!outgoing.headersSent) outgoing.writeHead(status);
  outgoing.end();
}
