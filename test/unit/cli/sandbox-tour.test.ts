import { describe, expect, it } from 'vitest';
import { noteSpent } from '#cli/sandbox-tour/amounts.ts';
import { notesOf, type TourFinding } from '#cli/sandbox-tour/leg.ts';
import {
  type CallObservation,
  type KeyRepeat,
  type Observations,
  observeCall,
  observeRefusal,
} from '#cli/sandbox-tour/observations.ts';
import { profileFrom, readProfileFile } from '#cli/sandbox-tour/profile.ts';
import { stepLine, tourJson } from '#cli/sandbox-tour/sandbox.ts';
import { rateLimitedClient } from '#cli/sandbox-tour/tour.ts';
import { type ProfileItem, profileItems } from '#domain/service/capability-profile.ts';
import { TRANSACTION } from '#test/support/service-records.ts';
import type { ServiceClient } from '#upstream/client.ts';
import type { ServiceFailure } from '#upstream/client/error-mapping.ts';
import { type WalletTransaction, walletTransaction } from '#upstream/contract.ts';

const WINDOW_MS = 600_000;

const observed = (changes: Partial<Observations> = {}): Observations => ({
  calls: {},
  keyRepeats: [],
  purchases: {},
  resendWindowMs: WINDOW_MS,
  ...changes,
});
const repeat = (outcome: KeyRepeat['outcome'], ageMs = 0, operation: KeyRepeat['operation'] = 'order'): KeyRepeat => ({
  operation,
  ageMs,
  outcome,
  detail: `it came to ${outcome}`,
});
const failure = (changes: Partial<ServiceFailure>): ServiceFailure => ({
  ok: false,
  kind: 'failure',
  failure: 'unreadable_answer',
  detail: 'The service answered something.',
  ...changes,
});

describe('the conclusions from the observations of a tour', () => {
  type Expected = Partial<Record<ProfileItem, boolean | null>>;
  const detail = 'x';
  const conclusionsFrom = (seen: Partial<Observations>) => {
    const { findings, evidence } = profileFrom(observed(seen));
    expect(Object.keys(findings)).toEqual(profileItems);
    for (const item of profileItems) expect(evidence[item], item).toMatch(/^[A-Z].*\.$/);
    return findings;
  };

  it.each<[what: string, Partial<Observations>, Expected]>([
    ['nothing was tried', {}, Object.fromEntries(profileItems.map((item) => [item, null]))],
    ['debits show at once', { debitSeenAfterMs: 0 }, { debits_at_once: true }],
    ['debits show late', { debitSeenAfterMs: 5_000 }, { debits_at_once: false }],
    ['debits never show', { debitSeenAfterMs: null }, { debits_at_once: false }],
  ])('%s', (_what, seen, expected) => {
    expect(conclusionsFrom(seen)).toMatchObject(expected);
  });

  it.each<[CallObservation['kind'], boolean | null]>([
    ['works', true],
    ['missing', false],
    ['differs', false],
    ['broken', null],
    ['unclear', null],
  ])('a call that %s is there: %s', (kind, found) => {
    const calls = { order_read: { kind, detail } };
    expect(conclusionsFrom({ calls })).toMatchObject({ order_read: found, order_list: null });
  });

  it.each<[CallObservation['kind'], boolean | null]>([
    ['works', true],
    ['differs', false],
    ['unclear', null],
  ])('a purchase that %s was seen: %s', (kind, found) => {
    const purchases = { topup: { kind, detail } };
    expect(conclusionsFrom({ purchases })).toMatchObject({ order_seen: null, topup_seen: found, vpn_seen: null });
  });

  it.each<[KeyRepeat[], Expected]>([
    [[repeat('same'), repeat('same', 10_000)], { key_replay: true, key_retention: null }],
    [[repeat('another'), repeat('same')], { key_replay: false }],
    [[repeat('refused')], { key_replay: false, key_retention: null }],
    [[repeat('same'), repeat('another', 10_000)], { key_replay: false, key_retention: false }],
    [[repeat('same'), repeat('same', WINDOW_MS)], { key_replay: true, key_retention: true }],
    [[repeat('same'), repeat('another', 0, 'top-up')], { key_replay: false }],
    [[repeat('same', 0, 'top-up')], { key_replay: null }],
    [[repeat('unclear'), repeat('unclear', 10_000)], { key_replay: null, key_retention: null }],
    [[repeat('same'), repeat('unclear', 10_000)], { key_replay: true, key_retention: null }],
  ])('the repetitions %j prove %j', (keyRepeats, expected) => {
    expect(conclusionsFrom({ keyRepeats })).toMatchObject(expected);
  });

  it.each([
    ['one', true],
    ['two', false],
    ['unclear', null],
  ] as const)('a repeated reference, and two sends at once, with the purchases %s prove: %s', (outcome, found) => {
    expect(conclusionsFrom({ concurrentSends: { outcome, detail } })).toMatchObject({ key_serialised: found });
    expect(conclusionsFrom({ repeatedReference: { outcome, detail } })).toMatchObject({ reference_unique: found });
  });
});

