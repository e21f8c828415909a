import { createHmac, randomUUID } from 'node:crypto';
import { readDescription, type DescribedOperation } from '#scripts/api/api-document.ts';
import type { HttpAnswer, HttpClient } from '#test/support/network/http.ts';
import type { Stack } from '#test/support/servers/stack.ts';

/** One call and its answer. */
export interface Exchange {
  readonly operation: string;
  readonly request: {
    readonly method: string;
    readonly path: string;
    readonly params: Readonly<Record<string, string>>;
    readonly headers: Readonly<Record<string, string>>;
    readonly body?: unknown;
  };
  readonly response: {
    readonly status: number;
    readonly headers: Readonly<Record<string, string>>;
    /** Missing if the answer is not JSON. */
    readonly body?: unknown;
  };
}

export interface Call {
  readonly params?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  /** False for a call whose answer is not an example. */
  readonly isExample?: boolean;
}

/** A client that calls operations by their ids in the API's description, and records the calls. */
export class DescribedClient {
  readonly operations: ReadonlyMap<string, DescribedOperation>;
  readonly exchanges: Exchange[] = [];
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

  /** Calls an operation. @throws Error if it does not exist, or answers with another status than expected. */
  async call(
    id: string,
    { params = {}, query = {}, headers = {}, body, isExample = true }: Call = {},
    expected?: number,
  ): Promise<HttpAnswer> {
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
    if (expected === undefined ? answer.status >= 400 : answer.status !== expected) {
      throw new Error(`${method} ${target} answered ${answer.status}: ${answer.text}`);
    }
    if (isExample) {
      const isJson = /json/.test(answer.headers.get('content-type') ?? '');
      this.exchanges.push({
        operation: id,
        request: {
          method,
          path: target,
          params: { ...params, ...query },
          headers: sent,
          ...(body === undefined ? {} : { body }),
        },
        response: {
          status: answer.status,
          headers: Object.fromEntries(answer.headers),
          ...(isJson ? { body: answer.body } : {}),
        },
      });
    }
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
