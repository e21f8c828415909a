import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { Ajv } from 'ajv';
import { describe, expect, it } from 'vitest';
import {
  readApiConfig,
  readCodecServerConfig,
  readDatabaseConfig,
  readUiProxyConfig,
  readWorkerConfig,
} from '#config/config.ts';
import {
  composeService,
  composeServices,
  composeVariables,
  environmentHere,
  PROJECT,
  rawCompose,
} from '#test/support/compose.ts';

const VALUES = {
  POSTGRES_PASSWORD: 'a1',
  DATABASE_PASSWORD: 'b2',
  TEMPORAL_DATABASE_PASSWORD: 'c3',
  ENCRYPTION_KEYS: `k1:${randomBytes(32).toString('base64')}`,
  SERVICE_BASE_URL: 'http://simulator:4000/api/reseller/v1',
  SERVICE_EMAIL: 'reseller@example.com',
  SERVICE_PASSWORD: 'password',
  SERVICE_WEBHOOK_SECRETS: 'whsec_0123456789',
};
const PRODUCT = Object.entries(composeServices()).filter(([, { build }]) => build !== undefined);
const ALL = Object.entries(composeServices());
const example = readFileSync(join(PROJECT, '.env.example'), 'utf8');

describe('docker-compose.yml', () => {
  it('is valid by the schema of the Compose Specification', () => {
    const packageFile = createRequire(import.meta.url).resolve('dclint/package.json');
    const schema: unknown = JSON.parse(readFileSync(join(dirname(packageFile), 'schemas/compose.schema.json'), 'utf8'));
    const ajv = new Ajv({ allErrors: true, strict: false, formats: { duration: true } });
    const validate = ajv.compile({ ...(schema as object), $schema: 'http://json-schema.org/draft-07/schema#' });

    expect(validate(rawCompose()), ajv.errorsText(validate.errors)).toBe(true);
    expect(validate({ services: { api: { comand: ['node'] } } })).toBe(false);
  });

  it('has the services of the whole product', () => {
    expect(ALL.map(([name]) => name).toSorted()).toEqual(
      [
        'postgres',
        'temporal-schema',
        'temporal',
        'temporal-ui',
        'temporal-ui-proxy',
        'migrate',
        'api',
        'worker',
        'codec',
        'simulator',
      ].toSorted(),
    );
    expect(composeService('simulator').profiles).toEqual(['simulator']);
  });

  it.each(ALL)('publishes the ports of %s on loopback only', (_, { ports }) => {
    for (const port of ports) expect(port).toMatch(/^127\.0\.0\.1:\d+:\d+$/);
  });

  it.each(ALL)('requires each password and key of %s as a variable', (_, { environment }) => {
    const secrets = Object.entries(environment).filter(
      ([name, value]) => /PASSWORD|PWD|SECRET|KEYS|TOKEN|DATABASE_URL/.test(name) && !['true', 'false'].includes(value),
    );
    // Refused when it is missing, or empty then. It has no default in both cases.
    for (const [name, value] of secrets) expect(value, name).toMatch(/\$\{[A-Z_]+:[?-]\}/);
  });

  it('uses exactly the variables of .env.example', () => {
    const named = [...example.matchAll(/^([A-Z_]+)=/gm)].map(([, name = '']) => name);

    expect(named.toSorted()).toEqual(
      composeVariables()
        .map(({ name }) => name)
        .toSorted(),
    );
  });

  it.each(['api', 'worker'])('gives the %s the policy file that .env names, else one that changes nothing', (name) => {
    const { environment, volumes } = composeService(name, { ...VALUES, POLICY_FILE: './policy.yaml' });
    expect(volumes).toEqual([`./policy.yaml:${environment['POLICY_FILE']}:ro`]);
    expect(composeService(name, VALUES).volumes).toEqual([`./policy.example.yaml:${environment['POLICY_FILE']}:ro`]);
  });

  it('has required variables empty in .env.example', () => {
    const required = composeVariables().filter((variable) => variable.required);
    for (const { name } of required) expect(example).toMatch(new RegExp(`^${name}=$`, 'm'));
  });

  it.each(composeVariables().filter(({ required }) => required))('refuses to start without $name', ({ name }) => {
    expect(() => composeServices({ ...VALUES, [name]: '' })).toThrow(name);
  });

  it.each(ALL)('pins the image of %s to a version, or builds it', (_, { image, build }) => {
    expect(image).toMatch(build === undefined ? /^[a-z/-]+:\d+\.\d+(\.\d+)?$/ : /^reseller-fulfilment:local$/);
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

  it('checks the health of all permanent services', () => {
    const unwatched = ALL.filter(
      ([, { restart, healthcheck }]) => restart === 'unless-stopped' && healthcheck === undefined,
    );
    expect(unwatched.map(([name]) => name)).toEqual([]);
  });

  it('mounts existing files', () => {
    const mounted = Object.values(composeServices(VALUES))
      .flatMap(({ volumes }) => volumes)
      .filter((volume) => volume.startsWith('./'));
    expect(mounted.length).toBeGreaterThan(0);
    for (const volume of mounted) expect(existsSync(join(PROJECT, volume.split(':', 1)[0] ?? '')), volume).toBe(true);
  });

  it('configures each process so that it starts', () => {
    const environment = (name: string) => environmentHere(composeService(name, VALUES));

    expect(readDatabaseConfig(environment('migrate')).database.url).toBe(
      'postgres://reseller:b2@postgres:5432/reseller',
    );
    expect(readApiConfig(environment('api'))).toMatchObject({ host: '0.0.0.0', port: 3000 });
    expect(readWorkerConfig(environment('worker'))).toMatchObject({
      probePort: 3001,
      temporal: { address: 'temporal:7233' },
    });
    expect(readCodecServerConfig(environment('codec'))).toMatchObject({ host: '0.0.0.0', token: undefined });
    expect(readUiProxyConfig(environment('temporal-ui-proxy'))).toMatchObject({
      host: '0.0.0.0',
      port: 8233,
      target: 'http://temporal-ui:8080',
    });
  });

  it('publishes the Temporal UI, which accepts any host, only through its proxy', () => {
    expect(composeService('temporal-ui').ports).toEqual([]);
    expect(composeService('temporal-ui-proxy').ports).toEqual(['127.0.0.1:8233:8233']);
    expect(readFileSync(join(PROJECT, 'ops/temporal/dynamic-config.yaml'), 'utf8')).toContain(
      'frontend.httpAllowedHosts',
    );
  });

  it.each(['api', 'worker', 'codec', 'simulator', 'temporal-ui-proxy'])(
    'checks the health of %s on its own port',
    (name) => {
      const { environment, healthcheck } = composeService(name, VALUES);
      const port = Object.entries(environment).find(([variable]) => variable.endsWith('_PORT'))?.[1];

      expect(healthcheck?.test.at(-1)).toMatch(new RegExp(`^http://127\\.0\\.0\\.1:${port}/`));
    },
  );

  it('has no token for the codec server, because only this machine can connect', () => {
    const { environment, ports } = composeService('codec');

    expect(environment['CODEC_WITHOUT_TOKEN']).toBe('true');
    expect(ports).toEqual(['127.0.0.1:8234:8234']);
  });
});
