import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ApiClient } from '#cli/api/api-client.ts';
import { DataFolderLock } from '#cli/data-folder/data-folder.ts';
import { writeSecretFile } from '#cli/data-folder/development-secrets.ts';
import { PURCHASES } from '#cli/resources/purchases.ts';
import type { Environment } from '#config/environment.ts';
import { outputOf } from '#test/support/cli-output.ts';
import { pageOf, problem, row, WorkApi } from '#test/support/work/work-commands.ts';

const OF_ENVIRONMENT: Environment = { RESELLER_API_KEY: 'rsk_test' };

let api: WorkApi;
beforeEach(async () => void (api = await WorkApi.start()));
afterEach(() => api.stop());

/** Runs `orders list`. */
const list = async (options: Record<string, unknown> = {}, environment = OF_ENVIRONMENT) =>
  await outputOf(PURCHASES.order.commands['list'], { api: api.url, data: api.data, environment, options });

describe('a list', () => {
  it('reports when it is empty, and prints the field names as CSV all the same', async () => {
    api.answer = () => pageOf();
    expect((await list()).output).toBe('Nothing was found.\n');
    expect((await list({ json: true })).output).toBe('[]\n');
    expect((await list({ csv: true })).output).toMatch(/^id,status,reason,.*,charged_amount,charged_currency,/);
  });

  it('reads no more than --limit, and says when there are more', async () => {
    api.answer = () => pageOf(row('ord_1'), row('ord_2'), row('ord_3'));
    const { output, notes } = await list({ limit: 2, json: true });
    expect(JSON.parse(output)).toHaveLength(2);
    expect(notes).toBe('There are more than 2: use --limit or --all.\n');
    expect(api.calls[0]?.call).toBe('GET /v1/orders?limit=3&expand=operations');
    expect((await list({ limit: 3 })).notes).toBe('');
  });
});

describe('a list of work', () => {
  it("is shown without the operator's view to a key that lacks its scope", async () => {
    const { operations: _, ...plain } = row('ord_1');
    api.answer = (_method, path) =>
      path.includes('expand') ? problem(403, 'missing_scope', { missing_scope: 'orders:operate' }) : pageOf(plain);
    expect((await list()).output).toMatch(/^ord_1 +held +insufficient_balance /m);
    expect(api.calls.map(({ call }) => call)).toEqual([
      'GET /v1/orders?limit=100&expand=operations',
      'GET /v1/orders?limit=100',
    ]);
  });
});

describe('an error of the API', () => {
  it('is one sentence that is not doubled, as the API writes it', async () => {
    const detail = '`status` must be one of accepted, held.';
    const errors = [{ in: 'query', field: 'status', message: 'must be one of accepted, held' }];
    api.answer = () => problem(400, 'validation_failed', { detail, errors });
    expect((await list()).notes).toBe(`\nThe API answered 400: ${detail}\n`);
  });

  it('lists each of several invalid fields, and does not refer to a log', async () => {
    const errors = [
      { in: 'body', field: 'reason', message: 'is required' },
      { in: 'query', field: 'status', message: 'is not a status' },
    ];
    api.answer = () => problem(400, 'validation_failed', { detail: 'Two fields are wrong.', errors });
    const { notes, code } = await list();
    expect(notes).toContain('Two fields are wrong.\n  - reason: is required\n  - status: is not a status\n');
    expect(notes).not.toMatch(/log/);
    expect(code).toBe(1);
  });

  it('with status 500 refers to its log, with the call and the request id', async () => {
    api.answer = () => problem(501, 'internal_error', { request_id: 'req_4711\nforged\u001b[2J' });
    expect((await list()).notes).toMatch(
      /See the log of the API for GET \/v1\/orders, request req_4711\\nforged\\u001b\[2J\./,
    );
  });

  it('that refuses the key shows the source of the key', async () => {
    api.answer = () => problem(401, 'unauthenticated');
    expect((await list()).notes).toMatch(/the key of RESELLER_API_KEY\. .*--data/);
    writeSecretFile(join(api.data, 'dev-api-key'), 'rsk_of_the_folder\n');
    const { notes } = await list({}, {});
    expect(notes).toContain(`the key of ${join(api.data, 'dev-api-key')}.`);
    expect(notes).toMatch(/RESELLER_API_KEY/);
    const keys = api.calls.map(({ authorization }) => authorization);
    expect(keys).toEqual(['Bearer rsk_test', 'Bearer rsk_of_the_folder']);
  });
});

describe('an API that asks for a later call', () => {
  it('ends a command after one time limit, however often the call may be repeated, with its last answer', async () => {
    api.answer = () => problem(503, 'unavailable');
    const access = { url: api.url, key: 'rsk_test', keyFrom: 'a test' };
    // The first retry comes after 125 ms or more.
    const client = new ApiClient(access, { withinMs: 120 });
    await expect(client.call({ path: '/v1/orders' })).rejects.toThrow('The API answered 503');
    expect(api.calls).toHaveLength(1);
  });
});

describe('the address of the API', () => {
  it('is that of the set-up on the data folder, unless --api or RESELLER_URL is given', async () => {
    api.answer = () => pageOf();
    const lock = await DataFolderLock.acquire(api.data, () => undefined);
    const running = { variables: { API_PORT: new URL(api.url).port }, setByStart: [] };
    writeSecretFile(join(api.data, 'environment.json'), JSON.stringify(running));
    const at = async (where: { api?: string; environment?: Environment }) =>
      await outputOf(PURCHASES.order.commands['list'], { data: api.data, environment: OF_ENVIRONMENT, ...where });
    expect((await at({})).output).toBe('Nothing was found.\n');
    const refused = /http:\/\/127\.0\.0\.1:1 does not answer[^]*--data[^]*--api/;
    expect((await at({ api: 'http://127.0.0.1:1' })).notes).toMatch(refused);
    const elsewhere = { ...OF_ENVIRONMENT, RESELLER_URL: 'http://127.0.0.1:1' };
    expect((await at({ environment: elsewhere })).notes).toMatch(refused);
    lock.release();
  });
});
