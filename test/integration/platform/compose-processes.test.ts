/**
 * Replaces a container engine: runs the commands, environments and health checks of docker-compose.yml, with changed
 * addresses only.
 */
import { execFile } from 'node:child_process';
import { randomBytes, randomUUID } from 'node:crypto';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { freePort } from '#cli/embedded/ports.ts';
import { withClient } from '#cli/embedded/postgres.ts';
import { postOnce } from '#test/support/api/keys.ts';
import { composeService, createSecrets, PROJECT, type ComposeService, environmentHere } from '#test/support/compose.ts';
import { disposedAtEnd } from '#test/support/disposed-at-end.ts';
import { HttpClient } from '#test/support/network/http.ts';
import { SpanReceiver } from '#test/support/network/span-receiver.ts';
import { startProcess, type TestProcess } from '#test/support/servers/processes.ts';
import { removeFolder, temporaryFolder } from '#test/support/temporary.ts';
import { waitFor } from '#test/support/wait-for.ts';

const run = promisify(execFile);
const LONG_RUNNING = ['simulator', 'api', 'worker', 'codec'] as const;
type ServiceName = (typeof LONG_RUNNING)[number] | 'migrate';

const namespace = `compose-${randomBytes(6).toString('hex')}`;
const database = `compose_${randomBytes(6).toString('hex')}`;
const folder = temporaryFolder('compose');
/** The port of each service in its container → its port in this test. */
const ports = new Map<string, string>();
const running = new Map<ServiceName, TestProcess>();
const receiver = disposedAtEnd(await SpanReceiver.start());
const VALUES = {
  TEMPORAL_DATABASE_PASSWORD: 'unused',
  SERVICE_BASE_URL: 'http://simulator:4000/api/reseller/v1',
  SERVICE_EMAIL: 'reseller@example.com',
  SERVICE_WEBHOOK_SECRETS_FILE: '/run/secrets/service_webhook_secrets',
  OTEL_EXPORTER_OTLP_HEADERS_FILE: '/run/secrets/otlp_headers',
  OTEL_EXPORTER_OTLP_ENDPOINT: receiver.endpoint,
  OTEL_BSP_SCHEDULE_DELAY: '100',
  TEMPORAL_NAMESPACE: namespace,
};
const secrets = join(folder, 'secrets');

beforeAll(async () => {
  createSecrets(secrets);
  // The files are not writable, like those of an installation.
  for (const [name, secret] of Object.entries({
    service_password: 'password-of-the-test',
    service_webhook_secrets: randomBytes(16).toString('hex'),
    otlp_headers: 'x-api-key=key-of-the-test',
    database_password: decodeURIComponent(new URL(inject('servers').postgresUrl).password),
  })) {
    rmSync(join(secrets, name));
    writeFileSync(join(secrets, name), `${secret}\n`);
  }
  for (const port of ['3000', '3001', '4000', '8234']) ports.set(port, String(await freePort()));
  await withClient(inject('servers').postgresUrl, (client) => client.query(`CREATE DATABASE ${database}`));
});

afterAll(async () => {
  await Promise.all([...running.values()].map((process) => process.kill()));
  const drop = `DROP DATABASE IF EXISTS ${database} WITH (FORCE)`;
  await withClient(inject('servers').postgresUrl, (client) => client.query(drop));
  removeFolder(folder);
});

/** Addresses of the compose network → addresses of this machine. */
function here(value: string): string {
  const { postgresUrl, temporalAddress } = inject('servers');
  if (value.startsWith('postgres://'))
    return Object.assign(new URL(postgresUrl), { pathname: `/${database}`, password: '' }).href;
  return value
    .replace(/^temporal:7233$/, temporalAddress)
    .replace(/^0\.0\.0\.0$/, '127.0.0.1')
    .replace(/^\/var\/lib\/simulator\//, `${folder}/`)
    .replace(
      /^http:\/\/(?:simulator|api|127\.0\.0\.1):(\d+)(?=\/)/,
      (_, port: string) => `http://127.0.0.1:${ports.get(port) ?? port}`,
    )
    .replace(/^\d{4}$/, (port) => ports.get(port) ?? port);
}

const environmentOf = (service: ComposeService): Record<string, string> =>
  Object.fromEntries(Object.entries(environmentHere(service, secrets)).map(([name, value]) => [name, here(value)]));

function processOf(name: ServiceName) {
  const service = composeService(name, VALUES);
  const [command, script = '', ...args] = service.command ?? [];
  expect(command).toBe('node');
  return { name, script, args, environment: environmentOf(service) };
}

/** Runs the health check of a service as its container would. @throws Error when it is not healthy. */
async function checkHealth(name: ServiceName): Promise<void> {
  const [, command, script = '', url = ''] = composeService(name, VALUES).healthcheck?.test ?? [];
  expect(command).toBe('node');
  await run(process.execPath, [join(PROJECT, script), here(url)]);
}

describe('the commands of docker-compose.yml', () => {
  it('migrate an empty database, and have no effect the second time', async () => {
    for (const round of [1, 2]) {
      const migration = await startProcess(processOf('migrate'));
      expect(await migration.exit(), `round ${round}\n${migration.tail()}`).toEqual({ code: 0, signal: null });
    }
  });

  it.each(LONG_RUNNING)('start %s, and its health check passes', async (name) => {
    const started = await startProcess(processOf(name));
    running.set(name, started);

    const healthy = await waitFor(`${name} is healthy`, () => checkHealth(name).then(() => true), {
      timeoutMs: 360_000,
      everyMs: 200,
      context: () => started.tail(),
    });
    expect(healthy).toBe(true);
  });

  it('process an order from the API to its eSIM', async () => {
    const create = [join(PROJECT, 'cli/main.ts'), 'keys', 'create', 'compose', '--scopes', 'all'];
    const env = { PATH: process.env['PATH'], ...environmentOf(composeService('migrate', VALUES)) };
    const { stdout: key } = await run(process.execPath, create, { env });
    const api = new HttpClient(`http://127.0.0.1:${ports.get('3000')}`, { authorization: `Bearer ${key.trim()}` });
    const packages = await api.get('/v1/packages?limit=1');
    const wanted = { package_id: packages.at('data', 0, 'id'), external_order_id: `compose-${randomUUID()}` };
    const created = await postOnce(api, '/v1/orders', wanted);
    expect(created.status, created.text).toBe(202);

    const completed = async () => {
      const answer = await api.get(`/v1/orders/${created.textAt('id')}`);
      return answer.at('status') === 'completed' ? answer : undefined;
    };
    const context = () => [...running.values()].map((process) => process.tail(15)).join('\n');
    const order = await waitFor('the order is completed', completed, { timeoutMs: 360_000, context });
    expect(order.textAt('esim_id')).toMatch(/^esim_/);
    await waitFor('a webhook, which the simulator signs with the secret of the API, is accepted', async () =>
      /^reseller_webhook_deliveries_total\{result="accepted"\} [1-9]/m.test((await api.get('/metrics')).text),
    );
    const hasKey = () => receiver.headers['x-api-key'] === 'key-of-the-test';
    await waitFor('spans arrive with the headers of the file', hasKey);
  });

  it.each(LONG_RUNNING)('report %s as unhealthy after its end, and it exits on request', async (name) => {
    const process = running.get(name);
    await process?.stop();

    expect(await process?.exit()).toEqual({ code: 0, signal: null });
    await expect(checkHealth(name)).rejects.toThrow('fetch failed');
  });
});
