/** The program as it is typed: options at every place, help, filters and bodies. */
import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { PROJECT } from '#test/support/compose.ts';
import { pageOf, reason, row, WorkApi } from '#test/support/work/work-commands.ts';

let api: WorkApi;
beforeEach(async () => {
  api = await WorkApi.start();
  api.answer = () => pageOf(row('ord_1'));
});
afterEach(() => api.stop());

/** Runs the program with a key of the environment. */
const reseller = async (...args: string[]) =>
  await promisify(execFile)(process.execPath, [join(PROJECT, 'cli/reseller.mjs'), ...args], {
    env: { PATH: process.env['PATH'], RESELLER_API_KEY: 'rsk_test' },
    cwd: api.data,
  });

describe('the options for the installation', () => {
  it.each([
    ['before the command', (url: string) => ['--api', url, 'orders', 'list']],
    ['between the commands', (url: string) => ['orders', '--api', url, 'list']],
    ['after the command', (url: string) => ['orders', 'list', '--api', url]],
  ])('are taken %s', async (_place, args) => {
    expect((await reseller(...args(api.url))).stdout).toContain('ord_1');
  });
});

describe('the help', () => {
  it('of the program has the version, examples and the options of all commands', async () => {
    expect((await reseller('--version')).stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
    const { stdout } = await reseller('--help');
    expect(stdout).toMatch(/--data <folder>[^]*Examples:\n {2}npx reseller orders list/);
  });

  it('exists at each level, with the filters of the API and examples', async () => {
    expect((await reseller('orders', '--help')).stdout).toMatch(/list[^]*show[^]*create[^]*retry[^]*Examples:/);
    const { stdout } = await reseller('orders', 'list', '--help');
    for (const option of ['--status', '--failure-class', '--created-after', '--limit', '--csv', '--json', '--data'])
      expect(stdout).toContain(`${option} `);
    expect(stdout).toContain('npx reseller orders list --status held,needs_attention');
    const before = (await reseller('orders', '--help', 'list')).stdout;
    expect(before).toBe((await reseller('orders', '--help')).stdout);
    expect((await reseller('orders', 'create', '--help')).stdout).toMatch(/--package-id <number>.*\(required\)/s);
  });
});

describe('what is typed', () => {
  it('becomes the query: lists, flags, and time spans until now', async () => {
    const at = ['--api', api.url];
    await reseller('orders', 'list', '--status', 'held, failed', '--created-after', '2030-01-31T12:00:00Z', ...at);
    await reseller('packages', 'list', '--available', '--country', 'ES,PT', '--json', ...at);
    const before = Date.now();
    await reseller('orders', 'list', '--created-after', '24h', ...at);
    const queries = api.calls.map(({ call }) => new URL(call.replace('GET ', ''), api.url).searchParams);
    expect(queries[0]?.get('status')).toBe('held,failed');
    expect(queries[0]?.get('created_after')).toBe('2030-01-31T12:00:00Z');
    expect([queries[1]?.get('available'), queries[1]?.get('country')]).toEqual(['true', 'ES,PT']);
    const since = Date.parse(queries[2]?.get('created_after') ?? '');
    expect(since).toBeGreaterThanOrEqual(before - 86_400_000);
    expect(since).toBeLessThanOrEqual(Date.now() - 86_400_000);
  });

  it('becomes the body, with amounts, metadata and the values of a file', async () => {
    api.answer = () => ({ status: 202, body: row('ord_1') });
    const file = join(api.data, 'order.json');
    writeFileSync(file, JSON.stringify({ package_id: 1, external_order_id: 'of the file' }));
    const { stdout } = await reseller(
      ...`orders create --package-id 1001 --metadata shop=1 --metadata note=a=b --api ${api.url}`.split(' '),
      '--max-price',
      '5.00 usd',
      '--body',
      file,
    );
    expect(stdout).toMatch(/^id +ord_1\nstatus +held\n/);
    expect(api.calls).toMatchObject([
      {
        call: 'POST /v1/orders',
        body: {
          package_id: 1001,
          external_order_id: 'of the file',
          max_price: { amount: '5.00', currency: 'USD' },
          metadata: { shop: '1', note: 'a=b' },
        },
      },
    ]);
  });

  it.each([
    [['orders', 'create', '--package-id', '1'], 'Required, and not given: --external-order-id.'],
    [['orders', 'create', '--max-price', '5'], 'Use an amount with its currency'],
    [['orders', 'create', '--body', 'missing.json'], 'missing.json cannot be read as JSON'],
    [['orders', 'list', '--created-after', 'yesterday'], 'Use a duration'],
    [['orders', 'list', '--json', '--csv'], "cannot be used with option '--csv'"],
    [['orders', 'list', '--limit', '0'], 'Use a number from 1'],
    [['packages', 'list', '--available', 'maybe'], 'Use true or false'],
  ])('%j is refused before any call', async (args, words) => {
    await expect(reseller(...args, '--api', api.url)).rejects.toMatchObject({ stderr: expect.stringContaining(words) });
    expect(api.calls).toEqual([]);
  });
});

describe('an action on work', () => {
  const act = async (...args: string[]) => {
    api.answer = () => ({ status: 200, body: row('id_1') });
    return reseller(...args, '--reason', reason, '--api', api.url);
  };

  it.each([
    ['orders', '--service-order-id 48151 --service-esim-id E-1', { service_order_id: '48151', service_esim_id: 'E-1' }],
    ['topups', '--service-topup-id T-1', { service_topup_id: 'T-1' }],
  ])('resolves a case of %s with the name of the resource at the service', async (command, named, body) => {
    const args = `${command} resolve id_1 --case outcome_unknown --verdict bought ${named}`;
    expect((await act(...args.split(' '))).stdout).toBe('id_1  case resolved  (status at that moment: held)\n');
    const fact = { reason, case: 'outcome_unknown', verdict: 'bought', ...body };
    expect(api.calls).toMatchObject([{ call: `POST /v1/${command}/id_1/resolve`, body: fact }]);
  });

  it('on the retry policy reads durations, and undoes changes with "configured"', async () => {
    const options = '--first-wait 15m --longest-wait configured --attempts 5 --deadline 2030-02-04T12:00:00Z';
    const { stdout } = await act('orders', 'retry-policy', 'id_1', ...options.split(' '));
    expect(stdout).toBe('id_1  retry policy changed  (status at that moment: held)\n');
    const waits = { first_wait_seconds: 900, longest_wait_seconds: null };
    const body = { reason, attempts: 5, ...waits, deadline: '2030-02-04T12:00:00Z' };
    expect(api.calls).toMatchObject([
      { call: 'PATCH /v1/orders/id_1/retry-policy', authorization: 'Bearer rsk_test', body },
    ]);
  });

  it.each([
    [['--first-wait', '1500ms'], 'whole seconds'],
    [['--attempts', 'many'], 'Use a number such as 5'],
    [['--deadline', 'tomorrow'], 'Use a time with its offset'],
    [[], 'No change is given'],
  ])('on the retry policy with %j is refused before any call', async (options, words) => {
    const refused = act('orders', 'retry-policy', 'id_1', ...options);
    await expect(refused).rejects.toMatchObject({ stderr: expect.stringContaining(words) });
    expect(api.calls).toEqual([]);
  });
});
