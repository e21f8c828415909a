import { describe, expect, it } from 'vitest';
import { checkApproval } from '#cli/doctor/installation/approval.ts';
import { checkCapabilities } from '#cli/doctor/service/capabilities.ts';
import { checkClock } from '#cli/doctor/service/clock.ts';
import { checkContract } from '#cli/doctor/service/contract.ts';
import { checkLogin } from '#cli/doctor/service/login.ts';
import { checkToken } from '#cli/doctor/service/token.ts';
import { checkWallet } from '#cli/doctor/service/wallet.ts';
import { readServiceConfig, type ServiceConfig } from '#config/config.ts';
import type { StoredCapabilityProfile } from '#db/service/capability-profiles.ts';
import { ALL_CAPABILITIES, type Capability } from '#domain/service/capabilities.ts';
import { BASE_PATH } from '#domain/service/service-address.ts';
import { contractOpenApi } from '#test/support/contract-openapi.ts';
import { httpAnswer, startRawServer } from '#test/support/network/raw-server.ts';
import { jsonAnswer, refusal, startTestClient } from '#test/support/upstream-client.ts';
import type { ServiceFailure } from '#upstream/client/error-mapping.ts';

const config = (changes: Partial<ServiceConfig> = {}): ServiceConfig => ({
  baseUrl: `https://service.example${BASE_PATH}`,
  mode: 'sandbox',
  email: 'shop@example.com',
  password: 'secret',
  deviceName: 'backend',
  tokenDays: undefined,
  capabilities: ALL_CAPABILITIES,
  resendAllowed: true,
  ...changes,
});

const failed = (failure: ServiceFailure['failure']): ServiceFailure => ({
  ok: false,
  kind: 'failure',
  failure,
  detail: 'The service answered something.',
});

describe('the clock', () => {
  const DATE = Date.UTC(2026, 5, 1, 12, 0, 0);

  async function clockAt(now: number, headers: Record<string, string> = { date: new Date(DATE).toUTCString() }) {
    await using server = await startRawServer({
      onRequest: ({ socket }) => socket.write(httpAnswer(401, '{}', headers)),
    });
    return await checkClock(config({ baseUrl: `${server.origin}${BASE_PATH}` }), { now: () => now, deadlineMs: 5_000 });
  }

  it.each([
    [0, 'ok', "agrees with the service's"],
    // The header has no fraction of its second.
    [999, 'ok', "agrees with the service's"],
    [30_999, 'ok', "ours is 30 s ahead of the service's"],
    [31_999, 'warning', "ours is 31 s ahead of the service's"],
    [-31_000, 'warning', "ours is 31 s behind the service's"],
    [300_999, 'warning', "ours is 300 s ahead of the service's"],
    [301_999, 'failure', "ours is 301 s ahead of the service's"],
    [-301_000, 'failure', "ours is 301 s behind the service's"],
  ])('that is off by %i ms: %s', async (offset, status, detail) => {
    expect(await clockAt(DATE + offset)).toMatchObject({ status, detail: expect.stringContaining(detail) });
  });

  it('is not checked without a Date header, and needs no login', async () => {
    expect(await clockAt(DATE, {})).toEqual({
      status: 'not_checked',
      detail: expect.stringContaining('no Date header'),
    });
  });
});

describe('the login', () => {
  it.each([
    ['unauthorized', /SERVICE_PASSWORD/],
    ['not_approved', /Ask the service for approval/],
    ['not_sent', /SERVICE_BASE_URL/],
  ] as const)('that fails as %s has an advice', (failure, advice) => {
    expect(checkLogin(failed(failure), config())).toMatchObject({
      status: 'failure',
      advice: expect.stringMatching(advice),
    });
  });
});

describe('the token lifetime', () => {
  const token = (lifetimeMs: number | undefined) => ({
    accessToken: 't',
    version: 1,
    renewedAt: 5_000,
    expiresAt: lifetimeMs === undefined ? undefined : 5_000 + lifetimeMs,
  });
  const DAY = 86_400_000;

  it.each([
    ['no end', undefined, undefined, 'ok'],
    ['a day', DAY, undefined, 'ok'],
    ['almost the requested lifetime', 29.9 * DAY, 30, 'ok'],
    ['less than the requested lifetime', 7 * DAY, 30, 'warning'],
    ['a few minutes', 599_000, undefined, 'warning'],
  ])('of %s', (_, lifetimeMs, tokenDays, status) => {
    expect(checkToken(token(lifetimeMs), config({ tokenDays })).status).toBe(status);
  });
});

