import { writeFileSync } from 'node:fs';
import { getDefaultAutoSelectFamilyAttemptTimeout } from 'node:net';
import { join } from 'node:path';
import pg from 'pg';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import * as z from 'zod';
import { runSandboxTour } from '#cli/sandbox-tour/sandbox.ts';
import { showCapabilities } from '#cli/service/capabilities.ts';
import { PARTS } from '#config/config.ts';
import { ConfigurationError, problemText } from '#config/configuration-error.ts';
import { ADDRESS_ATTEMPT_MS, misspelled, parseEnvironment, type Environment } from '#config/environment.ts';
import { tracingFields, tracingOf } from '#config/tracing.ts';
import { VARIABLE_NAMES } from '#config/variables.ts';
import { DEFAULT_POLICY } from '#domain/policy/policy.ts';
import { readSettings } from '#simulator/options.ts';
import { policyFile } from '#test/support/servers/policy-files.ts';
import { temporaryFolder } from '#test/support/temporary.ts';

it('each address of a name has seconds to answer, not the 250 ms of Node, and a second one is tried in time', () => {
  expect(getDefaultAutoSelectFamilyAttemptTimeout()).toBe(ADDRESS_ATTEMPT_MS);
  expect(ADDRESS_ATTEMPT_MS).toBeGreaterThanOrEqual(2_000);
  const { purchase, outbound } = DEFAULT_POLICY;
  expect(2 * ADDRESS_ATTEMPT_MS).toBeLessThan(Math.min(purchase.sendDeadlineMs, outbound.sendDeadlineMs));
});

it('variables of libpq in the shell change nothing about the connection to PostgreSQL', async () => {
  onTestFinished(() => {
    vi.unstubAllEnvs();
    vi.resetModules();
  });
  const names = 'HOST PORT DATABASE USER PASSWORD PASSFILE SSLMODE OPTIONS APPNAME CLIENT_ENCODING CONNECT_TIMEOUT';
  for (const name of names.split(' ')) vi.stubEnv(`PG${name}`, 'require');
  vi.resetModules();
  await import('#config/environment.ts');
  const { host, port, database, user, ssl } = new pg.Client('postgresql://reseller@127.0.0.1:5433/books');
  const given = { host: '127.0.0.1', port: 5433, database: 'books', user: 'reseller' };
  expect({ host, port, database, user, ssl }).toEqual({ ...given, ssl: false });
  expect(Object.keys(process.env).filter((name) => name.startsWith('PG'))).toEqual([]);
});

const known = [...VARIABLE_NAMES];
const found = (environment: Record<string, string>) => misspelled(known, environment).map(({ message }) => message);

describe('a misspelled variable', () => {
  it.each([
    ['API_PROT', 'API_PORT'],
    ['LOG_LEVLE', 'LOG_LEVEL'],
    ['SERVICE_WEBHOOK_SECRET', 'SERVICE_WEBHOOK_SECRETS'],
    ['SERVICE_MDOE', 'SERVICE_MODE'],
    ['DATABASE_URI', 'DATABASE_URL'],
    ['API_TRUSTED_PROXYS', 'API_TRUSTED_PROXIES'],
    ['ENCRYPTION_KEY', 'ENCRYPTION_KEYS'],
    ['ENCRYPTION_KEY_FILE', 'ENCRYPTION_KEYS_FILE'],
    ['CODEC_ALLOWED_ORIGINS', 'CODEC_ALLOWED_ORIGIN'],
  ])('%s is found, with the name that is meant', (name, meant) => {
    expect(found({ [name]: 'x' })).toEqual([`is not a variable of this program; did you mean ${meant}?`]);
  });

  it.each([
    'APP_PORT',
    'API_KEY',
    'API_URL',
    'API_PORT_3000_TCP',
    'API_SERVICE_HOST',
    'PATH',
    'HOME',
    'SERVICE_NAME',
    'DATABASE_HOST',
    'TEMPORAL_CLI_PATH',
    'WORKER_PORT',
    'PORT',
  ])('%s is not, because it can belong to another program', (name) => expect(found({ [name]: 'x' })).toEqual([]));

  it('is none of ours', () => {
    for (const name of known) expect(found({ [name]: 'x' }), name).toEqual([]);
  });
});

const problemsOf = async (command: Promise<unknown>) => {
  const error: unknown = await command.catch((thrown: unknown) => thrown);
  return error instanceof ConfigurationError ? error.problems.map(problemText).toSorted() : error;
};

describe('a command that needs several parts of the configuration', () => {
  it('lists all missing variables at once', async () => {
    const names = ['DATABASE_URL', 'SERVICE_BASE_URL', 'SERVICE_EMAIL', 'SERVICE_PASSWORD'];
    const missing = names.map((name) => `${name} is missing`);
    expect(await problemsOf(showCapabilities({}, {}))).toEqual(missing);
    const wrong = { POLICY_FILE: policyFile({ 'purchase.resend_window': 'long' }) };
    expect(await problemsOf(runSandboxTour({ store: true }, wrong))).toEqual([
      expect.stringMatching(/^\/.*policy\.yaml:3:22: purchase\.resend_window: must be a duration/),
      ...missing,
    ]);
  });
});

function fileWith(text: string): string {
  const file = join(temporaryFolder('secret'), 'secret');
  writeFileSync(file, text);
  return file;
}

const SERVICE = { SERVICE_BASE_URL: 'https://service.example/api/reseller/v1', SERVICE_EMAIL: 'shop@example.com' };

