import type * as z from 'zod';

export interface HttpCall {
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent as JSON, unless it is a string or bytes. */
  readonly body?: unknown;
}

/** A complete answer. For a stream of events, which has no end, only status and headers. */
export class HttpAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly bytes: Buffer;
  readonly text: string;

  constructor(status: number, headers: Headers, bytes: Buffer) {
    this.status = status;
    this.headers = headers;
    this.bytes = bytes;
    this.text = bytes.toString('utf8');
  }

  /** The body as JSON; undefined if it is not JSON. */
  get body(): unknown {
    try {
      const parsed: unknown = JSON.parse(this.text);
      return parsed;
    } catch {
      return undefined;
    }
  }

  /** The body, parsed by a schema. @throws ZodError if it has another shape. */
  read<Schema extends z.ZodType>(schema: Schema): z.output<Schema> {
    return schema.parse(this.body);
  }

  /** The value at a path of the body, such as `at('data', 0, 'id')`; undefined if there is none. */
  at(...path: readonly (string | number)[]): unknown {
    let current = this.body;
    for (const step of path) {
      if (typeof current !== 'object' || current === null) return undefined;
      current = (current as Record<string | number, unknown>)[step];
    }
    return current;
  }

  /** The text at a path of the body. @throws Error with the answer if there is no text. */
  textAt(...path: readonly (string | number)[]): string {
    const value = this.at(...path);
    if (typeof value === 'string') return value;
    throw new Error(`no text at ${path.join('.')} of answer ${this.status}: ${this.text}`);
  }
}

/** A plain client on one base address with fixed headers. */
export class HttpClient {
  readonly baseUrl: string;
  readonly headers: Readonly<Record<string, string>>;

  constructor(baseUrl: string, headers: Readonly<Record<string, string>> = {}) {
    this.baseUrl = baseUrl;
    this.headers = headers;
  }

  async get(path: string, call: HttpCall = {}): Promise<HttpAnswer> {
    return this.call('GET', path, call);
  }

  async post(path: string, body?: unknown, call: HttpCall = {}): Promise<HttpAnswer> {
    return this.call('POST', path, { ...call, body });
  }

  async patch(path: string, body: unknown, call: HttpCall = {}): Promise<HttpAnswer> {
    return this.call('PATCH', path, { ...call, body });
  }

  async delete(path: string, call: HttpCall = {}): Promise<HttpAnswer> {
    return this.call('DELETE', path, call);
  }

  async call(method: string, path: string, call: HttpCall): Promise<HttpAnswer> {
    const headers = new Headers({ ...this.headers, ...call.headers });
    if (call.body !== undefined && !headers.has('content-type')) headers.set('content-type', 'application/json');
    const answer = await fetch(this.baseUrl + path, {
      method,
      headers,
      redirect: 'manual',
      ...(call.body === undefined ? {} : { body: bytesOf(call.body) }),
    });
    const isStream = answer.headers.get('content-type')?.startsWith('text/event-stream') === true;
    if (isStream) await answer.body?.cancel();
    return new HttpAnswer(
      answer.status,
      answer.headers,
      isStream ? Buffer.alloc(0) : Buffer.from(await answer.arrayBuffer()),
    );
  }

  with(headers: Readonly<Record<string, string>>): HttpClient {
    return new HttpClient(this.baseUrl, { ...this.headers, ...headers });
  }
}

function bytesOf(body: unknown): string | Uint8Array<ArrayBuffer> {
  if (typeof body === 'string') return body;
  return body instanceof Uint8Array ? new Uint8Array(body) : JSON.stringify(body);
}
