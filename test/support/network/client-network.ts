import { ResellerClient, type TransportOptions } from '#clients/typescript/src/index.ts';

/** What the network does with one request of the client: an answer, or an error of the connection. */
export type Step = (request: Request) => Response;

/** The connection breaks before there is an answer. */
export const broken: Step = () => {
  throw new TypeError('socket hang up');
};

export function problem(status: number, code: string, headers: Record<string, string> = {}): Step {
  return () =>
    Response.json({ type: `/problems/${code}`, code, title: 'No', status, request_id: 'req_1' }, { status, headers });
}

/**
 * The beginning of an answer comes: then the connection breaks, or nothing more comes until the request is given up.
 */
export function torn(end: 'breaks' | 'hangs', status = 200, headers: Record<string, string> = {}): Step {
  return ({ signal }) => {
    const body = new ReadableStream<Uint8Array>(
      {
        start: (controller) => {
          controller.enqueue(new TextEncoder().encode('{"id":"ord'));
          signal.addEventListener('abort', () => controller.error(signal.reason));
        },
        // Comes only when the beginning has been taken.
        pull: (controller) => {
          if (end === 'breaks') controller.error(new TypeError('terminated'));
        },
      },
      { highWaterMark: 0 },
    );
    return new Response(body, { status, headers: { 'Content-Type': 'application/json', ...headers } });
  };
}

/** Clients whose requests meet the steps that were foreseen, and whose waits take no time. */
export class ClientNetwork {
  /** Every request that was sent. */
  readonly seen: Request[] = [];
  /** Every wait, in milliseconds. */
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
        if (step === undefined) throw new Error('nothing more was foreseen');
        return step(request);
      },
      ...options,
    });
  }
}
