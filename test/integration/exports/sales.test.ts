/** The summary of sales, compared with a sum that is made by hand from the same rows. */
import Big from 'big.js';
import { sql } from 'drizzle-orm';
import fc from 'fast-check';
import { afterAll, describe, expect, it } from 'vitest';
import { newId } from '#db/connection/ids.ts';
import { SALES_GROUPS, type SalesGroup } from '#db/money/sales.ts';
import { attempts, journal, orders, packages, topups, vpnSubscriptions } from '#db/schema.ts';
import { startTestApi } from '#test/support/network/api.ts';

const api = await startTestApi();
const caller = await api.caller();
const known = { name: 'A package', searchName: 'a package', priceAmount: '1', priceCurrency: 'EUR', available: true };
const read = { createdAt: new Date(0), updatedAt: new Date(0) };
await api.database.run((db) =>
  db.insert(packages).values([
    { ...known, ...read, id: 1, countries: ['ES'] },
    { ...known, ...read, id: 2, countries: ['ES', 'PT'] },
  ]),
);
afterAll(() => api[Symbol.asyncDispose]());

const price = fc.tuple(fc.integer({ min: 0, max: 99_999_999 }), fc.constantFrom(2, 6)).map(([digits, places]) => {
  return new Big(digits).div(new Big(10).pow(places)).toFixed(6);
});
const currency = fc.constantFrom('EUR', 'USD');
/** Times around midnight and a change to summer time in Madrid. */
const at = fc.date({
  min: new Date('2030-03-29T20:00:00Z'),
  max: new Date('2030-04-01T04:00:00Z'),
  noInvalidDate: true,
});

const purchase = fc.record({
  kind: fc.constantFrom('order', 'topup', 'vpn_subscription'),
  item: fc.constantFrom(1, 2),
  cost: price,
  currency,
  paid: fc.option(fc.record({ amount: price, currency })),
  debitedAt: at,
  /** The purchase failed and was credited, or was cancelled and refunded, or neither. */
  back: fc.option(fc.record({ kind: fc.constantFrom('attempt', 'refund'), at })),
  /** A later period of a subscription. */
  period: fc.option(at),
});
type Purchase = typeof purchase extends fc.Arbitrary<infer Value> ? Value : never;

/** What the summary should count of it: each with its own day. */
function entriesOf({ kind, item, cost, currency: own, paid, debitedAt, back, period }: Purchase) {
  const priced = paid !== null && paid.currency === own;
  const isPlan = kind === 'vpn_subscription';
  // Package 1 is for Spain, package 2 for several countries.
  const country = !isPlan && item === 1 ? 'ES' : '';
  const group = { kind, item: `${isPlan ? 'plan' : 'package'} ${item}`, country, currency: own };
  const sale = (time: Date, sign: 1 | 0 | -1) => ({
    ...group,
    at: time,
    sold: sign,
    cost: new Big(cost).times(sign),
    revenue: priced ? new Big(paid.amount).times(sign) : new Big(0),
    unpriced: priced ? 0 : sign,
    refunds: 0,
    refunded: new Big(0),
  });
  return [
    sale(debitedAt, 1),
    ...(back?.kind === 'attempt' ? [sale(back.at, -1)] : []),
    ...(isPlan && period !== null ? [sale(period, 1)] : []),
    ...(back?.kind === 'refund' ? [{ ...sale(back.at, 0), refunds: 1, refunded: new Big(cost) }] : []),
  ];
}

