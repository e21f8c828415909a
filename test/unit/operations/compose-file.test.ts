import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { Ajv } from 'ajv';
import { describe, expect, it } from 'vitest';
import { DRAIN_MS } from '#api/http/server.ts';
import { SERVER_VERSIONS } from '#cli/embedded/tool.ts';
import { PARTS, readApiConfig, readCodecServerConfig, readUiProxyConfig, readWorkerConfig } from '#config/config.ts';
import {
  COMPOSE_VALUES as VALUES,
  composeService,
  composeServices,
  composeVariables,
  createSecrets,
  environmentHere,
  PROJECT,
  rawCompose,
  readProject,
} from '#test/support/compose.ts';
import { temporaryFolder } from '#test/support/temporary.ts';

const secretsFolder = temporaryFolder('secrets');
createSecrets(secretsFolder);
writeFileSync(join(secretsFolder, 'service_password'), 'password');
const ALL = Object.entries(composeServices());
const PRODUCT = ALL.filter(([, { build }]) => build !== undefined);

describe('docker-compose.yml', () => {
  it('is valid by the schema of the Compose Specification', () => {
    const packageFile = createRequire(import.meta.url).resolve('dclint/package.json');
    const schema: unknown = JSON.parse(readFileSync(join(dirname(packageFile), 'schemas/compose.schema.json'), 'utf8'));
    const ajv = new Ajv({ allErrors: true, strict: false, formats: { duration: true } });
    const validate = ajv.compile({ ...(schema as object), $schema: 'http://json-schema.org/draft-07/schema#' });
    expect(validate(rawCompose()), ajv.errorsText(validate.errors)).toBe(true);
    expect(validate({ services: { api: { comand: ['node'] } } })).toBe(false);
  });

  it.each(ALL)('limits %s: its memory, processors, processes and logs, its ports to loopback', (_, service) => {
    for (const port of service.ports) expect(port).toMatch(/^127\.0\.0\.1:\d+:\d+$/);
    expect(service).toMatchObject({
      mem_limit: expect.stringMatching(/^\d+[mg]$/),
      cpus: expect.any(Number),
      pids_limit: expect.any(Number),
      logging: { driver: 'json-file', options: { 'max-size': '10m', 'max-file': '5' } },
    });
  });

  it('uses exactly the variables of .env.example', () => {
    const named = [...readProject('.env.example').matchAll(/^([A-Z_]+)=/gm)].map(([, name = '']) => name);
    const used = composeVariables().map(({ name }) => name);
    expect(named.toSorted()).toEqual(used.toSorted());
  });

  it.each(['api', 'worker'])('gives the %s the policy file that .env names, else one that changes nothing', (name) => {
    const { environment, volumes } = composeService(name, { ...VALUES, POLICY_FILE: './policy.yaml' });
    expect(volumes).toContain(`./policy.yaml:${environment['POLICY_FILE']}:ro`);
    expect(composeService(name, VALUES).volumes).toContain(`./policy.example.yaml:${environment['POLICY_FILE']}:ro`);
  });

  it.each(composeVariables().filter(({ required }) => required))('refuses to start without $name', ({ name }) => {
    expect(() => composeServices({ ...VALUES, [name]: '' })).toThrow(name);
  });

  it.each(ALL)('pins the image of %s to a version, or builds it', (_, { image, build }) => {
    expect(image).toMatch(build === undefined ? /^[a-z/-]+:v?\d+\.\d+(\.\d+)?$/ : /^reseller-fulfilment:local$/);
  });

  it.each(PRODUCT)('gives %s a read-only file system and no privilege', (_, definition) => {
    expect(definition).toMatchObject({
      read_only: true,
      init: true,
      cap_drop: ['ALL'],
      security_opt: ['no-new-privileges:true'],
    });
    expect(definition).not.toHaveProperty('privileged');
    expect(definition).not.toHaveProperty('user');
  });

  it.each(ALL)('has only start conditions of %s that can become true', (_, { depends_on: needs }) => {
    const hopeless = Object.entries(needs).filter(([name, { condition }]) => {
      const { healthcheck, restart } = composeService(name);
      if (condition === 'service_healthy') return healthcheck === undefined;
      return condition !== 'service_completed_successfully' || restart !== 'on-failure';
    });
    expect(hopeless).toEqual([]);
  });

  it('starts no service with a profile that exits and that no service waits for, because `up --wait` would fail', () => {
    const profilesOf = (each: readonly (typeof ALL)[number][]) =>
      each.flatMap(([, { profiles }]) => profiles ?? ['none']);
    const awaited = new Set(
      ALL.flatMap(([, { depends_on: needs }]) => Object.entries(needs))
        .filter(([, { condition }]) => condition === 'service_completed_successfully')
        .map(([name]) => name),
    );
    const permanent = ALL.filter(([, { restart }]) => restart === 'unless-stopped');
    const exiting = ALL.filter((each) => !permanent.includes(each) && !awaited.has(each[0]));
    expect(exiting.map(([name]) => name)).toEqual(['backup', 'restore']);
    expect(profilesOf(exiting).filter((profile) => profilesOf(permanent).includes(profile))).toEqual([]);
  });

  it('checks the health of all permanent services', () => {
    const permanent = ALL.filter(([, { restart }]) => restart === 'unless-stopped');
    expect(permanent.filter(([, { healthcheck }]) => healthcheck === undefined).map(([name]) => name)).toEqual([]);
  });

  it('mounts existing files', () => {
    const volumes = Object.values(composeServices(VALUES)).flatMap((each) => each.volumes);
    const mounted = volumes.filter((volume) => volume.startsWith('./'));
    expect(mounted.length).toBeGreaterThan(0);
    for (const volume of mounted) expect(existsSync(join(PROJECT, volume.split(':', 1)[0] ?? '')), volume).toBe(true);
  });

  it('configures each process so that it starts', () => {
    const environment = (name: string) => environmentHere(composeService(name, VALUES), secretsFolder);
    const password = readFileSync(join(secretsFolder, 'database_password'), 'utf8').trim();
    expect(PARTS.database(environment('migrate')).url).toBe(`postgres://reseller:${password}@postgres:5432/reseller`);
    expect(readApiConfig(environment('api'))).toMatchObject({ host: '0.0.0.0', port: 3000 });
    const temporal = { address: 'temporal:7233' };
    expect(readWorkerConfig(environment('worker'))).toMatchObject({ probePort: 3001, temporal });
    expect(readCodecServerConfig(environment('codec'))).toMatchObject({ host: '0.0.0.0', token: undefined });
    const proxy = { host: '0.0.0.0', port: 8233, target: 'http://temporal-ui:8080' };
    expect(readUiProxyConfig(environment('temporal-ui-proxy'))).toMatchObject(proxy);
  });

  it('kills a worker and an API only after they had the time to end their work', () => {
    const periodMs = (name: string) => {
      const { stop_grace_period: period } = composeService(name, VALUES);
      expect(period).toMatch(/^\d+s$/);
      return Number.parseInt(String(period), 10) * 1_000;
    };
    const { shutdownGraceMs } = readWorkerConfig(environmentHere(composeService('worker', VALUES), secretsFolder));
    // A worker stops its relay before the grace, and closes its connections after it.
    expect(periodMs('worker')).toBeGreaterThanOrEqual(shutdownGraceMs + 15_000);
    expect(periodMs('api')).toBeGreaterThan(DRAIN_MS);
  });

  it('publishes the Temporal UI, which accepts any host, only through its proxy', () => {
    expect(composeService('temporal-ui').ports).toEqual([]);
    expect(composeService('temporal-ui-proxy').ports).toEqual(['127.0.0.1:8233:8233']);
    expect(readProject('ops/temporal/dynamic-config.yaml')).toContain('frontend.httpAllowedHosts');
  });
});

const { temporal_server: server, temporal_ui: ui, temporal_cli: cli, postgres } = SERVER_VERSIONS;

describe('the versions of the servers in ops/versions.json', () => {
  it.each([
    ['temporal', `temporalio/server:${server}`],
    ['temporal-schema', `temporalio/admin-tools:${server}`],
    ['temporal-ui', `temporalio/ui:${ui}`],
    ['postgres', `postgres:${postgres}`],
  ])('are those of the service %s of compose', (service, image) => {
    expect(composeService(service).image).toBe(image);
  });

  it.each([
    ['temporal-server', `go.temporal.io/server v${server}`],
    ['temporal-server', `github.com/temporalio/ui-server/v2 v${ui}`],
    ['temporal-cli', `github.com/temporalio/cli v${cli}`],
  ])('are those that ops/%s builds: %s', (module, line) => {
    expect(readProject(`ops/${module}/go.mod`)).toContain(line);
  });
});
