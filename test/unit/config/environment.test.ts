import { getDefaultAutoSelectFamilyAttemptTimeout } from 'node:net';
import pg from 'pg';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { runSandboxTour } from '#cli/sandbox-tour/sandbox.ts';
import { showCapabilities } from '#cli/service/capabilities.ts';
import { ConfigurationError, problemText } from '#config/configuration-error.ts';
import { ADDRESS_ATTEMPT_MS, misspelled } from '#config/environment.ts';
import { VARIABLE_NAMES } from '#config/variables.ts';
import { DEFAULT_POLICY } from '#domain/policy/policy.ts';
import { policyFile } from '#test/support/servers/policy-files.ts';

afterEach(() => {
  vi.unstubAllEnvs();
  vi.resetModules();
});

it('each address of a name has seconds to answer, not the 250 ms of Node, and a second one is tried in time', () => {
  expect(getDefaultAutoSelectFamilyAttemptTimeout()).toBe(ADDRESS_ATTEMPT_MS);
  expect(ADDRESS_ATTEMPT_MS).toBeGreaterThanOrEqual(2_000);
  const { purchase, outbound } = DEFAULT_POLICY;
  expect(2 * ADDRESS_ATTEMPT_MS).toBeLessThan(Math.min(purchase.sendDeadlineMs, outbound.sendDeadlineMs));
});

it('variables of libpq in the shell change nothing about the connection to PostgreSQL', async () => {
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

const SERVICE = ['SERVICE_BASE_URL is missing', 'SERVICE_EMAIL is missing', 'SERVICE_PASSWORD is missing'];

describe('a command that needs several parts of the configuration', () => {
  it('lists all missing variables at once', async () => {
    expect(await problemsOf(showCapabilities({}, {}))).toEqual(['DATABASE_URL is missing', ...SERVICE]);
    const wrong = { POLICY_FILE: policyFile({ 'purchase.resend_window': 'long' }) };
    expect(await problemsOf(runSandboxTour({ store: true }, wrong))).toEqual([
      expect.stringMatching(/^\/.*policy\.yaml:3:22: purchase\.resend_window: must be a duration/),
      'DATABASE_URL is missing',
      ...SERVICE,
    ]);
  });
});
