import { describe, expect, it } from 'vitest';
import { checkWallet } from '#cli/doctor/checks/account.ts';
import { checkCapabilities, checkContract } from '#cli/doctor/checks/offer.ts';
import type { StoredCapabilityProfile } from '#db/service/capability-profiles.ts';
import { ALL_CAPABILITIES, type Capability } from '#domain/service/capability-profile.ts';
import { contractOpenApi } from '#test/support/contract-openapi.ts';
import { config } from '#test/support/doctor-service.ts';
import { jsonAnswer, refusal, startTestClient } from '#test/support/upstream-client.ts';

describe('the wallet', () => {
  const wallet = (balance: string) => checkWallet({ ok: true, status: 200, value: { balance, currency: 'EUR' } });

  it.each([
    ['0.01', 'ok'],
    ['0.00', 'warning'],
    ['-3', 'warning'],
  ])('with %s', (balance, status) => {
    expect(wallet(balance)).toMatchObject({ status, detail: `${balance} EUR` });
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
});
