/** `reseller sandbox tour` with a simulator in this process: the profile of each dialect, and the amount spent. */
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { LEGS, type TourFinding, tourExitCode } from '#cli/sandbox-tour/leg.ts';
import { type TourReport, runTour } from '#cli/sandbox-tour/tour.ts';
import { type Money, addMoney, negateMoney, subtractMoney } from '#domain/money/money.ts';
import { type Capability, type ProfileItem, capabilities } from '#domain/service/capability-profile.ts';
import {
  type Dialect,
  type DialectChoice,
  type DialectName,
  dialectNames,
  dialectOf,
} from '#simulator/behaviour/dialect.ts';
import { startTestSimulator } from '#test/simulator/support.ts';
import { disposedAtEnd } from '#test/support/disposed-at-end.ts';
import { KEY_AGE_MS, serviceConfig, tourOf } from '#test/support/sandbox-tour.ts';
import { ALL_SEEN } from '#test/support/shapes.ts';

// A tour makes about eighty calls.
vi.setConfig({ testTimeout: 120_000, hookTimeout: 60_000 });

const callCapabilities = capabilities.filter((name) => name !== 'key_replay');

const simulator = disposedAtEnd(await startTestSimulator());
beforeEach(async () => {
  await simulator.admin.call('DELETE', '/faults', {});
  await choose('replays');
});

async function choose(name: DialectName, properties: DialectChoice['properties'] = {}): Promise<Dialect> {
  await simulator.admin.post('/dialect', { name, properties });
  return dialectOf({ name, properties });
}

/** A dialect as a profile describes it. */
function truth(dialect: Dialect): Record<ProfileItem, boolean | null> {
  const retained = dialect.key_retention_ms === null || dialect.key_retention_ms > KEY_AGE_MS;
  const replaysAtFirst = dialect.key_replay === 'replay' && dialect.key_retention_ms !== 0;
  return {
    ...(Object.fromEntries(callCapabilities.map((name) => [name, dialect[`has_${name}`]])) as Record<
      Exclude<Capability, 'key_replay'>,
      boolean
    >),
    key_replay: replaysAtFirst && retained,
    // No key as old as the resend window was tested, and an ignored key cannot be forgotten.
    key_retention: replaysAtFirst && !retained ? false : null,
    key_serialised: dialect.serialises_same_key,
    reference_unique: dialect.reference_unique,
    debits_at_once: dialect.has_wallet_transactions ? longestDelayOfRows(dialect) === 0 : null,
    order_seen: true,
    topup_seen: true,
    vpn_seen: true,
  };
}

function longestDelayOfRows(dialect: Dialect): number {
  return Math.max(dialect.debits_visible_after_ms, dialect.wallet_rows_after_ms, dialect.wallet_list_cached_ms);
}

const [SEEN, WHOLE, SINCE, PROOF, TIME] = [
  'the debits of the orders',
  'the debits without a filter',
  'the debits since their own time',
  'a proof that a purchase cost nothing',
  'the time of the order',
];
const WALLET_STEPS = new Set([SEEN, WHOLE, SINCE, PROOF, TIME]);
/** Steps of the wallet that differ, by dialect. With all others, a failed purchase can be proven to cost nothing. */
const WALLET_DRIFT: Readonly<Partial<Record<DialectName, readonly string[]>>> = {
  late_debits: [SEEN],
  filter_ahead: [SINCE],
  exclusive_filter: [SINCE],
  clock_ahead: [TIME],
  clock_behind: [TIME],
  cached_list: [SEEN],
  late_rows: [SEEN],
  newest_rows_only: [WHOLE, PROOF],
  oldest_rows_only: [WHOLE, PROOF],
  others_move: [PROOF],
  other_currency: [PROOF],
};

const withStatus = ({ findings }: TourReport, ...wanted: TourFinding['status'][]): TourFinding[] =>
  findings.filter(({ status }) => wanted.includes(status));
const seenAt = ({ findings }: TourReport, step: string): string | undefined =>
  findings.find((finding) => finding.step === step)?.seen;