describe('production approval', () => {
  const production = config({ mode: 'production' });
  const movement = (type: 'debit' | 'credit') => ({
    id: '1',
    type,
    amount: '5.00',
    currency: 'EUR',
    reason: 'x',
    created_at: '2026-01-01T00:00:00Z',
  });

  async function approvalWith(answer: Buffer, known: { walletRefused?: string; held?: number } = {}) {
    await using service = await startTestClient(() => answer, { mode: 'production' });
    return {
      finding: await checkApproval(service.client, production, { held: 0, ...known }),
      calls: service.server.requests.length,
    };
  }

  it('is proven by a purchase in the wallet', async () => {
    const { finding } = await approvalWith(jsonAnswer({ data: [movement('credit'), movement('debit')] }));
    expect(finding.status).toBe('ok');
  });

  it('is unknown before the first purchase, because successful reads prove nothing', async () => {
    const { finding } = await approvalWith(jsonAnswer({ data: [movement('credit')] }));
    expect(finding).toMatchObject({ status: 'warning', detail: expect.stringMatching(/^unknown/) });
  });

  it('is unknown when the movements cannot be read', async () => {
    expect((await approvalWith(refusal(404, 'not_found'))).finding).toMatchObject({
      status: 'warning',
      detail: expect.stringMatching(/^unknown/),
    });
  });

  it('is missing when a read is refused for it [spec: environments.approval]', async () => {
    const missing = { status: 'failure', detail: expect.stringContaining('has not approved') };
    expect((await approvalWith(refusal(403, 'not_approved'))).finding).toMatchObject(missing);
    expect(await approvalWith(jsonAnswer({ data: [] }), { walletRefused: 'not_approved' })).toMatchObject({
      finding: missing,
      calls: 0,
    });
  });
});

describe('production approval, by the last answers to our orders', () => {
  it('is missing while purchases are held as not approved, also after earlier purchases', async () => {
    const debit = {
      id: '1',
      type: 'debit',
      amount: '5.00',
      currency: 'EUR',
      reason: 'x',
      created_at: '2026-01-01T00:00:00Z',
    };
    await using service = await startTestClient(() => jsonAnswer({ data: [debit] }), { mode: 'production' });
    const finding = await checkApproval(service.client, config({ mode: 'production' }), { held: 3 });
    expect(finding).toMatchObject({
      status: 'failure',
      detail: expect.stringContaining('3 purchases are held'),
      advice: expect.stringContaining('SERVICE_MODE=sandbox'),
    });
    expect(service.server.requests).toHaveLength(0);
  });

  it('is not needed in the sandbox, which is the default', async () => {
    const { mode } = readServiceConfig({
      SERVICE_BASE_URL: `https://service.example${BASE_PATH}`,
      SERVICE_EMAIL: 'shop@example.com',
      SERVICE_PASSWORD: 'secret',
    });
    expect(mode).toBe('sandbox');
    await using service = await startTestClient(() => jsonAnswer({ data: [] }));
    expect(await checkApproval(service.client, config({ mode }), { held: 0 })).toEqual({
      status: 'ok',
      detail: 'not needed in the sandbox',
    });
  });
});

describe('the wallet', () => {
  const wallet = (balance: string) => checkWallet({ ok: true, status: 200, value: { balance, currency: 'EUR' } });

  it.each([
    ['0.01', 'ok'],
    ['0.00', 'warning'],
    ['-3', 'warning'],
  ])('with %s', (balance, status) => {
    expect(wallet(balance)).toMatchObject({ status, detail: `${balance} EUR` });
  });

  it('that cannot be read is a failure', () => {
    expect(checkWallet(failed('contract_drift')).status).toBe('failure');
  });
});

