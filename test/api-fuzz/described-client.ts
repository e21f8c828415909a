import { createHmac, randomUUID } from 'node:crypto';
import { readDescription, type DescribedOperation } from '#scripts/api/api-document.ts';
import type { HttpAnswer, HttpClient } from '#test/support/network/http.ts';
import type { Stack } from '#test/support/servers/stack.ts';

interface Call {
  readonly params?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
}

/** A client that calls operations by their ids in the API's description. */
export class DescribedClient {
  readonly operations: ReadonlyMap<string, DescribedOperation>;
  readonly #api: HttpClient;
  readonly #webhookSecret: string;

  private constructor(stack: Stack, operations: ReadonlyMap<string, DescribedOperation>) {
    this.#api = stack.api;
    this.#webhookSecret = stack.webhookSecret;
    this.operations = operations;
  }

  static async at(stack: Stack): Promise<DescribedClient> {
    const { operations } = readDescription((await stack.api.get('/openapi.json')).body);
    return new DescribedClient(stack, new Map(operations.map((each) => [each.id, each])));
  }

  /** Calls an operation. @throws Error if it does not exist, or answers with an error. */
  async call(id: string, { params = {}, query = {}, headers = {}, body }: Call = {}): Promise<HttpAnswer> {
    const operation = this.operations.get(id);
    if (operation === undefined) throw new Error(`the API has no operation ${id}`);
    const wantsKey = operation.parameters.some(({ name, required }) => name === 'Idempotency-Key' && required);
    const sent: Record<string, string> = { ...(wantsKey ? { 'Idempotency-Key': randomUUID() } : {}), ...headers };
    const path = operation.path.replaceAll(/\{(\w+)\}/g, (_all, name: string) =>
      encodeURIComponent(params[name] ?? ''),
    );
    const search = new URLSearchParams(query).toString();
    const target = search === '' ? path : `${path}?${search}`;
    const method = operation.method.toUpperCase();
    const answer = await this.#api.call(method, target, { headers: sent, ...(body === undefined ? {} : { body }) });
    if (answer.status >= 400) throw new Error(`${method} ${target} answered ${answer.status}: ${answer.text}`);
    return answer;
  }

  /** Sends a webhook as the service does. */
  async deliver(deliveryId: string, event: string, data: unknown): Promise<HttpAnswer> {
    const body = JSON.stringify({ event, data });
    const timestamp = String(Math.floor(Date.now() / 1_000));
    const signature = createHmac('sha256', this.#webhookSecret).update(`${timestamp}.${body}`).digest('hex');
    return this.call('receiveServiceWebhook', {
      headers: {
        'Content-Type': 'application/json',
        'X-Service-Event': event,
        'X-Service-Delivery': deliveryId,
        'X-Service-Timestamp': timestamp,
        'X-Service-Signature': `v1=${signature}`,
      },
      body: { event, data },
    });
  }
}
