import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { Webhook } from 'standardwebhooks';
import * as z from 'zod';
import { close, listen } from '#telemetry/http-server.ts';

const body = z.looseObject({
  type: z.string(),
  timestamp: z.string(),
  id: z.string(),
  subject: z.object({ kind: z.string(), id: z.string(), href: z.string() }),
  data: z.record(z.string(), z.unknown()),
});

interface Received {
  readonly id: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly bytes: Buffer;
  readonly path: string;
}

type Answer = number | ((request: IncomingMessage, response: ServerResponse) => void);

/** A receiver of our webhooks, as in a shop. */
export class WebhookReceiver implements AsyncDisposable {
  readonly received: Received[] = [];
  /** The answers to the next deliveries. After them, the answer is `otherwise`. */
  readonly answers: Answer[] = [];
  otherwise: Answer = 204;
  #url = '';
  readonly #server = createServer((request, response) => void this.#take(request, response));

  private constructor() {}

  static async start(): Promise<WebhookReceiver> {
    const receiver = new WebhookReceiver();
    receiver.#url = `http://127.0.0.1:${await listen(receiver.#server, { host: '127.0.0.1', port: 0 })}/hook`;
    return receiver;
  }

  get url(): string {
    return this.#url;
  }

  /** Ids of all deliveries in order of arrival, repetitions included. */
  get ids(): string[] {
    return this.received.map(({ id }) => id);
  }

  /** Verifies a delivery with the published library. @returns its body. @throws WebhookVerificationError */
  static verified({ bytes, headers }: Received, secret: string): z.output<typeof body> {
    return body.parse(new Webhook(secret).verify(bytes, { ...headers }));
  }

  async #take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const bytes = await buffer(request).catch(() => undefined);
    if (bytes === undefined) return;
    const headers = Object.fromEntries(Object.entries(request.headers).map(([name, value]) => [name, String(value)]));
    this.received.push({ id: headers['webhook-id'] ?? '', headers, bytes, path: request.url ?? '' });
    const answer = this.answers.shift() ?? this.otherwise;
    if (typeof answer === 'number') response.writeHead(answer).end(answer === 204 ? undefined : `answer ${answer}`);
    else answer(request, response);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await close(this.#server, 'all');
  }
}
