import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import type { WorkDesk } from '#cli/operator/work.ts';
import { report } from '#cli/terminal/user-error.ts';
import { close, listen } from '#telemetry/http-server.ts';
import { captured } from '#test/support/cli-output.ts';
import { removeFolder, temporaryFolder } from '#test/support/temporary.ts';

export interface Answer {
  readonly status: number;
  readonly body: unknown;
}

/** The commands for work, with an API that gives the answers of the test. */
export class WorkApi {
  answer: (method: string, path: string) => Answer = () => problem(500, 'internal_error');
  readonly calls: { readonly call: string; readonly authorization: string | undefined; readonly body: unknown }[] = [];
  readonly data = temporaryFolder('work');
  #url = '';
  readonly #server = createServer((request, response) => void this.#serve(request, response));

  static async start(): Promise<WorkApi> {
    const api = new WorkApi();
    api.#url = `http://127.0.0.1:${await listen(api.#server, { host: '127.0.0.1', port: 0 })}`;
    return api;
  }

  get url(): string {
    return this.#url;
  }

  /** Runs a command as the program does. @returns its output and its exit code. */
  async run(
    command: (desk: WorkDesk, options: { readonly api: string; readonly data: string }) => Promise<number | void>,
  ) {
    const output = captured();
    const desk = { kind: 'order', environment: { RESELLER_API_KEY: 'rsk_test' }, output } as const;
    const code = await command(desk, { api: this.url, data: this.data }).catch((error: unknown) =>
      report(error, output),
    );
    return { printed: output.text(), code: code ?? 0 };
  }

  async stop(): Promise<void> {
    await close(this.#server, 'all');
    removeFolder(this.data);
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = '', url: path = '' } = request;
    const sent = await text(request);
    const { authorization } = request.headers;
    this.calls.push({ call: `${method} ${path}`, authorization, body: sent === '' ? undefined : JSON.parse(sent) });
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
export const problem = (status: number, code: string, more: Record<string, unknown> = {}): Answer => ({
  status,
  body: { code, status, title: `The title of ${code}`, request_id: 'req_of_the_test', ...more },
});
/** The only page of a list. */
export const pageOf = (...rows: unknown[]): Answer => ({ status: 200, body: { data: rows, next_cursor: null } });
/** The reason of each action. */
export const reason = 'a test';
