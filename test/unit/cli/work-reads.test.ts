import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { DataFolderLock } from '#cli/data-folder/data-folder-lock.ts';
import { writeSecretFile } from '#cli/data-folder/secret-file.ts';
import { WORK_RESOURCES } from '#cli/work/kinds.ts';
import { pageOf, problem, reason, row, WorkApi } from '#test/support/work/work-commands.ts';

let api: WorkApi;
beforeEach(async () => {
  api = await WorkApi.start();
});
afterEach(() => api.stop());

describe('a list', () => {
  it('reports when it is empty', async () => {
    api.answer = () => pageOf();
    expect((await api.run((commands, options) => commands.list(options))).printed).toBe('No orders.\n');
    expect((await api.run((commands, options) => commands.list(options), { kind: WORK_RESOURCES.topup })).printed).toBe(
      'No top-ups.\n',
    );
    expect(
      await api.run((commands, options) => commands.perform('retry', [], { ...options, reason, status: 'held' })),
    ).toEqual({
      printed: 'No orders.\n',
      code: 0,
    });
  });

  it('of top-ups includes those without a reference', async () => {
    const { external_order_id: _, ...topup } = row('topup_1');
    api.answer = () =>
      pageOf(
        { ...topup, external_topup_id: null },
        { ...topup, id: 'topup_2', external_topup_id: 'shop-9', next_step_at: null },
      );
    const { printed } = await api.run((commands, options) => commands.list({ ...options, status: 'held' }), {
      kind: WORK_RESOURCES.topup,
    });
    expect(printed.split('\n').slice(0, 2)).toEqual([
      'topup_1  held  (insufficient_balance)  package 1001  next step 2030-01-01T00:00:00.000Z',
      'topup_2  held  (insufficient_balance)  package 1001  shop-9',
    ]);
    expect(api.calls[0]?.call).toBe('GET /v1/topups?limit=100&status=held');
  });
});

describe('an error of the API', () => {
  const list = (environment?: Record<string, string>) =>
    api.run((commands, options) => commands.list(options), environment === undefined ? {} : { environment });

  it('lists each invalid field, and does not refer to a log', async () => {
    const errors = [
      { in: 'body', field: 'reason', message: 'is required' },
      { in: 'query', field: 'status', message: 'is not a status' },
    ];
    api.answer = () => problem(400, 'validation_failed', { errors });
    const { printed } = await list();
    expect(printed).toContain('\n  - reason: is required\n  - status: is not a status\n');
    expect(printed).not.toMatch(/log/);
  });

  it('with status 500 refers to its log, with the call and the request id', async () => {
    api.answer = () => problem(500, 'internal_error', { request_id: 'req_4711' });
    expect((await list()).printed).toMatch(
      /See the log of the API for GET \/v1\/orders\?limit=100, request req_4711\./,
    );
  });

  it('that refuses the key shows the source of the key', async () => {
    api.answer = () => problem(401, 'unauthenticated');
    const ofEnvironment = await list();
    expect(ofEnvironment.printed).toMatch(/the key of RESELLER_API_KEY\. .*--data/);
    writeSecretFile(join(api.data, 'dev-api-key'), 'rsk_of_the_folder\n');
    const ofFolder = await list({});
    expect(ofFolder.printed).toContain(`the key of ${join(api.data, 'dev-api-key')}.`);
    expect(ofFolder.printed).toMatch(/RESELLER_API_KEY/);
    expect(api.calls.map(({ authorization }) => authorization)).toEqual([
      'Bearer rsk_test',
      'Bearer rsk_of_the_folder',
    ]);
  });
});

describe('the address of the API', () => {
  it('is that of the set-up on the data folder, unless --api is given', async () => {
    api.answer = () => pageOf();
    const lock = await DataFolderLock.acquire(api.data, () => undefined);
    writeSecretFile(join(api.data, 'environment.json'), JSON.stringify({ API_PORT: new URL(api.url).port }));
    expect((await api.run((commands) => commands.list({ data: api.data }))).printed).toBe('No orders.\n');
    const elsewhere = await api.run((commands) => commands.list({ data: api.data, api: 'http://127.0.0.1:1' }));
    expect(elsewhere.printed).toMatch(/http:\/\/127\.0\.0\.1:1 does not answer[^]*--data[^]*--api/);
    lock.release();
  });
});
