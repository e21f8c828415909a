/** `reseller start` as a user runs it: a child process with output and signals. */
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, it, onTestFinished } from 'vitest';
import * as z from 'zod';
import { loadSecrets } from '#cli/data-folder/development-secrets.ts';
import { isRunning } from '#cli/embedded/child.ts';
import { freePort } from '#cli/embedded/ports.ts';
import { EmbeddedPostgres, withClient } from '#cli/embedded/postgres.ts';
import { DATABASE } from '#cli/start/plan.ts';
import { postOnce } from '#test/support/api/keys.ts';
import { Place, says, UP } from '#test/support/servers/place.ts';
import { waitFor } from '#test/support/wait-for.ts';

const findings = z.object({ checks: z.array(z.object({ check: z.string(), status: z.string(), detail: z.string() })) });

/** Runs a statement in the database of a folder on which nothing runs. */
async function inDatabase({ data, ports }: Place, statement: string): Promise<void> {
  const postgres = await EmbeddedPostgres.prepare({
    dataDirectory: join(data, 'postgres'),
    port: ports.postgres,
    password: loadSecrets(data).postgres_password,
    logFile: join(data, 'logs', 'postgres.log'),
  });
  await postgres.start();
  await withClient(postgres.url(DATABASE), (client) => client.query(statement));
  await postgres.stop();
}

// Each test starts the whole platform, some of them twice.
describe('reseller start', { timeout: 1_200_000 }, () => {
  it('completes a first order, stops on Ctrl-C, and continues unfinished work at the next start', async () => {
    const place = await Place.make();
    onTestFinished(() => place.clear());
    // Everything is on this machine, so that no proxy of the environment is used.
    const proxies = Object.fromEntries(['https_proxy', 'http_proxy'].map((name) => [name, 'http://127.0.0.1:1']));
    const first = place.start([], { SIMULATOR_PROCESSING_DELAY: '2s', ...proxies });
    await says(first, UP);
    expect(first.output()).toContain('order.completed');
    expect(first.output()).toMatch(/LPA:1\$/);
    expect(first.output()).toContain(`http://127.0.0.1:${place.ports.temporalUi}`);
    expect(statSync(join(place.data, 'dev-api-key')).mode & 0o777).toBe(0o600);
    expect(statSync(join(place.data, 'secrets.json')).mode & 0o777).toBe(0o600);
    const key = readFileSync(join(place.data, 'dev-api-key'), 'utf8');

    const unfinished = { package_id: 9001, external_order_id: 'left-unfinished' };
    const created = await postOnce(place.api, '/v1/orders', unfinished, 'left-unfinished');
    expect(created.status).toBe(202);
    const children = place.children();
    expect(children.length).toBeGreaterThanOrEqual(6);
    first.signal('SIGINT');
    expect(await first.exit()).toEqual({ code: 0, signal: null });
    expect(children.filter(isRunning)).toEqual([]);
    expect(await place.portsInUse()).toEqual([]);

    const second = place.start(['--no-demo']);
    await says(second, UP);
    expect(second.output()).not.toContain('order.completed');
    expect(readFileSync(join(place.data, 'dev-api-key'), 'utf8')).toBe(key);
    const { api } = place;
    const order = `/v1/orders/${created.textAt('id')}`;
    const isCompleted = async () => (await api.get(order)).textAt('status') === 'completed';
    await waitFor('the unfinished order is completed', isCompleted, {
      // Temporal may give a task to the worker just as it stops. The task times out and is dispatched again.
      timeoutMs: 240_000,
      context: async () => `${(await api.get(`${order}/timeline`)).text}\n${second.tail()}`,
    });

    // Other commands find the running processes by the data folder.
    const keys = await place.command(['keys', 'list']);
    expect(keys).toEqual({ code: 0, output: expect.stringMatching(/^\w{8} +development +valid/m) });
    const { checks } = findings.parse(JSON.parse((await place.command(['doctor', '--json'])).output));
    expect(checks.filter(({ status }) => status !== 'ok')).toEqual([]);

    // They also find its API, which has an unusual port, and its Temporal, decrypted.
    expect(await place.command(['orders', 'list'])).toEqual({
      code: 0,
      output: expect.stringMatching(/^ord_\w+ +completed +left-unfinished +9001 +esim_\w+ +1\.50 USD /m),
    });
    const shown = await place.command(['temporal', '--', 'workflow', 'show', '-w', `order/${created.textAt('id')}`]);
    expect(shown).toEqual({ code: 0, output: expect.stringMatching(/COMPLETED/i) });

    second.signal('SIGTERM');
    expect(await second.exit()).toEqual({ code: 0, signal: null });
    expect(await place.portsInUse()).toEqual([]);
    const nothing = expect.stringContaining('Nothing runs on');
    expect(await place.command(['keys', 'list'])).toEqual({ code: 1, output: nothing });
  });

  it('leaves no process after an interruption during its start', async () => {
    const place = await Place.make();
    onTestFinished(() => place.clear());
    const run = place.start();
    await says(run, '… Worker');
    const children = place.children();
    run.signal('SIGINT');
    expect(await run.exit()).toEqual({ code: 0, signal: null });
    expect(children.filter(isRunning)).toEqual([]);
    expect(await place.portsInUse()).toEqual([]);
    expect(run.output()).not.toContain(UP);
  });

  it('refuses the data of another simulator or of an older version in one message, before it changes anything', async () => {
    const place = await Place.make();
    onTestFinished(() => place.clear());
    const first = place.start(['--no-demo']);
    await says(first, UP);
    first.signal('SIGINT');
    await first.exit();

    const refusal = async (options: readonly string[] = [], environment: Readonly<Record<string, string>> = {}) => {
      const run = place.start(options, environment);
      expect(await run.exit()).toMatchObject({ code: 1 });
      expect(run.output()).not.toMatch(/Database schema|^\{|^ +at /m);
      return run.output();
    };
    const otherPort = await refusal([`--simulator-port=${await freePort()}`]);
    expect(otherPort.split('\n').slice(-3)).toEqual([
      expect.stringContaining(`belong to the service at http://127.0.0.1:${place.ports.simulator}/`),
      `Start with --simulator-port ${place.ports.simulator}, or name another folder with --data.`,
      '',
    ]);
    const elsewhere = { SERVICE_BASE_URL: 'https://service.example/api/reseller/v1', SERVICE_EMAIL: 'a@example.com' };
    const otherService = await refusal([], { ...elsewhere, SERVICE_PASSWORD: 'geheim' });
    expect(otherService).toContain('This database belongs to another service');

    await inDatabase(place, 'UPDATE drizzle.__drizzle_migrations SET created_at = 1');
    const older = await refusal();
    expect(older).toContain(`The data in ${place.data} are of a version from before the first release`);
    expect(older).toContain('name another one with --data');

    const file = new DatabaseSync(join(place.data, 'simulator.sqlite'));
    file.exec('PRAGMA user_version = 1');
    file.close();
    const otherVersion = await refusal();
    expect(otherVersion).toContain('has the format 1 of another simulator version');
    expect(otherVersion).not.toContain('PostgreSQL');
  });
});
