import { afterEach } from 'vitest';
import { ResellerClient, type TransportOptions } from '#clients/typescript/src/index.ts';

/** Handles one request of the client: with an answer, or with a connection error. */
export type Step = (request: Request) => Response;

/** Breaks the connection before an answer. */
export const broken: Step = () => {
  throw new TypeError('socket hang up');
};

export function problem(status: number, code: string, headers: Record<string, string> = {}): Step {
  return () =>
    Response.json({ type: `/problems/${code}`, code, title: 'No', status, request_id: 'req_1' }, { status, headers });
}

/** A successful answer of the API. */
export const ok =
  (body: unknown, headers: Record<string, string> = {}): Step =>
  () =>
    Response.json(body, { headers });
/** An answer of a proxy that reports success. */
export const page: Step = () =>
  new Response('<html>Back soon</html>', { headers: { 'Content-Type': 'text/html; charset=utf-8' } });

/** Sends the start of an answer. Then the connection breaks, or sends nothing until the request is aborted. */
export function torn(end: 'breaks' | 'hangs', status = 200, headers: Record<string, string> = {}): Step {
  return ({ signal }) => {
    const body = new ReadableStream<Uint8Array>(
      {
        start: (controller) => {
          controller.enqueue(new TextEncoder().encode('{"id":"ord'));
          signal.addEventListener('abort', () => controller.error(signal.reason));
        },
        // Called only after the start was read.
        pull: (controller) => {
          if (end === 'breaks') controller.error(new TypeError('terminated'));
        },
      },
      { highWaterMark: 0 },
    );
    return new Response(body, { status, headers: { 'Content-Type': 'application/json', ...headers } });
  };
}

/** Clients with scripted answers and without real waits. */
export class ClientNetwork {
  readonly seen: Request[] = [];
  /** All waits, in milliseconds. */
  readonly slept: number[] = [];

  client(steps: readonly Step[], options: Partial<TransportOptions> = {}): ResellerClient {
    const left = [...steps];
    return new ResellerClient({
      baseUrl: 'https://api.example.com/',
      apiKey: 'rsk_test',
      sleep: async (ms) => void this.slept.push(ms),
      fetch: async (input, init) => {
        const request = new Request(input, init);
        this.seen.push(request);
        const step = left.shift();
        if (step === undefined) throw new Error('the test scripted no further step');
        return step(request);
      },
      ...options,
    });
  }
}

export const order = { package_id: 1001, external_order_id: 'sale-1' };
/** The error of a call; undefined when it succeeds. */
export const thrown = async (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => undefined,
    (error: unknown) => error,
  );

/** A network that each test finds unused, its clients with these steps in turn, and the keys of its requests. */
export function testNetwork() {
  const network = new ClientNetwork();
  afterEach(() => {
    network.seen.length = 0;
    network.slept.length = 0;
  });
  return {
    network,
    client: (...steps: Step[]): ResellerClient => network.client(steps, { random: () => 1 }),
    keys: () => network.seen.map(({ headers }) => headers.get('Idempotency-Key')),
  };
}
