/** A round-robin load balancer in front of the APIs of a seed, for callers and the service's webhooks. */
import { Agent, createServer, request, type IncomingMessage, type ServerResponse } from 'node:http';
import { close, listen } from '#telemetry/http-server.ts';

/** The usual time limit of a load balancer, scaled like the waits of the proof. After it the caller gets 504. */
const ANSWER_WITHIN_MS = 6_000;

export interface LoadBalancer extends AsyncDisposable {
  /** Answers 503 to requests whose path starts with `path`. @param path undefined opens all paths again. */
  shut(path: string | undefined): void;
}

/** @param port its own port. @param backends ports of the APIs. */
export async function startLoadBalancer(port: number, backends: readonly number[]): Promise<LoadBalancer> {
  const agent = new Agent({ keepAlive: false });
  let turn = 0;
  let shut: string | undefined;
  const server = createServer((incoming, outgoing) => {
    if (shut !== undefined && incoming.url?.startsWith(shut) === true) return refuse(outgoing, 503);
    pass(incoming, outgoing, backends[turn++ % backends.length] ?? 0, agent);
  });
  await listen(server, { host: '127.0.0.1', port });
  return {
    shut: (path) => void (shut = path),
    [Symbol.asyncDispose]: async () => {
      agent.destroy();
      await close(server, 'all');
    },
  };
}

function pass(incoming: IncomingMessage, outgoing: ServerResponse, port: number, agent: Agent): void {
  const { method, url: path = '/', headers } = incoming;
  const onwards = request({ host: '127.0.0.1', port, method, path, headers, agent, timeout: ANSWER_WITHIN_MS });
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

function refuse(outgoing: ServerResponse, status: number): void {
  if (!outgoing.headersSent) outgoing.writeHead(status);
  outgoing.end();
}