describe('the observation of a call', () => {
  it.each([
    [404, 'unreadable_answer', 'missing'],
    [405, 'unreadable_answer', 'missing'],
    [501, 'server_error', 'missing'],
    [422, 'invalid_request', 'differs'],
    [200, 'contract_drift', 'differs'],
    [200, 'unreadable_answer', 'differs'],
    [302, 'unreadable_answer', 'broken'],
    [401, 'unauthorized', 'broken'],
    [403, 'not_approved', 'broken'],
    [429, 'rate_limited', 'broken'],
    [503, 'server_error', 'broken'],
    [undefined, 'timeout', 'broken'],
  ] as const)('by %s (%s) is: %s', (status, name, kind) => {
    expect(observeCall(failure({ failure: name, ...(status === undefined ? {} : { status }) })).kind).toBe(kind);
  });

  it.each([
    [{ status: 409, failure: 'key_or_reference_used' }, 'refused'],
    [{ status: 422, failure: 'invalid_request' }, 'refused'],
    // The first send may have used up the balance.
    [{ status: 402, failure: 'insufficient_balance' }, 'unclear'],
    [{ status: 500, failure: 'server_error' }, 'unclear'],
    [{ failure: 'timeout' }, 'unclear'],
  ] as const)('a repetition that fails with %o is: %s', (changes, outcome) => {
    expect(observeRefusal(failure(changes))).toBe(outcome);
  });
});

describe('a client that waits after a 429', () => {
  it('repeats the same call after Retry-After, and finally stops', async () => {
    const waits: number[] = [];
    let left = 2;
    const limited = failure({ failure: 'rate_limited', status: 429, retryAfterMs: 3_000 });
    const getOrder = async (id: string) =>
      await Promise.resolve(left-- > 0 ? limited : { ok: true, status: 200, value: { id } });
    const wait = async (ms: number) => void (await Promise.resolve(waits.push(ms)));
    const client = rateLimitedClient({ getOrder } as unknown as ServiceClient, wait);
    expect(await client.getOrder('o1')).toMatchObject({ ok: true, value: { id: 'o1' } });
    expect(waits).toEqual([3_000, 3_000]);
    left = 100;
    expect(await client.getOrder('o1')).toBe(limited);
  });

  it('returns every other failure at once, because the call may have been executed', async () => {
    let calls = 0;
    const createOrder = async () =>
      await Promise.resolve((calls += 1) > 0 ? failure({ failure: 'timeout' }) : undefined);
    const wait = async () => await Promise.reject(new Error('waited'));
    const client = rateLimitedClient({ createOrder } as unknown as ServiceClient, wait);
    const request = { idempotencyKey: 'k', body: Buffer.alloc(0), reference: 'r', packageId: 7 };
    expect(await client.createOrder(request)).toMatchObject({ failure: 'timeout' });
    expect(calls).toBe(1);
  });
});

