import { describe, expect, it } from 'vitest';
import { findingLines, findingsJson } from '#cli/doctor/doctor.ts';
import { examine, exitCodeOf } from '#cli/doctor/examine.ts';
import { CHECKS, type Findings, failure, notChecked, ok, warning } from '#cli/doctor/finding.ts';
import { freePort } from '#cli/embedded/ports.ts';
import { BASE_PATH } from '#domain/service/service-address.ts';
import { contractOpenApi } from '#test/support/contract-openapi.ts';
import { httpAnswer, startRawServer } from '#test/support/network/raw-server.ts';
import { policyFile } from '#test/support/servers/policy-files.ts';

const names = Object.keys(CHECKS) as (keyof typeof CHECKS)[];
/** How long the check waits for a Temporal that does not answer, in milliseconds. */
const SHORT = { deadlineMs: 1_000 };
/** Time limit of checks that must succeed, also on a busy machine. */
const LONG = { deadlineMs: 5_000 };

const allOk = Object.fromEntries(names.map((name) => [name, ok('fine')])) as unknown as Findings;

/** A service that accepts the login and answers the reads of the checks. */
async function startService(status: (target: string) => number = () => 200) {
  const bodies: Record<string, unknown> = {
    '/login': { access_token: 'the-access-token' },
    '/wallet': { balance: '12.50', currency: 'EUR' },
    '/openapi.json': contractOpenApi(),
  };
  return startRawServer({
    onRequest: ({ head, socket }) => {
      const target = (head.split(' ')[1] ?? '').replace(`${BASE_PATH}/sandbox`, '');
      const headers = { date: new Date().toUTCString() };
      socket.write(httpAnswer(status(target), JSON.stringify(bodies[target] ?? {}), headers));
    },
  });
}

async function environmentOf(service: { origin: string }, changes: Record<string, string> = {}) {
  return {
    DATABASE_URL: `postgres://user:the-database-password@127.0.0.1:${await freePort()}/db`,
    TEMPORAL_ADDRESS: `127.0.0.1:${await freePort()}`,
    TEMPORAL_API_KEY: 'the-temporal-key',
    ENCRYPTION_KEYS: `k1:${Buffer.alloc(32, 7).toString('base64')}`,
    SERVICE_BASE_URL: `${service.origin}${BASE_PATH}`,
    SERVICE_EMAIL: 'shop@example.com',
    SERVICE_PASSWORD: 'the-service-password',
    SERVICE_WEBHOOK_SECRETS: 'the-webhook-secret',
    PUBLIC_WEBHOOK_URL: `http://127.0.0.1:${await freePort()}/webhooks/service`,
    ...changes,
  };
}