async function store(purchases: readonly Purchase[]): Promise<void> {
  await api.database.transaction(async (tx) => {
    // The journal refuses to lose rows; this is the test's own database.
    await tx.execute(sql`set local session_replication_role = replica`);
    for (const table of [journal, attempts, orders, topups, vpnSubscriptions]) await tx.delete(table);
    for (const { kind, item, cost: amount, currency: own, paid, debitedAt, back, period } of purchases) {
      const [id, attemptId] = [newId(kind), newId('attempt')];
      const price = { customerPrice: paid?.amount ?? null, customerPriceCurrency: paid?.currency ?? null };
      const common = { id, apiKeyId: 'key_1', ...price };
      if (kind === 'order') await tx.insert(orders).values({ ...common, packageId: item, externalOrderId: id });
      else if (kind === 'topup') await tx.insert(topups).values({ ...common, packageId: item, esimId: newId('esim') });
      else {
        const customer = { encryptedCustomerReference: Buffer.alloc(1), customerReferenceHash: Buffer.alloc(1) };
        // It always has a price; one in another currency says nothing.
        const charged = { customerPrice: paid?.amount ?? '1', customerPriceCurrency: paid?.currency ?? 'XXX' };
        const plan = { vpnPlanId: item, externalSubscriptionId: id };
        await tx.insert(vpnSubscriptions).values({ ...common, ...plan, ...customer, ...charged });
      }
      const tried = { subjectKind: kind, subjectId: id, number: 1, idempotencyKey: id };
      await tx.insert(attempts).values({ ...tried, id: attemptId, encryptedRequestBody: Buffer.alloc(1) });
      const row = (
        direction: 'debit' | 'credit',
        causeKind: typeof journal.$inferInsert.causeKind,
        causeId: string,
        recordedAt: Date,
      ) => ({ amount, currency: own, direction, causeKind, causeId, recordedAt });
      const rows = [
        row('debit', 'attempt', attemptId, debitedAt),
        // No sales.
        row('credit', 'deposit', `d${id}`, debitedAt),
        row('debit', 'adjustment', `a${id}`, debitedAt),
      ];
      if (back !== null) rows.push(row('credit', back.kind, back.kind === 'attempt' ? attemptId : id, back.at));
      if (kind === 'vpn_subscription' && period !== null)
        rows.push(row('debit', 'subscription_period', `${id}/2`, period));
      await tx.insert(journal).values(rows);
    }
  });
}

const sums = fc.record({
  purchases: fc.array(purchase, { maxLength: 12 }),
  groups: fc.subarray([...SALES_GROUPS]),
  timeZone: fc.constantFrom('UTC', 'Europe/Madrid', 'Pacific/Auckland'),
});

/** The same sums by a loop over all entries. */
function byHand(purchases: readonly Purchase[], groups: readonly SalesGroup[], timeZone: string): unknown[] {
  const days = new Intl.DateTimeFormat('en-CA', { timeZone, dateStyle: 'short' });
  const entries = purchases.flatMap(entriesOf).map((entry) => ({ ...entry, day: days.format(entry.at) }));
  const inWindow = entries.filter(({ day }) => day >= '2030-03-30' && day <= '2030-03-31');
  const keyOf = ({ day, kind, item, country, currency: own }: (typeof entries)[number]) => {
    const named = { day, kind, package: item, country };
    return [...SALES_GROUPS.map((group) => (groups.includes(group) ? named[group] : '')), own].join('|');
  };
  return [...Map.groupBy(inWindow, keyOf)].map(([key, all]) => {
    const sum = (name: 'cost' | 'revenue' | 'refunded') =>
      all.reduce((total, each) => total.plus(each[name]), new Big(0));
    const count = (name: 'sold' | 'unpriced' | 'refunds') => all.reduce((total, each) => total + each[name], 0);
    const margin = sum('revenue').minus(sum('cost')).plus(sum('refunded'));
    return {
      key,
      sold: count('sold'),
      refunds: count('refunds'),
      unpriced: count('unpriced'),
      cost: sum('cost').toFixed(6),
      revenue: sum('revenue').toFixed(6),
      refunded: sum('refunded').toFixed(6),
      margin: all.every(({ unpriced }) => unpriced === 0) ? margin.toFixed(6) : null,
    };
  });
}

