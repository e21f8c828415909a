import { describe, expect, it } from 'vitest';
import { notesOf, type TourFinding } from '#cli/sandbox-tour/leg.ts';
import { type KeyRepeat, type Observations, observeCall, observeRefusal } from '#cli/sandbox-tour/observations.ts';
import { profileFrom, readProfileFile } from '#cli/sandbox-tour/profile.ts';
import { stepLine, tourJson } from '#cli/sandbox-tour/sandbox.ts';
import { rateLimitedClient } from '#cli/sandbox-tour/tour.ts';
import { type ProfileItem, profileItems } from '#domain/service/capability-profile.ts';
import type { ServiceClient } from '#upstream/client.ts';
import type { ServiceFailure } from '#upstream/client/error-mapping.ts';

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
  const rows: readonly (readonly [string, Partial<Observations>, Partial<Record<ProfileItem, boolean | null>>])[] = [
    [
      'nothing was tried',
      {},
      {
        key_replay: null,
        order_read: null,
        key_retention: null,
        key_serialised: null,
        reference_unique: null,
        debits_at_once: null,
      },
    ],
    ['a call works', { calls: { order_read: { kind: 'works', detail: 'x' } } }, { order_read: true, order_list: null }],
    ['a call is missing', { calls: { order_read: { kind: 'missing', detail: 'x' } } }, { order_read: false }],
    ['a call differs', { calls: { topup_list: { kind: 'differs', detail: 'x' } } }, { topup_list: false }],
    ['a call broke', { calls: { topup_list: { kind: 'broken', detail: 'x' } } }, { topup_list: null }],
    [
      'a probe had no result',
      { calls: { webhook_secret: { kind: 'unclear', detail: 'x' } } },
      { webhook_secret: null },
    ],
    [
      'every repetition replays',
      { keyRepeats: [repeat('same'), repeat('same', 10_000)] },
      { key_replay: true, key_retention: null },
    ],
    ['a repetition is executed again', { keyRepeats: [repeat('another'), repeat('same')] }, { key_replay: false }],
    ['a repetition is refused', { keyRepeats: [repeat('refused')] }, { key_replay: false, key_retention: null }],
    [
      'a key is known at first and not later',
      { keyRepeats: [repeat('same'), repeat('another', 10_000)] },
      { key_replay: false, key_retention: false },
    ],
    [
      'a key outlives the window',
      { keyRepeats: [repeat('same'), repeat('same', WINDOW_MS)] },
      { key_replay: true, key_retention: true },
    ],
    [
      'another operation does not replay',
      { keyRepeats: [repeat('same'), repeat('another', 0, 'top-up')] },
      { key_replay: false },
    ],
    ['only another operation was repeated', { keyRepeats: [repeat('same', 0, 'top-up')] }, { key_replay: null }],
    [
      'the answers prove nothing',
      { keyRepeats: [repeat('unclear'), repeat('unclear', 10_000)] },
      { key_replay: null, key_retention: null },
    ],
    [
      'an unclear answer beside a replay',
      { keyRepeats: [repeat('same'), repeat('unclear', 10_000)] },
      { key_replay: true, key_retention: null },
    ],
    ['two sends at once buy once', { concurrentSends: { outcome: 'one', detail: 'x' } }, { key_serialised: true }],
    ['two sends at once buy twice', { concurrentSends: { outcome: 'two', detail: 'x' } }, { key_serialised: false }],
    ['neither send is answered', { concurrentSends: { outcome: 'unclear', detail: 'x' } }, { key_serialised: null }],
    ['a reference is refused', { repeatedReference: { outcome: 'one', detail: 'x' } }, { reference_unique: true }],
    ['a reference buys again', { repeatedReference: { outcome: 'two', detail: 'x' } }, { reference_unique: false }],
    ['debits show at once', { debitSeenAfterMs: 0 }, { debits_at_once: true }],
    ['debits show late', { debitSeenAfterMs: 5_000 }, { debits_at_once: false }],
    ['debits never show', { debitSeenAfterMs: null }, { debits_at_once: false }],
    ['no purchase was tried', {}, { order_seen: null, topup_seen: null, vpn_seen: null }],
    [
      'an order was seen',
      { purchases: { order: { kind: 'works', detail: 'x' } } },
      { order_seen: true, topup_seen: null },
    ],
    ['a top-up differs', { purchases: { topup: { kind: 'differs', detail: 'x' } } }, { topup_seen: false }],
    [
      'a subscription did not become active',
      { purchases: { vpn_subscription: { kind: 'unclear', detail: 'x' } } },
      { vpn_seen: null },
    ],
  ];

  it.each(rows)('%s', (_, seen, expected) => {
    const { findings, evidence } = profileFrom(observed(seen));
    expect(findings).toMatchObject(expected);
    expect(Object.keys(findings)).toEqual(profileItems);
    for (const item of profileItems) expect(evidence[item], item).toMatch(/^[A-Z].*\.$/);
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
    const client = rateLimitedClient(
      { getOrder } as unknown as ServiceClient,
      async (ms) => void (await Promise.resolve(waits.push(ms))),
    );
    expect(await client.getOrder('o1')).toMatchObject({ ok: true, value: { id: 'o1' } });
    expect(waits).toEqual([3_000, 3_000]);
    left = 100;
    expect(await client.getOrder('o1')).toBe(limited);
  });

  it('returns every other failure at once, because the call may have been executed', async () => {
    let calls = 0;
    const createOrder = async () =>
      await Promise.resolve((calls += 1) > 0 ? failure({ failure: 'timeout' }) : undefined);
    const client = rateLimitedClient(
      { createOrder } as unknown as ServiceClient,
      async () => await Promise.reject(new Error('waited')),
    );
    expect(
      await client.createOrder({ idempotencyKey: 'k', body: Buffer.alloc(0), reference: 'r', packageId: 7 }),
    ).toMatchObject({ failure: 'timeout' });
    expect(calls).toBe(1);
  });
});