describe('reseller doctor', () => {
  it('lists every configuration problem at once, reports other checks as not checked, and exits with 78', async () => {
    const environment = { SERVICE_BASE_URL: 'https://service.example/api', API_PORT: 'x', CODEC_PORT: 'y' };
    const findings = await examine(environment, SHORT);
    expect(exitCodeOf(findings)).toBe(78);
    expect(findings.configuration.status).toBe('failure');
    const missing = ['DATABASE_URL is missing', 'ENCRYPTION_KEYS is missing'];
    for (const part of [...missing, 'SERVICE_BASE_URL: must end with', 'API_PORT: ', 'CODEC_PORT: '])
      expect(findings.configuration.detail).toContain(part);
    // Checks whose variables all have defaults still run.
    const looked = names.filter((name) => /^(configuration|temporal|namespace|search|work|webhook)/.test(name));
    for (const name of looked) expect(findings[name].detail).not.toContain('the configuration of this part');
    const others = names.filter((name) => !looked.includes(name));
    expect(others.map((name) => `${findings[name].status}: ${findings[name].detail}`)).toEqual(
      others.map(() => 'not_checked: the configuration of this part cannot be used'),
    );
  });

  it('runs the checks that do not depend on a failed one', async () => {
    await using service = await startService();
    const findings = await examine(await environmentOf(service, { WORKER_SHUTDOWN_GRACE: 'soon' }), LONG);
    expect(exitCodeOf(findings)).toBe(78);
    const statuses = Object.fromEntries(names.map((name) => [name, findings[name].status]));
    expect(statuses).toEqual({
      configuration: 'failure',
      database: 'failure',
      migrations: 'not_checked',
      installation: 'not_checked',
      encryption_keys: 'not_checked',
      temporal: 'failure',
      namespace: 'not_checked',
      search_attributes: 'not_checked',
      worker_version: 'not_checked',
      workflow_tasks: 'not_checked',
      login: 'ok',
      token: 'ok',
      approval: 'ok',
      wallet: 'ok',
      clock: 'ok',
      webhook_secret: 'ok',
      webhook_address: 'failure',
      webhook_arrival: 'not_checked',
      contract: 'ok',
      capabilities: 'ok',
      first_purchase_check: 'ok',
      deliveries: 'not_checked',
    });
    expect(findings.database).toMatchObject({
      detail: expect.stringContaining('ECONNREFUSED'),
      advice: expect.stringContaining('DATABASE_URL'),
    });
    expect(findings.wallet.detail).toBe('12.50 EUR');
  });

  it('sends the service nothing but one login and reads', async () => {
    await using service = await startService();
    await examine(await environmentOf(service, { TEMPORAL_ADDRESS: 'nowhere' }), LONG);
    const calls = service.requests.map(({ head }) => head.split(' ', 2).join(' ').replace(`${BASE_PATH}/sandbox`, ''));
    expect(calls.toSorted()).toEqual(['GET /openapi.json', 'GET /wallet', 'GET /wallet', 'POST /login']);
  });

  it('names the tolerance of the policy when our webhook address refuses a signature', async () => {
    await using service = await startService();
    await using ours = await startRawServer({ onRequest: ({ socket }) => socket.write(httpAnswer(401, '{}')) });
    const advice = async (changes: Record<string, string>) => {
      const address = { PUBLIC_WEBHOOK_URL: `${ours.origin}/webhooks/service` };
      const findings = await examine(await environmentOf(service, { ...address, ...changes }), LONG);
      return findings.webhook_address.advice;
    };
    const own = policyFile({ 'service_webhooks.timestamp_tolerance': '2m' });
    const [usual, ofPolicy] = await Promise.all([advice({}), advice({ POLICY_FILE: own })]);
    expect(usual).toContain('at most 300 s are tolerated');
    expect(ofPolicy).toContain('at most 120 s are tolerated');
  });

  it('shows no secret in any failure', async () => {
    await using refusing = await startService(() => 401);
    await using working = await startService();
    for (const service of [refusing, working]) {
      const environment = await environmentOf(service, { LOG_LEVEL: 'loud' });
      const findings = await examine(environment, SHORT);
      const printed = `${findingLines(findings).join('\n')}\n${JSON.stringify(findingsJson(findings))}`;
      expect(printed).toContain('LOG_LEVEL');
      const keyBytes = environment.ENCRYPTION_KEYS.slice(3, 20);
      for (const secret of [/the-[a-z-]+-(password|key|secret)/, /the-access-token/, new RegExp(keyBytes)])
        expect(printed).not.toMatch(secret);
    }
  });
});

describe('the exit code', () => {
  const mild = { wallet: warning('0 EUR', 'Deposit.'), clock: notChecked('no Date') };
  const failed = { wallet: failure('gone', 'Look.') };

  it.each([
    ['nothing failed', {}, 0],
    ['there are warnings and things not checked', mild, 0],
    ['something failed', failed, 1],
    ['the configuration cannot be used', { configuration: failure('1 problem', 'Look.'), ...failed }, 78],
  ])('when %s', (_, changes: Partial<Findings>, code) => {
    expect(exitCodeOf({ ...allOk, ...changes })).toBe(code);
  });
});

describe('the output', () => {
  const findings: Findings = {
    ...allOk,
    database: failure('PostgreSQL\n  said two lines', 'Look.'),
    token: notChecked('the login failed'),
    wallet: warning('0 EUR', 'Deposit.'),
  };

  it('has one line for each check, with fact and advice, and a line of totals', () => {
    const lines = findingLines(findings);
    expect(lines.join('\n').split('\n')).toHaveLength(names.length + 2);
    expect(lines[0]).toBe('✔ configuration        fine');
    expect(lines[1]).toBe('✘ database             failure: PostgreSQL said two lines → Look.');
    expect(lines[names.indexOf('token')]).toBe('– token lifetime       not checked: the login failed');
    expect(lines[names.indexOf('wallet')]).toBe('! wallet               warning: 0 EUR → Deposit.');
    expect(lines.at(-1)).toBe('19 ok, 1 warning, 1 failure, 1 not checked');
  });
});
