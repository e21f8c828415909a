import { execFile } from 'node:child_process';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { DataFolderLock } from '#cli/data-folder/data-folder-lock.ts';
import { writeSecretFile } from '#cli/data-folder/secret-file.ts';
import { report } from '#cli/terminal/report.ts';
import { WORK_RESOURCES, type WorkResource } from '#cli/work/kinds.ts';
import { WorkCommands } from '#cli/work/work.ts';
import { PROJECT } from '#test/support/compose.ts';
import { removeFolder, temporaryFolder } from '#test/support/temporary.ts';

interface Answer {
  readonly status: number;
  readonly body: unknown;
}

/** An API with the answers of the test. */
let answer: (method: string, path: string) => Answer;
let calls: { readonly call: string; readonly authorization: string | undefined; readonly body: unknown }[];
let server: Server;
let api: string;
let data: string;

beforeEach(async () => {
  calls = [];
  data = temporaryFolder('work');
  server = createServer((request, response) => {
    void serve(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  api = `http://127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}`;
});
afterEach(() => {
  server.close();
  server.closeAllConnections();
  removeFolder(data);
});

const row = (id: string, changes: Record<string, unknown> = {}) => ({
  id,
  status: 'held',
  package_id: 1001,
  external_order_id: 'shop-1',
  failure: { class: 'insufficient_balance' },
  attention: null,
  next_step_at: '2030-01-01T00:00:00.000Z',
  ...changes,
});
const problem = (status: number, code: string, more: Record<string, unknown> = {}): Answer => ({
  status,
  body: { code, title: `The title of ${code}`, ...more },
});
const pageOf = (...rows: unknown[]): Answer => ({ status: 200, body: { data: rows, next_cursor: null } });
const reason = 'a test';

/** Runs a command as the program does. @returns its output and its exit code. */
async function run(
  command: (commands: WorkCommands, options: { readonly api: string; readonly data: string }) => Promise<number | void>,
  {
    kind = WORK_RESOURCES.order,
    environment = { RESELLER_API_KEY: 'rsk_test' },
  }: { kind?: WorkResource; environment?: Record<string, string> } = {},
) {
  let printed = '';
  const output = { write: (text: string | Uint8Array) => ((printed += String(text)), true) };
  try {
    const code = await command(new WorkCommands(kind, environment, output), { api, data });
    return { printed, code: code ?? 0 };
  } catch (error) {
    const code = report(error, output);
    return { printed, code };
  }
}

describe('a bulk action', () => {
  const line = (id: string, result: string, more: Record<string, unknown> = {}) => ({
    id,
    status: 'held',
    failure_class: 'insufficient_balance',
    attention: null,
    result,
    refusal: null,
    detail: null,
    ...more,
  });
  const bulk = (...data: unknown[]): Answer => ({
    status: 200,
    body: { dry_run: false, matched: data.length, remaining: 0, data },
  });

  it('is one call, prints the result of each item, and exits with 1 when any was refused', async () => {
    answer = () =>
      bulk(
        line('ord_unknown', 'not_found', { status: null }),
        line('ord_ended', 'refused', { detail: 'It has ended.' }),
        line('ord_held', 'applied'),
        line('ord_done', 'unchanged'),
      );
    const ids = ['ord_unknown', 'ord_ended', 'ord_held', 'ord_done'];
    const { printed, code } = await run((commands, options) => commands.perform('retry', ids, { ...options, reason }));
    expect(printed.split('\n')).toEqual([
      'ord_unknown  refused: no work has this id',
      'ord_ended  refused: It has ended.',
      'ord_held  is tried again now  (status at that moment: held)',
      'ord_done  unchanged: already done  (status at that moment: held)',
      '2 of 4 orders done.',
      '',
    ]);
    expect(code).toBe(1);
    expect(calls).toMatchObject([
      { call: 'POST /v1/orders/bulk-actions', body: { action: 'retry', filter: { ids }, reason, dry_run: false } },
    ]);
  });

  it('as a dry run changes nothing, and lists all items that match the filter', async () => {
    answer = (method) => (method === 'GET' ? pageOf(row('ord_held')) : bulk(line('ord_held', 'would_apply')));
    const { printed, code } = await run((commands, options) =>
      commands.perform('abandon', [], { ...options, reason, failureClass: 'insufficient_balance', dryRun: true }),
    );
    expect(printed).toBe('would abandon: ord_held  held  (insufficient_balance)\n1 order. Nothing was changed.\n');
    expect(code).toBe(0);
    expect(calls).toMatchObject([
      { call: expect.stringContaining('failure_class=insufficient_balance') },
      { body: { action: 'abandon', filter: { ids: ['ord_held'] }, dry_run: true } },
    ]);
  });

  it('beyond the limit of one call is a dry run for all items', async () => {
    const many = Array.from({ length: 250 }, (_, n) => `ord_${n}`);
    const left = many.map((id) => line(id, 'would_apply'));
    answer = (method) => (method === 'GET' ? pageOf(...many.map((id) => row(id))) : bulk(...left.splice(0, 100)));
    const { printed } = await run((commands, options) =>
      commands.perform('abandon', [], { ...options, reason, status: 'held', dryRun: true }),
    );
    expect(printed).toContain('250 orders. Nothing was changed.');
    expect(calls).toHaveLength(4);
  });

  it('by a filter sends the ids of the matching items, so no action is repeated', async () => {
    answer = (method) =>
      method === 'GET' ? pageOf(row('ord_1'), row('ord_2')) : bulk(line('ord_1', 'applied'), line('ord_2', 'applied'));
    const { printed } = await run((commands, options) =>
      commands.perform('release', [], { ...options, reason, status: 'held' }),
    );
    expect(printed).toContain('ord_1  released through the gate');
    expect(calls.at(-1)).toMatchObject({
      call: 'POST /v1/orders/bulk-actions',
      body: { filter: { ids: ['ord_1', 'ord_2'] } },
    });
  });

  it('stops at an API without this kind of work', async () => {
    answer = () => problem(404, 'route_not_found');
    const { printed, code } = await run(
      (commands, options) => commands.perform('retry', ['topup_1', 'topup_2'], { ...options, reason }),
      { kind: WORK_RESOURCES.topup },
    );
    expect({ printed, code, sent: calls.length }).toEqual({
      printed: expect.stringContaining('The API answered 404'),
      code: 1,
      sent: 1,
    });
  });

  it('requires either ids or a filter', async () => {
    const none = await run((commands, options) => commands.perform('retry', [], { ...options, reason }));
    const both = await run((commands, options) =>
      commands.perform('retry', ['ord_1'], { ...options, reason, status: 'held' }),
    );
    expect(none).toEqual({ code: 1, printed: expect.stringContaining('No orders are selected.') });
    expect(both).toEqual({ code: 1, printed: expect.stringContaining('Give one or the other') });
    expect(calls).toEqual([]);
  });
});

describe('each action', () => {
  it.each([
    [
      'retry-policy',
      (commands: WorkCommands, to: { api: string; data: string }) =>
        commands.retryPolicy('ord_1', { ...to, reason, attempts: 5, firstWait: 900, longestWait: 'configured' }),
      'retry policy changed',
      { reason, attempts: 5, first_wait_seconds: 900, longest_wait_seconds: null },
    ],
    [
      'limit',
      (commands: WorkCommands, to: { api: string; data: string }) =>
        commands.limit('ord_1', '12.50 USD', { ...to, reason }),
      'limit changed',
      { reason, max_price: { amount: '12.50', currency: 'USD' } },
    ],
    [
      'resolve',
      (commands: WorkCommands, to: { api: string; data: string }) =>
        commands.resolve('ord_1', {
          ...to,
          reason,
          case: 'outcome_unknown',
          verdict: 'bought',
          serviceIds: { service_order_id: '48151' },
        }),
      'case resolved',
      { reason, case: 'outcome_unknown', verdict: 'bought', service_order_id: '48151' },
    ],
  ] as const)('%s prints the result of the action, not a later status', async (action, command, words, body) => {
    answer = () => ({ status: 200, body: row('ord_1', { status: 'needs_attention' }) });
    const { printed, code } = await run(command);
    expect(printed.split('\n')[0]).toBe(`ord_1  ${words}  (status at that moment: needs_attention)`);
    expect(code).toBe(0);
    expect(calls).toMatchObject([{ call: `POST /v1/orders/ord_1/${action}`, body }]);
  });
});

describe('a limit or a verdict for all matching orders', () => {
  const judged = {
    status: 200,
    body: {
      dry_run: true,
      matched: 1,
      remaining: 0,
      data: [
        {
          ...row('ord_1', { status: 'held' }),
          failure_class: null,
          attention: null,
          result: 'would_apply',
          refusal: null,
          detail: null,
        },
      ],
    },
  };

  it('first reads the orders that match the filter', async () => {
    answer = (method) => (method === 'GET' ? pageOf(row('ord_1')) : judged);
    const { printed, code } = await run((commands, options) =>
      commands.limit('all', 'none', { ...options, reason, status: 'held', dryRun: true }),
    );
    expect({ printed, code }).toEqual({
      printed: 'would limit: ord_1  held\n1 order. Nothing was changed.\n',
      code: 0,
    });
    const verdict = { case: 'outcome_unknown', verdict: 'not_bought', next: 'abandon' };
    await run((commands, options) =>
      commands.resolve('all', {
        ...options,
        reason,
        ...verdict,
        attention: 'outcome_unknown',
        dryRun: true,
        serviceIds: {},
      }),
    );
    expect(calls).toMatchObject([
      { call: expect.stringContaining('status=held') },
      {
        call: 'POST /v1/orders/bulk-actions',
        body: { action: 'limit', max_price: null, reason, filter: { ids: ['ord_1'] }, dry_run: true },
      },
      { call: expect.stringContaining('attention=outcome_unknown') },
      {
        call: 'POST /v1/orders/bulk-actions',
        body: { action: 'resolve', ...verdict, reason, filter: { ids: ['ord_1'] }, dry_run: true },
      },
    ]);
  });

  it.each<[string, (commands: WorkCommands, to: { api: string; data: string }) => Promise<number>, string]>([
    ['no filter', (commands, to) => commands.limit('all', 'none', { ...to, reason }), 'No orders are selected.'],
    [
      'an id beside a filter',
      (commands, to) => commands.limit('ord_1', 'none', { ...to, reason, status: 'held' }),
      'An id is given together with a filter',
    ],
    [
      'an id at the service',
      (commands, to) =>
        commands.resolve('all', {
          ...to,
          reason,
          case: 'outcome_unknown',
          verdict: 'bought',
          status: 'held',
          serviceIds: { service_order_id: '1' },
        }),
      'Give it with the id of one order',
    ],
  ])('is refused with %s', async (_name, command, words) => {
    expect(await run(command)).toEqual({ code: 1, printed: expect.stringContaining(words) });
    expect(calls).toEqual([]);
  });
});

describe('the program', () => {
  it.each([
    [
      'orders',
      ['--service-order-id', '48151', '--service-esim-id', 'E-1'],
      { service_order_id: '48151', service_esim_id: 'E-1' },
    ],
    ['topups', ['--service-topup-id', 'T-1'], { service_topup_id: 'T-1' }],
  ])('resolves a case of %s with the name of the resource at the service', async (command, named, body) => {
    answer = () => ({ status: 200, body: row('id_1', { external_topup_id: null }) });
    const args = [
      command,
      'resolve',
      'id_1',
      '--case',
      'outcome_unknown',
      '--verdict',
      'bought',
      '--reason',
      reason,
      '--api',
      api,
      ...named,
    ];
    const environment = { PATH: process.env['PATH'], RESELLER_API_KEY: 'rsk_test' };
    const { stdout } = await promisify(execFile)(process.execPath, [join(PROJECT, 'cli/reseller.mjs'), ...args], {
      env: environment,
    });
    expect(stdout).toBe('id_1  case resolved  (status at that moment: held)\n');
    expect(calls).toMatchObject([
      {
        call: `POST /v1/${command}/id_1/resolve`,
        body: { reason, case: 'outcome_unknown', verdict: 'bought', ...body },
      },
    ]);
  });
});

describe('a change of the retry policy', () => {
  const program = async (...options: string[]) => {
    answer = () => ({ status: 200, body: row('id_1') });
    const args = ['orders', 'retry-policy', 'id_1', '--reason', reason, '--api', api, ...options];
    const environment = { PATH: process.env['PATH'], RESELLER_API_KEY: 'rsk_test' };
    return promisify(execFile)(process.execPath, [join(PROJECT, 'cli/reseller.mjs'), ...args], { env: environment });
  };

  it('reads durations, and undoes changes with "configured"', async () => {
    const { stdout } = await program(
      '--first-wait',
      '15m',
      '--longest-wait',
      'configured',
      '--attempts',
      '5',
      '--deadline',
      '2030-02-04T12:00:00Z',
    );
    expect(stdout).toBe('id_1  retry policy changed  (status at that moment: held)\n');
    const body = {
      reason,
      attempts: 5,
      first_wait_seconds: 900,
      longest_wait_seconds: null,
      deadline: '2030-02-04T12:00:00Z',
    };
    expect(calls).toEqual([{ call: 'POST /v1/orders/id_1/retry-policy', authorization: 'Bearer rsk_test', body }]);
  });

  it.each([
    [['--first-wait', '1500ms'], 'whole seconds'],
    [['--attempts', 'many'], 'Use a number such as 5'],
    [['--deadline', 'tomorrow'], 'Use a time with its offset'],
    [[], 'No change is given'],
  ])('%j is refused before any call', async (options, words) => {
    await expect(program(...options)).rejects.toMatchObject({ stderr: expect.stringContaining(words) });
    expect(calls).toEqual([]);
  });
});

describe('a list', () => {
  it('reports when it is empty', async () => {
    answer = () => pageOf();
    expect((await run((commands, options) => commands.list(options))).printed).toBe('No orders.\n');
    expect((await run((commands, options) => commands.list(options), { kind: WORK_RESOURCES.topup })).printed).toBe(
      'No top-ups.\n',
    );
    expect(
      await run((commands, options) => commands.perform('retry', [], { ...options, reason, status: 'held' })),
    ).toEqual({
      printed: 'No orders.\n',
      code: 0,
    });
  });

  it('of top-ups includes those without a reference', async () => {
    const { external_order_id: _, ...topup } = row('topup_1');
    answer = () =>
      pageOf(
        { ...topup, external_topup_id: null },
        { ...topup, id: 'topup_2', external_topup_id: 'shop-9', next_step_at: null },
      );
    const { printed } = await run((commands, options) => commands.list({ ...options, status: 'held' }), {
      kind: WORK_RESOURCES.topup,
    });
    expect(printed.split('\n').slice(0, 2)).toEqual([
      'topup_1  held  (insufficient_balance)  package 1001  next step 2030-01-01T00:00:00.000Z',
      'topup_2  held  (insufficient_balance)  package 1001  shop-9',
    ]);
    expect(calls[0]?.call).toBe('GET /v1/topups?limit=100&status=held');
  });
});

describe('an error of the API', () => {
  const list = (environment?: Record<string, string>) =>
    run((commands, options) => commands.list(options), environment === undefined ? {} : { environment });

  it('lists each invalid field, and does not refer to a log', async () => {
    const errors = [
      { in: 'body', field: 'reason', message: 'is required' },
      { in: 'query', field: 'status', message: 'is not a status' },
    ];
    answer = () => problem(400, 'validation_failed', { errors });
    const { printed } = await list();
    expect(printed).toContain('\n  - reason: is required\n  - status: is not a status\n');
    expect(printed).not.toMatch(/log/);
  });

  it('with status 500 refers to its log, with the call and the request id', async () => {
    answer = () => problem(500, 'internal_error', { request_id: 'req_4711' });
    expect((await list()).printed).toMatch(
      /See the log of the API for GET \/v1\/orders\?limit=100, request req_4711\./,
    );
  });

  it('that refuses the key shows the source of the key', async () => {
    answer = () => problem(401, 'unauthenticated');
    const ofEnvironment = await list();
    expect(ofEnvironment.printed).toMatch(/the key of RESELLER_API_KEY\. .*--data/);
    writeSecretFile(join(data, 'dev-api-key'), 'rsk_of_the_folder\n');
    const ofFolder = await list({});
    expect(ofFolder.printed).toContain(`the key of ${join(data, 'dev-api-key')}.`);
    expect(ofFolder.printed).toMatch(/RESELLER_API_KEY/);
    expect(calls.map(({ authorization }) => authorization)).toEqual(['Bearer rsk_test', 'Bearer rsk_of_the_folder']);
  });
});

describe('the address of the API', () => {
  it('is that of the set-up on the data folder, unless --api is given', async () => {
    answer = () => pageOf();
    const lock = await DataFolderLock.acquire(data, () => undefined);
    writeSecretFile(join(data, 'environment.json'), JSON.stringify({ API_PORT: new URL(api).port }));
    expect((await run((commands) => commands.list({ data }))).printed).toBe('No orders.\n');
    const elsewhere = await run((commands) => commands.list({ data, api: 'http://127.0.0.1:1' }));
    expect(elsewhere.printed).toMatch(/http:\/\/127\.0\.0\.1:1 does not answer[^]*--data[^]*--api/);
    lock.release();
  });
});

async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { method = '', url: path = '', headers } = request;
  calls.push({ call: `${method} ${path}`, authorization: headers.authorization, body: await bodyOf(request) });
  const { status, body } = answer(method, path);
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}

async function bodyOf(request: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return chunks.length === 0 ? undefined : JSON.parse(Buffer.concat(chunks).toString('utf8'));
}