/** The amount spent by the sandbox's ledger, from one movement on. */
async function spentSince(movements: number): Promise<Money> {
  const lines = (await simulator.ledger('sandbox')).slice(movements);
  const signed = lines.map(({ type, amount }) => (type === 'debit' ? usd(amount) : negateMoney(usd(amount))));
  return signed.reduce(addMoney, usd('0'));
}
const usd = (amount: string): Money => ({ amount, currency: 'USD' });

describe('the measured profile of a tour', () => {
  it.each(dialectNames)('equals the dialect %s', async (name) => {
    const dialect = await choose(name);
    // The rows of the tours before this one are no longer late, nor ahead of a clock that is behind.
    await simulator.advance(3_600_000);
    // A list is seldom made anew in the moment of the first look for debits. Here it never is.
    const cachedMs = dialect.wallet_list_cached_ms;
    if (cachedMs > 0) await simulator.advance(cachedMs - ((await simulator.now()) % cachedMs));
    const report = await tourOf(simulator, {
      waitMs: Math.max(30_000, 2 * longestDelayOfRows(dialect)),
      // Longer than these waits together.
      resendWindowMs: 3_600_000,
    });
    expect(report.profile?.findings).toEqual(truth(dialect));
    expect(withStatus(report, 'failed')).toEqual([]);
    const ofWallet = withStatus(report, 'drift').filter(({ step }) => WALLET_STEPS.has(step));
    expect(ofWallet.map(({ step }) => step)).toEqual(WALLET_DRIFT[name] ?? []);
    for (const { seen } of ofWallet) expect(seen).toMatch(/retries of failed purchases|our clock/);
  });

  // By the bits of their numbers, each call is missing in one of the four tours and present in another, and no two are
  // always together.
  it.each([0, 1, 2, 3])('contains exactly the missing calls (%i)', async (bit) => {
    const missing = callCapabilities.filter((_, index) => ((index + 1) >> bit) % 2 === 1);
    const dialect = await choose('replays', Object.fromEntries(missing.map((name) => [`has_${name}`, false])));
    const report = await tourOf(simulator);
    expect(report.profile?.findings).toEqual(truth(dialect));
    for (const name of missing) expect(report.profile?.evidence[name], name).toMatch(/40[45]/);
    const advised = withStatus(report, 'failed', 'drift').map(
      ({ seen }) => /SERVICE_MISSING_CAPABILITIES=(\w+)/.exec(seen)?.[1] ?? '',
    );
    expect(advised.toSorted()).toEqual(missing.toSorted());
  });

  it('leaves failed steps open, and still runs the other legs', async () => {
    const fault = { target: 'request', count: null, fault: { kind: 'server_error', status: 500 } };
    for (const endpoint of ['simulateEsim', 'listTopupOptions'])
      await simulator.admin.post('/faults', { ...fault, endpoint });
    const report = await tourOf(simulator);
    expect(report.profile?.findings).toMatchObject({
      sandbox_simulation: null,
      topup_read: null,
      refund_read: true,
      vpn_subscription_read: true,
    });
    expect(withStatus(report, 'failed').map(({ leg }) => leg)).toEqual(['simulation', 'topup']);
    expect(new Set(report.findings.map(({ leg }) => leg))).toEqual(new Set(Object.keys(LEGS)));
  });
});

describe('the verdict of a profile on each kind of purchase', () => {
  const drift = { kind: 'answer', status: 200, body: '{"id":"one"}', headers: { 'content-type': 'application/json' } };
  it.each([
    ['getEsim', 'order_seen'],
    ['createTopup', 'topup_seen'],
    ['getVpnSubscription', 'vpn_seen'],
  ] as const)('is no only for the kind with a different shape: %s, %s', async (endpoint, trait) => {
    await simulator.admin.post('/faults', { target: 'request', endpoint, count: null, fault: drift });
    const { profile } = await tourOf(simulator);
    expect(profile?.findings).toMatchObject({ ...ALL_SEEN, [trait]: false });
  });
});