describe('the contract', () => {
  const check = async (answer: Buffer, capabilities = ALL_CAPABILITIES, data?: string) => {
    await using service = await startTestClient(() => answer, { capabilities });
    return await checkContract(service.client, capabilities, { data });
  };

  it('is ok when the OpenAPI document has everything that we need', async () => {
    expect(await check(jsonAnswer(contractOpenApi()))).toMatchObject({ status: 'ok' });
  });

  it('fails with the first differences', async () => {
    const document = contractOpenApi();
    Reflect.deleteProperty(document.paths, '/orders');
    const finding = await check(jsonAnswer(document));
    expect(finding).toMatchObject({ status: 'failure', detail: expect.stringContaining('POST /orders') });
    expect(finding.advice).toMatch(/Buy nothing before.*`npx reseller contract check openapi\.json --download`/);
    expect((await check(jsonAnswer(document), ALL_CAPABILITIES, '.data')).advice).toContain('--download --data .data`');
  });

  it('advises which capability to switch off', async () => {
    const document = contractOpenApi();
    Reflect.deleteProperty(document.paths, '/topups/{id}');
    expect(await check(jsonAnswer(document))).toMatchObject({
      status: 'failure',
      advice: expect.stringContaining('SERVICE_MISSING_CAPABILITIES=topup_read'),
    });
  });

  it('is a warning without an OpenAPI document, or with it in SERVICE_MISSING_CAPABILITIES', async () => {
    expect((await check(refusal(404, 'not_found'))).status).toBe('warning');
    expect((await check(refusal(404, 'not_found'), { ...ALL_CAPABILITIES, openapi_download: false })).status).toBe(
      'warning',
    );
  });

  it('is not checked when the service refuses our login', async () => {
    expect((await check(refusal(401, 'unauthorized'))).status).toBe('not_checked');
  });
});

describe('the capabilities', () => {
  const NOW = Date.UTC(2026, 5, 4, 12);
  const without = (...names: Capability[]) => ({
    ...ALL_CAPABILITIES,
    ...Object.fromEntries(names.map((name) => [name, false])),
  });
  const switchedOff = config({ capabilities: without('key_replay'), resendAllowed: false });
  const switchedOffInProduction = { ...switchedOff, mode: 'production' as const };
  const production = config({ mode: 'production' });
  const profile = (changes: Partial<StoredCapabilityProfile> = {}): StoredCapabilityProfile => ({
    id: 1n,
    environment: 'sandbox',
    measuredAt: new Date(NOW - 3 * 86_400_000),
    findings: { key_replay: true },
    evidence: {},
    confirmation: undefined,
    ...changes,
  });
  const confirmation = { at: new Date(NOW), by: 'Ada' };

  it.each([
    ['never measured, all on', config(), undefined, 'ok', /^all \d+ are on; .*sent again.*; never measured$/],
    ['some off', config({ capabilities: without('order_read') }), undefined, 'ok', /^off: order_read;/],
    ['key replay switched off', switchedOff, undefined, 'ok', /nothing is sent twice/],
    [
      'measured in the sandbox, which needs no confirmation',
      config(),
      profile(),
      'ok',
      /sent again.*; measured 3 days ago, not confirmed$/,
    ],
    [
      'keys found not to be replayed',
      config(),
      profile({ findings: { key_replay: false } }),
      'warning',
      /nothing is sent twice/,
    ],
    ['production without a profile', production, undefined, 'warning', /nothing is sent twice.*never measured/],
    ['production, not confirmed', production, profile(), 'warning', /nothing is sent twice.*not confirmed/],
    [
      'production, confirmed',
      production,
      profile({ confirmation }),
      'ok',
      /sent again.*; measured 3 days ago, confirmed by Ada$/,
    ],
    [
      'production, confirmed, key replay switched off',
      switchedOffInProduction,
      profile({ confirmation }),
      'ok',
      /nothing is sent twice/,
    ],
  ] as const)('%s', (_, service, capabilityProfile, status, detail) => {
    expect(checkCapabilities(service, { capabilityProfile }, NOW)).toMatchObject({
      status,
      detail: expect.stringMatching(detail),
    });
  });

  it('advise switching off missing capabilities, in addition to those already off', () => {
    const findings = { key_replay: true, topup_read: false, order_read: false, order_list: null };
    const service = config({ capabilities: without('order_read', 'refund_read') });
    expect(checkCapabilities(service, { capabilityProfile: profile({ findings }) }, NOW).advice).toBe(
      'The service was found without topup_read: set SERVICE_MISSING_CAPABILITIES=order_read,topup_read,refund_read.',
    );
  });

  it('depend only on the configuration when the database cannot be read', () => {
    expect(checkCapabilities(config(), undefined, NOW)).toEqual({
      status: 'ok',
      detail: expect.stringMatching(/sent again.*cannot be read$/),
    });
    expect(checkCapabilities(production, undefined, NOW)).toMatchObject({
      status: 'warning',
      detail: expect.stringMatching(/sent again.* if the capability profile is confirmed/),
    });
    expect(checkCapabilities(switchedOffInProduction, undefined, NOW)).toEqual({
      status: 'ok',
      detail: expect.stringMatching(/nothing is sent twice/),
    });
  });
});
