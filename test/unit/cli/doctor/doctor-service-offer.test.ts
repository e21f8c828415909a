import { describe, expect, it } from 'vitest';
import { checkWallet } from '#cli/doctor/checks/account.ts';
import {
  checkCapabilities,
  checkContract,
  checkDeliveries,
  checkFirstPurchaseCheck,
} from '#cli/doctor/checks/offer.ts';
import type { StoredCapabilityProfile } from '#db/service/capability-profiles.ts';
import { FIRST_PURCHASE_CHECK_ADVICE, notLookedYet } from '#domain/gate/first-purchase-check.ts';
import { ALL_CAPABILITIES, type Capability } from '#domain/service/capability-profile.ts';
import type { PurchaseKind } from '#domain/work/kinds.ts';
import type { FirstPurchaseCheckState } from '#fulfilment/gate/pauses.ts';
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
    for (const capabilities of [ALL_CAPABILITIES, { ...ALL_CAPABILITIES, openapi_download: false }])
      expect((await check(refusal(404, 'not_found'), capabilities)).status).toBe('warning');
  });
});

describe('the capabilities', () => {
  const NOW = Date.UTC(2026, 5, 4, 12);
  const without = (...names: Capability[]) => ({
    ...ALL_CAPABILITIES,
    ...Object.fromEntries(names.map((name) => [name, false])),
  });
  const switchedOff = config({ capabilities: without('key_replay'), resendAllowed: false });
  const offInProduction = { ...switchedOff, mode: 'production' as const };
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
  const confirmed = profile({ confirmation: { at: new Date(NOW), by: 'Ada' } });
  const NOT_CONFIRMED = /sent again.*; measured 3 days ago, not confirmed$/;
  const notReplayed = profile({ findings: { key_replay: false } });

  it.each([
    ['never measured, all on', config(), undefined, 'ok', /^all \d+ are on; .*sent again.*; never measured$/],
    ['some off', config({ capabilities: without('order_read') }), undefined, 'ok', /^off: order_read;/],
    ['key replay switched off', switchedOff, undefined, 'ok', /nothing is sent twice/],
    ['measured in the sandbox, which needs no confirmation', config(), profile(), 'ok', NOT_CONFIRMED],
    ['keys found not to be replayed', config(), notReplayed, 'warning', /nothing is sent twice/],
    ['production without a profile', production, undefined, 'warning', /nothing is sent twice.*never measured/],
    ['production, not confirmed', production, profile(), 'warning', /nothing is sent twice.*not confirmed/],
    ['production, confirmed', production, confirmed, 'ok', /sent again.*; measured 3 days ago, confirmed by Ada$/],
    ['production, confirmed, key replay switched off', offInProduction, confirmed, 'ok', /nothing is sent twice/],
  ] as const)('%s', (_, service, capabilityProfile, status, detail) => {
    const finding = checkCapabilities(service, { capabilityProfile }, NOW);
    expect(finding).toMatchObject({ status, detail: expect.stringMatching(detail) });
  });

  it('advise switching off missing capabilities, in addition to those already off', () => {
    const findings = { key_replay: true, topup_read: false, order_read: false, order_list: null };
    const service = config({ capabilities: without('order_read', 'refund_read') });
    expect(checkCapabilities(service, { capabilityProfile: profile({ findings }) }, NOW).advice).toBe(
      'The service was found without topup_read: set SERVICE_MISSING_CAPABILITIES=order_read,topup_read,refund_read.',
    );
  });
});

const at = new Date('2030-01-31T12:00:00.000Z');
const pause = {
  id: 'pause_1',
  origin: 'first_purchase_check',
  kind: 'topup',
  failureClass: null,
  reason: notLookedYet('topup'),
  pausedBy: 'worker',
  pausedAt: at,
  releasedAt: null,
  releasedBy: null,
  releaseReason: null,
} as const;

describe('the line on the first purchase check', () => {
  it('fails while a kind is held, with the state of each kind and one advice', () => {
    const firstPurchaseCheck = new Map<PurchaseKind, FirstPurchaseCheckState>([
      ['order', { kind: 'released', by: 'key_ada', reason: 'Tried by hand.', at }],
      ['topup', { kind: 'held', pause }],
      ['vpn_subscription', { kind: 'recorded', evidence: 'The VPN subscription vpn_1 was bought.' }],
    ]);
    const { status, detail, advice } = checkFirstPurchaseCheck({ mode: 'production' }, { firstPurchaseCheck });
    expect(status).toBe('failure');
    expect(detail).toContain('orders: released by key_ada at 2030-01-31T12:00:00.000Z: Tried by hand.');
    expect(detail).toContain('top-ups: held by pause_1 since 2030-01-31T12:00:00.000Z: The shapes of');
    expect(detail).toContain('VPN subscriptions: seen. The VPN subscription vpn_1 was bought.');
    expect(detail).not.toContain(FIRST_PURCHASE_CHECK_ADVICE);
    expect(advice).toBe(FIRST_PURCHASE_CHECK_ADVICE);
  });
});

const goesFirst = { text: 'One order goes first.', isDrift: false };

it.each([
  [undefined, 'not_checked'],
  [[], 'ok'],
  [[goesFirst], 'warning'],
  [[goesFirst, { text: 'Buying orders is stopped.', isDrift: true }], 'failure'],
])('deliveries with the stops %j are %s', (driftStops, status) => {
  const finding = checkDeliveries(driftStops && { driftStops });
  expect(finding.status).toBe(status);
  for (const { text } of driftStops ?? []) expect(finding.detail).toContain(text);
});