describe('the report', () => {
  const findings: TourFinding[] = [];
  const leg = (name: TourFinding['leg']) => notesOf(name, (finding) => findings.push(finding));
  leg('order').ok('an order', 'completed', 'completed\nin two lines');
  leg('topup').drift('a top-up', 'completed', 'failed');
  leg('vpn').skipped('a plan', 'active', 'there is none');
  const money = (amount: string) => ({ amount, currency: 'USD' });
  const profile = profileFrom(observed({ keyRepeats: [repeat('same')] }));
  const report = {
    findings,
    before: money('100.10'),
    after: money('97.70'),
    measuredAt: Date.UTC(2026, 0, 2),
    profile,
  };

  it('has a line for each step, with the expectation when the result differs', () => {
    expect(findings.map(stepLine)).toEqual([
      '✔ order         an order: completed in two lines',
      '! top-up        drift: a top-up: failed; expected: completed',
      '– VPN           skipped: a plan: there is none; expected: active',
    ]);
  });

  it('can be imported into another database as JSON, and other files cannot', () => {
    const json = JSON.stringify(tourJson(report, 'https://service.example/api/reseller/v1', 7n));
    expect(JSON.parse(json)).toMatchObject({
      exit_code: 1,
      stored_as: '7',
      fictional_balance: { spent: '2.40', currency: 'USD' },
    });
    const read = readProfileFile(json);
    expect(read).toMatchObject({
      baseUrl: 'https://service.example/api/reseller/v1',
      measuredAt: new Date(report.measuredAt),
      ...profile,
    });
    expect(readProfileFile(JSON.stringify((JSON.parse(json) as { profile: unknown }).profile))).toEqual(read);
    for (const text of [
      '',
      '{}',
      '{"profile":null}',
      json.replace('"key_replay":true', '"key_replay":"yes"'),
      json.replace('"environment":"sandbox","service_base', '"environment":"production","service_base'),
    ]) {
      expect(readProfileFile(text), text.slice(0, 40)).toBeUndefined();
    }
  });
});
