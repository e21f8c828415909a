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
  /** All sent requests. */
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
