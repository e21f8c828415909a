import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { PROJECT } from '#test/support/compose.ts';
import { reason, row, WorkApi } from '#test/support/work/work-commands.ts';

let api: WorkApi;
beforeEach(async () => {
  api = await WorkApi.start();
});
afterEach(() => api.stop());

describe('the program', () => {
  it.each([
    [
      'orders',
      ['--service-order-id', '48151', '--service-esim-id', 'E-1'],
      { service_order_id: '48151', service_esim_id: 'E-1' },
    ],
    ['topups', ['--service-topup-id', 'T-1'], { service_topup_id: 'T-1' }],
  ])('resolves a case of %s with the name of the resource at the service', async (command, named, body) => {
    api.answer = () => ({ status: 200, body: row('id_1', { external_topup_id: null }) });
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
      api.url,
      ...named,
    ];
    const environment = { PATH: process.env['PATH'], RESELLER_API_KEY: 'rsk_test' };
    const { stdout } = await promisify(execFile)(process.execPath, [join(PROJECT, 'cli/reseller.mjs'), ...args], {
      env: environment,
    });
    expect(stdout).toBe('id_1  case resolved  (status at that moment: held)\n');
    expect(api.calls).toMatchObject([
      {
        call: `POST /v1/${command}/id_1/resolve`,
        body: { reason, case: 'outcome_unknown', verdict: 'bought', ...body },
      },
    ]);
  });
});

describe('a change of the retry policy', () => {
  const program = async (...options: string[]) => {
    api.answer = () => ({ status: 200, body: row('id_1') });
    const args = ['orders', 'retry-policy', 'id_1', '--reason', reason, '--api', api.url, ...options];
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
    expect(api.calls).toEqual([{ call: 'PATCH /v1/orders/id_1/retry-policy', authorization: 'Bearer rsk_test', body }]);
  });

  it.each([
    [['--first-wait', '1500ms'], 'whole seconds'],
    [['--attempts', 'many'], 'Use a number such as 5'],
    [['--deadline', 'tomorrow'], 'Use a time with its offset'],
    [[], 'No change is given'],
  ])('%j is refused before any call', async (options, words) => {
    await expect(program(...options)).rejects.toMatchObject({ stderr: expect.stringContaining(words) });
    expect(api.calls).toEqual([]);
  });
});
