import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { WorkDesk } from '#cli/operator/work.ts';
import { report } from '#cli/terminal/user-error.ts';
import type { WorkKind } from '#domain/work/kinds.ts';
import { removeFolder, temporaryFolder } from '#test/support/temporary.ts';

/** An answer of the API. */
export interface Answer {
  readonly status: number;
  readonly body: unknown;
}

interface Call {
  readonly call: string;
  readonly authorization: string | undefined;
  readonly idempotencyKey: string | undefined;
  readonly body: unknown;
}

/** The commands for work, with an API that gives the answers of the test. */
export class WorkApi {
  /** The answer to each call. */
  answer: (method: string, path: string) => Answer = () => problem(500, 'internal_error');
  /** All calls, in their order. */
  readonly calls: Call[] = [];
  /** The data folder of the commands. */
  readonly data = temporaryFolder('work');
  readonly #server = createServer((request, response) => {
    void this.#serve(request, response);
  });

  /** Starts an API on a port of its own. */
  static async start(): Promise<WorkApi> {
    const api = new WorkApi();
    await new Promise<void>((resolve) => api.#server.listen(0, '127.0.0.1', resolve));
    return api;
  }

  /** The address of the API. */
  get url(): string {
    const address = this.#server.address();
    return `http://127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}`;
  }

  /** Runs a command as the program does. @returns its output and its exit code. */
  async run(
    command: (desk: WorkDesk, options: { readonly api: string; readonly data: string }) => Promise<number | void>,
    {
      kind = 'order',
      environment = { RESELLER_API_KEY: 'rsk_test' },
    }: { kind?: WorkKind; environment?: Record<string, string> } = {},
  ) {
    let printed = '';
    const output = { write: (text: string | Uint8Array) => ((printed += String(text)), true) };
    try {
      const code = await command({ kind, environment, output }, { api: this.url, data: this.data });
      return { printed, code: code ?? 0 };
    } catch (error) {
      const code = report(error, output);
      return { printed, code };
    }
  }

  /** Stops the API and removes the data folder. */
  stop(): void {
    this.#server.close();
    this.#server.closeAllConnections();
    removeFolder(this.data);
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = '', url: path = '', headers } = request;
    this.calls.push({
      call: `${method} ${path}`,
      authorization: headers.authorization,
      idempotencyKey: headers['idempotency-key']?.toString(),
      body: await bodyOf(request),
    });
    const { status, body } = this.answer(method, path);
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  }
}

/** A row of held work, as the API shows it. */
export const row = (id: string, changes: Record<string, unknown> = {}) => ({
  id,
  status: 'held',
  package_id: 1001,
  external_order_id: 'shop-1',
  failure: { class: 'insufficient_balance' },
  charged: null,
  operations: { attention: null, next_step_at: '2030-01-01T00:00:00.000Z' },
  ...changes,
});
/** A refusal of the API. */
export const problem = (status: number, code: string, more: Record<string, unknown> = {}): Answer => ({
  status,
  body: { code, status, title: `The title of ${code}`, request_id: 'req_of_the_test', ...more },
});
/** The only page of a list. */
export const pageOf = (...rows: unknown[]): Answer => ({ status: 200, body: { data: rows, next_cursor: null } });
/** The reason of each action. */
export const reason = 'a test';

async function bodyOf(request: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return chunks.length === 0 ? undefined : JSON.parse(Buffer.concat(chunks).toString('utf8'));
}