interface Sum {
  readonly day: string | null;
  readonly kind: string | null;
  readonly package_id: number | null;
  readonly vpn_plan_id: number | null;
  readonly country: string | null;
  readonly sold: number;
  readonly refunds: number;
  readonly unpriced: number;
  readonly cost: { readonly amount: string; readonly currency: string };
  readonly revenue: { readonly amount: string };
  readonly refunded: { readonly amount: string };
  readonly margin: { readonly amount: string } | null;
}

function comparable(sum: Sum): unknown {
  const item =
    sum.package_id === null ? (sum.vpn_plan_id === null ? '' : `plan ${sum.vpn_plan_id}`) : `package ${sum.package_id}`;
  const six = ({ amount }: { readonly amount: string }) => new Big(amount).toFixed(6);
  return {
    key: [sum.day ?? '', sum.kind ?? '', item, sum.country ?? '', sum.cost.currency].join('|'),
    sold: sum.sold,
    refunds: sum.refunds,
    unpriced: sum.unpriced,
    cost: six(sum.cost),
    revenue: six(sum.revenue),
    refunded: six(sum.refunded),
    margin: sum.margin && six(sum.margin),
  };
}

describe('the summary of sales', () => {
  it('equals the sum by hand of any purchases, credits, refunds and periods, in any time zone and grouping', async () => {
    await fc.assert(
      fc.asyncProperty(sums, async ({ purchases, groups, timeZone }) => {
        await store(purchases);
        const answer = await caller.get(
          `/v1/sales?from_day=2030-03-30&to_day=2030-03-31&time_zone=${encodeURIComponent(timeZone)}` +
            (groups.length === 0 ? '' : `&group_by=${groups.join(',')}`),
        );
        expect(answer.status, answer.text).toBe(200);
        const found = (answer.at('data') as Sum[]).map(comparable);
        const byKey = (a: unknown, b: unknown) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1);
        expect(found.toSorted(byKey)).toEqual(byHand(purchases, groups, timeZone).toSorted(byKey));
      }),
      { numRuns: 60 },
    );
  });

  it('is the same as a file', async () => {
    await store(fc.sample(purchase, { numRuns: 5, seed: 7 }));
    const query = 'from_day=2030-03-29&to_day=2030-04-01&group_by=day,package';
    const listed = (await caller.get(`/v1/sales?${query}`)).at('data') as Sum[];
    const [header, ...lines] = (await caller.get(`/v1/sales.csv?${query}`)).text.trimEnd().split('\r\n');
    expect(header).toMatch(/^day,kind,package_id,vpn_plan_id,country,sold,cost_amount,cost_currency,/);
    expect(lines.map((line) => line.split(',').slice(0, 8))).toEqual(
      listed.map(({ day, package_id: packageId, vpn_plan_id: planId, sold, cost }) =>
        [day, '', packageId ?? '', planId ?? '', '', sold, cost.amount, cost.currency].map(String),
      ),
    );
  });

  it.each([
    ['from_day=2030-02-30&to_day=2030-03-01', 'from_day'],
    ['from_day=2030-03-02&to_day=2030-03-01', 'to_day'],
    ['from_day=2030-01-01&to_day=2031-01-02', 'to_day'],
    ['from_day=2030-01-01&to_day=2030-01-02&time_zone=Mars/Olympus', 'time_zone'],
    ['from_day=2030-01-01&to_day=2030-01-02&group_by=colour', 'group_by'],
    ['to_day=2030-01-02', 'from_day'],
    ['from_day=0000-01-01&to_day=0000-01-01', 'from_day'],
    ['from_day=2030-01-01&to_day=2030-01-02&time_zone=%2B02:00', 'time_zone'],
  ])('refuses %s', async (query, field) => {
    const answer = await caller.get(`/v1/sales?${query}`);
    expect([answer.status, answer.at('errors', 0, 'field')]).toEqual([400, field]);
  });
});
