import { createServer, type RequestListener, type Server } from 'node:http';
import { afterEach, describe, expect, it } from 'vitest';
import { freePort } from '#cli/embedded/ports.ts';
import { productEnvironments } from '#cli/start/environment.ts';
import { requireFreePorts, startSettings } from '#cli/start/settings.ts';
import { refuseOptionsTakenByNpm } from '#cli/start/start-command.ts';
import { waitingLines } from '#cli/start/summary.ts';
import { UserError } from '#cli/terminal/user-error.ts';
import { readApiConfig } from '#config/config.ts';
import { close, listen } from '#telemetry/http-server.ts';

const secrets = {
  encryption_keys: `dev-1:${Buffer.alloc(32, 7).toString('base64')}`,
  webhook_secret: 'whsec_generated',
  postgres_password: 'postgres-password',
  simulator_password: 'simulator-password',
};
const options = { demo: true };
const real = { SERVICE_BASE_URL: 'https://service.example/api/reseller/v1' };

function environmentsOf(environment: Record<string, string>) {
  const settings = startSettings(options, environment);
  const layout = {
    ports: settings.ports,
    databaseUrl: settings.databaseUrl ?? 'postgresql://reseller:pw@127.0.0.1:5433/reseller',
    temporalAddress: settings.temporalAddress ?? '127.0.0.1:7233',
    simulatorData: '/data/simulator.sqlite',
    ...(settings.serviceBaseUrl === undefined ? {} : { serviceBaseUrl: settings.serviceBaseUrl }),
  };
  return productEnvironments(layout, secrets, environment);
}

describe('the settings of a start', () => {
  it('let the Temporal UI of the caller use the codec server, beside its own', () => {
    const { codec } = environmentsOf({ CODEC_ALLOWED_ORIGIN: 'https://ui.example' });
    const own = 'http://127.0.0.1:8233,http://localhost:8233';
    expect(codec.CODEC_ALLOWED_ORIGIN).toBe(`https://ui.example,${own}`);
    expect(environmentsOf({}).codec.CODEC_ALLOWED_ORIGIN).toBe(own);
  });

  it('take a port from the command line, else from the environment', () => {
    expect(startSettings(options, { API_PORT: '3100' }).ports.api).toBe(3100);
    expect(startSettings({ ...options, apiPort: 3200 }, { API_PORT: '3100' }).ports.api).toBe(3200);
    expect(() => startSettings(options, { API_PORT: '70000', CODEC_PORT: 'abc' })).toThrow(
      '  - API_PORT: must be a port number\n  - CODEC_PORT: must be a port number\n',
    );
    expect(() => startSettings({ ...options, apiPort: 0 }, { CODEC_PORT: '0' })).toThrow(
      '  - --api-port: must be a port number\n  - CODEC_PORT: must be a port number\n',
    );
    expect(startSettings({ ...options, apiPort: 3200 }, { API_PORT: 'abc' }).ports.api).toBe(3200);
  });

  it('never run a demonstration order at another service than our simulator', () => {
    expect(startSettings(options, {}).demo).toBe(true);
    expect(startSettings(options, real).demo).toBe(false);
  });

  it('refuse a cluster whose servers run elsewhere', () => {
    const cluster = { ...options, cluster: true };
    expect(startSettings(cluster, { DATABASE_URL: '', ...real }).cluster).toEqual({ workers: 2, apis: 2 });
    for (const name of ['DATABASE_URL', 'TEMPORAL_ADDRESS'])
      expect(() => startSettings(cluster, { [name]: 'elsewhere' })).toThrow(`${name} is set`);
  });
});

describe('the environments of the product’s processes', () => {
  it('let simulator and API share the webhook secret, also during a rotation', () => {
    const { api, simulator } = environmentsOf({});
    expect(readApiConfig(api).webhookSecrets).toEqual([{ secret: secrets.webhook_secret }]);
    expect(simulator['SIMULATOR_WEBHOOK_SECRET']).toBe(secrets.webhook_secret);
    const rotating = environmentsOf({ SERVICE_WEBHOOK_SECRETS: 'old-secret@2030-01-01T00:00:00Z,new-secret' });
    expect(rotating.simulator['SIMULATOR_WEBHOOK_SECRET']).toBe('new-secret');
  });

  it('send no generated password to a service of the caller', () => {
    const { api } = environmentsOf({ ...real, SERVICE_EMAIL: 'a@example.com', SERVICE_PASSWORD: 'theirs' });
    expect(api).toMatchObject({ ...real, SERVICE_EMAIL: 'a@example.com', SERVICE_PASSWORD: 'theirs' });
    expect(() => readApiConfig(environmentsOf(real).api)).toThrow('SERVICE_PASSWORD is missing');
  });
});

const servers: Server[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) await close(server, 'all');
});

/** Starts a server until the end of the test. @returns its port. */
async function occupied(listener?: RequestListener): Promise<number> {
  const server = createServer(listener);
  servers.push(server);
  return listen(server, { host: '127.0.0.1', port: 0 });
}

describe('ports', () => {
  it('that are taken are all reported at once, each with its use and its option', async () => {
    const [api, simulator] = [await occupied(), await occupied()];
    const given = {
      apiPort: api,
      simulatorPort: simulator,
      workerPort: await freePort(),
      temporalPort: await freePort(),
      temporalUiPort: await freePort(),
      codecPort: await freePort(),
    };
    const settings = startSettings({ ...options, ...given }, {});
    const error: unknown = await requireFreePorts(settings).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(UserError);
    expect(error).toMatchObject({
      message:
        `Port ${api}, for the API, is used by another program.\n` +
        `Port ${simulator}, for the simulator, is used by another program.`,
    });
    expect((error as UserError).advice).toContain('--api-port N --simulator-port N');
  });
});

describe('options of a start that npm kept', () => {
  it.each([
    [{ npm_config_demo: '' }, '--no-demo'],
    [{ npm_config_api_port: 'true' }, '--api-port'],
    [{ npm_config_demo: '', npm_config_data: 'true' }, '--no-demo --data'],
  ])('%j are refused, with what to type', (environment, options) => {
    const advice = `Put \`--\` before the options: npm start -- ${options}`;
    expect(() =>
      refuseOptionsTakenByNpm(['--no-demo', '--data', '--api-port'], { PATH: '/bin', ...environment }),
    ).toThrow(expect.objectContaining({ advice }) as Error);
  });
});

it('the wait is explained by the workers, each reason once, with the addresses to look at', async () => {
  const reason = 'no version of shop is current. Make a version current: npx reseller deployment set-current 1';
  const degraded = [{ condition: 'no_work_for_workers', detail: reason }];
  const worker = () => occupied((_, response) => response.end(JSON.stringify({ ready: true, checks: {}, degraded })));
  const settings = startSettings({ data: '.data', ...options, apiPort: 3100, temporalUiPort: 8333 }, {});
  const workerPorts = [await worker(), await worker(), await freePort()];
  expect(await waitingLines({ ports: settings.ports, workerPorts, settings })).toEqual([
    `  Workers report: ${reason}`,
    '  API          http://127.0.0.1:3100',
    '  Temporal UI  http://127.0.0.1:8333',
  ]);
});