describe('a secret in a file', () => {
  it.each([
    ['secret', 'secret'],
    ['secret\n', 'secret'],
    ['secret\r\n', 'secret'],
    [' two words \n\n', ' two words \n'],
  ])('is the content without the line break at its end: %j', (text, secret) => {
    expect(PARTS.service({ ...SERVICE, SERVICE_PASSWORD_FILE: fileWith(text) }).password).toBe(secret);
  });

  it('is refused beside its variable, without the value', () => {
    const both = () => PARTS.service({ ...SERVICE, SERVICE_PASSWORD: 'p4ss', SERVICE_PASSWORD_FILE: fileWith('x') });
    expect(both).toThrow(/SERVICE_PASSWORD_FILE: SERVICE_PASSWORD is set too: use one of them/);
    expect(both).not.toThrow(/p4ss/);
  });

  it('must exist, be a file, and have content', () => {
    const read = (file: string) => () => PARTS.service({ ...SERVICE, SERVICE_PASSWORD_FILE: file });
    expect(read('/nowhere/secret')).toThrow('SERVICE_PASSWORD_FILE: the file /nowhere/secret does not exist');
    expect(read('/nowhere/secret')).not.toThrow(/is missing/);
    expect(read(temporaryFolder('secret'))).toThrow(/is a folder/);
    expect(read(fileWith('\n'))).toThrow(/is empty/);
    expect(read(fileWith('x'.repeat(70_000)))).toThrow(/is too long for a secret/);
  });
});

describe('DATABASE_PASSWORD', () => {
  it('is the password of both addresses', () => {
    const database = PARTS.database({
      DATABASE_URL: 'postgres://reseller@127.0.0.1:5432/reseller',
      DATABASE_DIRECT_URL: 'postgres://reseller@direct/reseller',
      DATABASE_PASSWORD_FILE: fileWith('p@ss/word\n'),
    });
    expect(database.url).toBe('postgres://reseller:p%40ss%2Fword@127.0.0.1:5432/reseller');
    expect(database.directUrl).toBe('postgres://reseller:p%40ss%2Fword@direct/reseller');
  });

  it('is refused beside a password in the address', () => {
    expect(() => PARTS.database({ DATABASE_URL: 'postgres://a:b@c/d', DATABASE_PASSWORD: 'x' })).toThrow(
      'DATABASE_URL: contains a password, and DATABASE_PASSWORD is set too: use one',
    );
  });
});

describe('tracing', () => {
  const read = (environment: Environment) => tracingOf(parseEnvironment(z.object(tracingFields), environment));
  const ENDPOINT = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318' };

  it.each<[string, Environment]>([
    ['nothing is set', {}],
    ['only its details are set', { OTEL_SERVICE_NAME: 'shop', OTEL_TRACES_SAMPLER: 'always_on' }],
    ['the exporter is none', { ...ENDPOINT, OTEL_TRACES_EXPORTER: 'none' }],
    ['the SDK is disabled', { ...ENDPOINT, OTEL_SDK_DISABLED: 'True' }],
  ])('is off when %s', (_when, environment) => {
    expect(read(environment)).toBeUndefined();
  });

  it('has the sampler, the batches and the decoded headers of its variables', () => {
    const config = read({
      ...ENDPOINT,
      OTEL_TRACES_SAMPLER: 'parentbased_traceidratio',
      OTEL_TRACES_SAMPLER_ARG: '0.1',
      OTEL_BSP_SCHEDULE_DELAY: '200',
      OTEL_EXPORTER_OTLP_HEADERS: 'x-api-key=a%2Cb%3D, x-tenant=one, authorization=Basic%20YWJjZA==',
      OTEL_EXPORTER_OTLP_TRACES_HEADERS: 'x-tenant=two',
    });
    expect(config).toMatchObject({ sampler: 'parentbased_traceidratio', ratio: 0.1, scheduleDelayMs: 200 });
    const headers = { 'x-api-key': 'a,b=', 'x-tenant': 'two', authorization: 'Basic YWJjZA==' };
    expect(config?.headers).toEqual(headers);
  });

  it.each<[Environment, string]>([
    [{ OTEL_TRACES_EXPORTER: 'zipkin' }, 'OTEL_TRACES_EXPORTER: must be otlp or none'],
    [{ ...ENDPOINT, OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' }, 'OTEL_EXPORTER_OTLP_PROTOCOL: must be http/protobuf'],
    [{ OTEL_EXPORTER_OTLP_ENDPOINT: 'collector:4318' }, 'OTEL_EXPORTER_OTLP_ENDPOINT: must be a URL'],
    [{ ...ENDPOINT, OTEL_TRACES_SAMPLER: 'sometimes' }, 'OTEL_TRACES_SAMPLER'],
    [{ ...ENDPOINT, OTEL_TRACES_SAMPLER_ARG: '2' }, 'OTEL_TRACES_SAMPLER_ARG'],
    [{ ...ENDPOINT, OTEL_EXPORTER_OTLP_HEADERS: 'secret' }, 'OTEL_EXPORTER_OTLP_HEADERS: must be name=value pairs'],
  ])('refuses %o', (environment, problem) => {
    expect(() => read(environment)).toThrow(problem);
  });
});

it('the simulator’s configuration reports all errors, and the document that explains it', () => {
  const read = () => readSettings({ SIMULATOR_PORT: 'many', SIMULATOR_DIALECT: 'polite', SIMULATOR_WEBHOOK_URL: '' });
  expect(read).toThrow(/SIMULATOR_PORT: [^]*SIMULATOR_DIALECT: [^]*See docs\/simulator\.md\.$/);
});

it('the simulator takes no webhook secret without an address', () => {
  expect(() => readSettings({ SIMULATOR_WEBHOOK_SECRET: 'whsec_test' })).toThrow('SIMULATOR_WEBHOOK_URL is missing');
});
