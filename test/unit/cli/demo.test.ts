import { existsSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { runDemo, type DemoOptions } from '#cli/set-up/demo.ts';
import { Terminal } from '#cli/terminal/terminal.ts';
import { UserError } from '#cli/terminal/user-error.ts';
import { removeFolder, temporaryFolder } from '#test/support/temporary.ts';

/** The answers of our API that the demonstration needs; the test decides when orders end. */
class SmallApi {
  readonly posts: { body: unknown; idempotencyKey: string | undefined }[] = [];
  status = 'processing';
  readonly #server: Server;

  constructor() {
    this.#server = createServer((request, response) => {
      void this.#serve(request, response);
    });
  }

  async listen(): Promise<string> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
    const address = this.#server.address();
    return `http://127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}`;
  }

  close(): void {
    this.#server.close();
    this.#server.closeAllConnections();
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { status, body } = await this.#answer(request);
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  }

  async #answer(request: IncomingMessage): Promise<{ status: number; body: unknown }> {
    const path = request.url?.split('?', 1)[0];
    const order = { id: 'ord_1', status: this.status, esim_id: this.status === 'completed' ? 'esim_1' : null };
    if (request.headers.authorization !== 'Bearer key') {
      const problem = { status: 401, code: 'unauthenticated', title: 'Unauthorized', request_id: 'req_1' };
      return { status: 401, body: { ...problem, detail: 'the key is not valid' } };
    }
    if (request.method === 'POST') {
      this.posts.push({ body: await bodyOf(request), idempotencyKey: request.headers['idempotency-key']?.toString() });
      return { status: 202, body: order };
    }
    switch (path) {
      case '/v1/packages':
        return {
          status: 200,
          body: {
            data: [
              { id: 1, name: 'One' },
              { id: 9001, name: 'Slow' },
            ],
          },
        };
      case '/v1/orders/ord_1':
        return { status: 200, body: order };
      case '/v1/orders/ord_1/timeline':
        return {
          status: 200,
          body: { data: [{ at: '2026-01-01T00:00:00Z', event: 'order.accepted', message: 'Accepted.' }] },
        };
      case '/v1/esims/esim_1/activation':
        return { status: 200, body: { activation_code: 'LPA:1$smdp.example$ABC' } };
      default:
        return { status: 404, body: { title: 'Not found' } };
    }
  }
}

async function bodyOf(request: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return JSON.parse(Buffer.concat(chunks).toString('utf8'));
}

let folder: string;
let api: SmallApi;
let apiUrl: string;
let written: string;
beforeEach(async () => {
  folder = temporaryFolder('demo');
  api = new SmallApi();
  apiUrl = await api.listen();
  written = '';
});
afterEach(() => {
  api.close();
  removeFolder(folder);
});

const demo = ({
  apiKey = 'key',
  ...more
}: { apiKey?: string } & Pick<DemoOptions, 'timeoutMs' | 'explainWait' | 'quietMs'> = {}) =>
  runDemo({
    api: { url: apiUrl, key: apiKey, keyFrom: 'a test' },
    stateFile: join(folder, 'demo.json'),
    terminal: new Terminal({ write: (text: string | Uint8Array) => ((written += String(text)), true) }),
    ...more,
  });

describe('the demonstration', () => {
  it('shows each entry of the timeline once and ends with the activation code', async () => {
    api.status = 'completed';
    expect(await demo()).toBe(true);
    expect(written.match(/order\.accepted/g)).toHaveLength(1);
    expect(written).toContain('LPA:1$smdp.example$ABC');
    expect(api.posts).toHaveLength(1);
    expect(api.posts[0]?.body).toMatchObject({ package_id: 9001 });
    expect(existsSync(join(folder, 'demo.json'))).toBe(false);
  });

  it('follows the unfinished order of an interrupted run with the same request, and buys no other one', async () => {
    expect(await demo({ timeoutMs: 0 })).toBe(false);
    expect(written).toContain('and continues');
    api.status = 'completed';
    expect(await demo()).toBe(true);
    expect(api.posts).toHaveLength(2);
    expect(api.posts[1]).toEqual(api.posts[0]);
    await demo();
    expect(api.posts[2]).not.toEqual(api.posts[0]);
  });

  it('explains once why the order waits', async () => {
    let explained = 0;
    const explainWait = async () => {
      if ((explained += 1) === 1) void setImmediate(() => (api.status = 'completed'));
      return ['  Nothing is current.'];
    };
    expect(await demo({ explainWait, quietMs: 0 })).toBe(true);
    expect(explained).toBe(1);
    expect(written).toContain('The order is processing and has not changed for 0 s.\n  Nothing is current.\n');
  });

  it('shows the answer of the API when it refuses', async () => {
    await expect(demo({ apiKey: 'wrong' })).rejects.toThrow('The API answered 401: the key is not valid');
  });

  it('reports when the API does not answer', async () => {
    api.close();
    await expect(demo()).rejects.toThrow(UserError);
    await expect(demo()).rejects.toThrow('does not answer');
  });
});