describe('the report', () => {
  const findings: TourFinding[] = [];
  const leg = (name: TourFinding['leg']) => notesOf(name, (finding) => findings.push(finding));
  leg('order').step('an order', 'completed').ok('completed\nin two lines');
  leg('topup').step('a top-up', 'completed').drift('failed');
  leg('vpn').step('a plan', 'active').skipped('there is none');
  const money = (amount: string) => ({ amount, currency: 'USD' });
  const profile = profileFrom(observed({ keyRepeats: [repeat('same')] }));
  const balances = { before: money('100.10'), after: money('97.70') };
  const report = { findings, ...balances, measuredAt: Date.UTC(2026, 0, 2), profile };

  it('has a line for each step, with the expectation when the result differs', () => {
    expect(findings.map(stepLine)).toEqual([
      '✔ order         an order: completed in two lines',
      '! top-up        drift: a top-up: failed; expected: completed',
      '– VPN           skipped: a plan: there is none; expected: active',
    ]);
  });

  it('can be imported into another database as JSON, and other files cannot', () => {
    const baseUrl = 'https://service.example/api/reseller/v1';
    const json = JSON.stringify(tourJson(report, baseUrl, 7n));
    const fictional = { spent: '2.40', currency: 'USD' };
    expect(JSON.parse(json)).toMatchObject({ exit_code: 1, stored_as: '7', fictional_balance: fictional });
    const read = readProfileFile(json);
    expect(read).toMatchObject({ baseUrl, measuredAt: new Date(report.measuredAt), ...profile });
    expect(readProfileFile(JSON.stringify((JSON.parse(json) as { profile: unknown }).profile))).toEqual(read);
    const unclear = json.replace('"key_replay":true', '"key_replay":"yes"');
    const live = json.replace('"environment":"sandbox","service_base', '"environment":"production","service_base');
    for (const text of ['', '{}', '{"profile":null}', unclear, live])
      expect(readProfileFile(text), text.slice(0, 40)).toBeUndefined();
  });
});

const movement = (id: string, type: 'debit' | 'credit', amount: string): WalletTransaction =>
  walletTransaction.parse({ ...TRANSACTION, id, type, amount, currency: 'USD' });
const OLD = movement('old', 'debit', '9.00');
const NEW = [
  movement('new-1', 'debit', '2.40'),
  movement('new-2', 'debit', '5.10'),
  movement('new-3', 'credit', '2.40'),
];

function spent(before: string, after: string, movements: readonly WalletTransaction[] | undefined, currency = 'USD') {
  const findings: TourFinding[] = [];
  const observations = observed({ resendWindowMs: 0 });
  noteSpent(
    { ...notesOf('account', (each) => findings.push(each)), observations },
    { balance: { amount: before, currency }, movements: [OLD] },
    { balance: { amount: after, currency }, movements: movements && [...movements, OLD] },
  );
  const [finding] = findings;
  return { status: finding?.status, purchases: observations.purchases };
}

describe('what the balance lost during a tour', () => {
  it('is the sum of the new movements', () => {
    expect(spent('100.00', '94.90', NEW)).toEqual({ status: 'ok', purchases: {} });
  });

  it.each([
    ['a balance in cents', '10000', '9490', 'USD', 'balance'],
    ['a balance in tenths of the movements', '10.00', '9.49', 'USD', 'balance'],
    ['a balance in another currency', '100.00', '94.90', 'EUR', 'currency'],
  ])('of %s fails every kind, and the field is named', (_name, before, after, currency, field) => {
    const { status, purchases } = spent(before, after, NEW, currency);
    expect(status).toBe('drift');
    const differs = { kind: 'differs', detail: expect.stringContaining(`GET /wallet: ${field} differs`) };
    expect(purchases).toEqual({ order: differs, topup: differs, vpn_subscription: differs });
  });

  it.each([
    ['others use the sandbox, too', '100.00', '90.00', NEW],
    ['nothing moved', '100.00', '100.00', []],
    ['the movements cannot be read', '100.00', '94.90', undefined],
  ])('proves nothing when %s', (_name, before, after, movements) => {
    expect(spent(before, after, movements)).toEqual({ status: 'skipped', purchases: {} });
  });
});
