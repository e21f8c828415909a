import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Webhook } from 'standardwebhooks';
import * as z from 'zod';

const body = z.looseObject({
  type: z.string(),
  timestamp: z.string(),
  id: z.string(),
  subject: z.object({ kind: z.string(), id: z.string(), href: z.string() }),
  data: z.record(z.string(), z.unknown()),
});

/** A received delivery. */
export interface Received {
  readonly id: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly bytes: Buffer;
  readonly path: string;
}

/** The answer of a receiver: a status, or a function that handles the request. */
export type Answer = number | ((request: IncomingMessage, response: ServerResponse) => void);

/** A receiver of our webhooks, as in a shop. */
export class WebhookReceiver implements AsyncDisposable {
  readonly received: Received[] = [];
  /** The answers to the next deliveries. After them, the answer is `otherwise`. */
  readonly answers: Answer[] = [];
  otherwise: Answer = 204;
  readonly url: string;
  readonly #stop: () => Promise<void>;

  private constructor(url: string, stop: () => Promise<void>) {
    this.url = url;
    this.#stop = stop;
  }

  static async start(): Promise<WebhookReceiver> {
    const server = createServer((request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => receiver.#take(request, response, Buffer.concat(chunks)));
      request.on('error', () => undefined);
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const receiver = new WebhookReceiver(`http://127.0.0.1:${port}/hook`, async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    });
    return receiver;
  }

  /** Ids of all deliveries in order of arrival, repetitions included. */
  get ids(): string[] {
    return this.received.map(({ id }) => id);
  }

  /** Verifies a delivery with the published library. @returns its body. @throws WebhookVerificationError */
  static verified({ bytes, headers }: Received, secret: string): z.output<typeof body> {
    return body.parse(new Webhook(secret).verify(bytes, { ...headers }));
  }

  #take(request: IncomingMessage, response: ServerResponse, bytes: Buffer): void {
    const headers = Object.fromEntries(Object.entries(request.headers).map(([name, value]) => [name, String(value)]));
    this.received.push({ id: headers['webhook-id'] ?? '', headers, bytes, path: request.url ?? '' });
    const answer = this.answers.shift() ?? this.otherwise;
    if (typeof answer === 'number') response.writeHead(answer).end(answer === 204 ? undefined : `answer ${answer}`);
    else answer(request, response);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#stop();
  }
}