describe('amounts that cannot be understood', () => {
  it.each([
    ['in cents', { wallet_amounts: 'cents' }, /GET \/wallet\/transactions: amount differs: 240\.00 USD for 2\.40 USD/],
    ['in another currency', { wallet_currency: 'EUR' }, /GET \/wallet\/transactions: currency differs: 2\.40 EUR for/],
  ] as const)('of a wallet %s beside the prices fail every kind', async (_name, properties, evidence) => {
    await choose('replays', properties);
    const report = await tourOf(simulator);
    expect(report.profile?.findings).toMatchObject({ order_seen: false, topup_seen: false, vpn_seen: false });
    expect(report.profile?.evidence.order_seen).toMatch(evidence);
    expect(tourExitCode(report.findings)).toBe(1);
  });

  it.each([
    ['a tenth', { refund_amount: '0.24' }, { order_seen: false }],
    ['in another currency', { refund_currency: 'EUR' }, { order_seen: false }],
    ['less', { refund_amount: '1.00' }, {}],
  ])('of a refund that is %s are reported', async (_name, refund, seen) => {
    await simulator.admin.post('/behaviour', { operation: 'cancellation', outcome: 'accepted', count: 1, ...refund });
    const report = await tourOf(simulator);
    expect(report.profile?.findings).toMatchObject({ ...ALL_SEEN, ...seen });
    const drift = withStatus(report, 'drift').map(({ step }) => step);
    expect(drift).toEqual(expect.arrayContaining(['its amount', 'its money']));
  });

  it('a pending credit is no refund', async () => {
    await choose('replays', { credits_pending_for_ms: 3_600_000 });
    const report = await tourOf(simulator);
    expect(withStatus(report, 'drift')).toMatchObject([{ step: 'its money', seen: 'only a pending credit' }]);
    expect(report.profile?.findings).toMatchObject(ALL_SEEN);
  });
});

describe('a tour', () => {
  it('causes each refund result, and reports the amount in the ledger of the service', async () => {
    const production = await simulator.ledger('production');
    const movements = (await simulator.ledger('sandbox')).length;
    const report = await tourOf(simulator, { furtherPackageIds: [9001, 9003, 9005, 9006] });
    expect(withStatus(report, 'failed', 'drift')).toEqual([]);
    expect(tourExitCode(report.findings)).toBe(0);
    for (const result of ['accepted', 'refused', 'manual review'])
      expect(seenAt(report, `the refund result "${result}"`), result).toBe('seen');
    expect([9001, 9003, 9005, 9006].map((id) => seenAt(report, `an order of package ${id}`))).toEqual([
      'processing, then completed',
      'failed, credited back',
      'processing, then failed, not credited back',
      'it answered 422 (package_unavailable): “Package 9006 is not available at the moment.”',
    ]);
    const { before, after } = report;
    expect(before && after && subtractMoney(before, after)).toEqual(await spentSince(movements));
    expect(Number((await spentSince(movements)).amount)).toBeGreaterThan(0);
    expect(await simulator.ledger('production')).toEqual(production);
  });

  it('follows a purchase that stays processing until the time limit, and measures the rest', async () => {
    const report = await tourOf(simulator, { furtherPackageIds: [9004] });
    expect(withStatus(report, 'skipped').map(({ step }) => step)).toContain('an order of package 9004');
    expect(tourExitCode(report.findings)).toBe(0);
  });

  it('reports no finding when the configuration agrees with the service', async () => {
    await choose('bare');
    const off = Object.fromEntries(callCapabilities.map((name) => [name, false]));
    const report = await tourOf(simulator, { capabilities: off });
    expect(withStatus(report, 'failed', 'drift')).toEqual([]);
  });

  it('measures nothing and buys nothing when the service refuses the login', async () => {
    const movements = (await simulator.ledger('sandbox')).length;
    const config = serviceConfig(simulator.simulator.baseUrl, { password: 'wrong' });
    const report = await runTour(config, { keyAgeMs: 0, waitMs: 0, resendWindowMs: 0, furtherPackageIds: [] });
    expect({ profile: report.profile, code: tourExitCode(report.findings) }).toEqual({ profile: undefined, code: 1 });
    expect(withStatus(report, 'failed')).toHaveLength(1);
    expect(await simulator.ledger('sandbox')).toHaveLength(movements);
  });
});
