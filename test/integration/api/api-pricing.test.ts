import { sql } from 'drizzle-orm';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import * as z from 'zod';
import { problemSchema } from '#api/problems/problem-schema.ts';
import { auditLog, pricingRules, pricingRuleVersions } from '#db/schema.ts';
import { idleService, startTestApi, type TestApi } from '#test/support/network/api.ts';
import type { HttpClient } from '#test/support/network/http.ts';

const RULES = '/v1/pricing/rules';
const TERMS = {
  margin: { percent: '35', amount: '0.50' },
  minimum_margin: { percent: '0', amount: '1.00' },
  minimum_price: '2.99',
  rounding: { step: '1', ending: '0.99', direction: 'up' },
  max_price_drift_percent: '2',
};
const GERMANY = {
  target: { kind: 'country', country: 'DE' },
  currency: 'EUR',
  terms: TERMS,
  reason: 'Prices of the spring.',
};
const rule = z.looseObject({ id: z.string(), version: z.int(), ended_at: z.string().nullable() });
const suggestion = z
  .looseObject({
    amount: z.string(),
    max_price: z.unknown(),
    rule: z.looseObject({ id: z.string().nullable(), target: z.string() }),
  })
  .nullable();
const page = z.looseObject({
  data: z.array(z.looseObject({ id: z.union([z.int(), z.string()]), suggested_price: suggestion.optional() })),
});

let api: TestApi;
let caller: HttpClient;
let keys = 0;

beforeAll(async () => {
  api = await startTestApi();
  caller = await api.caller();
});

afterAll(async () => {
  await api[Symbol.asyncDispose]();
});

async function make(body: object, key = `key-${(keys += 1)}`) {
  return caller.post(RULES, { ...body }, { headers: { 'Idempotency-Key': key } });
}

describe('pricing rules', () => {
  it('suggest prices from their creation on, beside those of the service, with an explanation', async () => {
    expect((await caller.get('/v1/packages')).read(page).data.map((each) => each.suggested_price)).toEqual([
      null,
      null,
      null,
    ]);

    const made = await make(GERMANY);
    expect(made.status).toBe(201);
    const { id } = made.read(rule);
    expect(made.headers.get('location')).toBe(`${RULES}/${id}`);
    expect((await caller.get(`${RULES}/${id}`)).body).toEqual(made.body);

    const shown = (await caller.get('/v1/packages/101')).body;
    expect(shown).toMatchObject({
      price_for_reseller: '9.80',
      suggested_price: {
        amount: '13.99',
        currency: 'EUR',
        margin: { amount: '4.19', percent: '42.76' },
        max_price: { amount: '9.996', currency: 'EUR' },
        rule: { id, version: 1, target: 'country' },
      },
    });
    const explained = z
      .looseObject({
        suggested_price: z.looseObject({
          explanation: z.array(z.looseObject({ step: z.string(), amount: z.string() })),
        }),
      })
      .parse(shown);
    expect(explained.suggested_price.explanation.map(({ step, amount }) => `${step} ${amount}`)).toEqual([
      'cost 9.80',
      'margin_percent 13.23',
      'margin_amount 13.73',
      'rounding 13.99',
    ]);
  });

  it('are overridden by more specific ones, also for VPN plans', async () => {
    const byDefault = await make({
      target: { kind: 'default' },
      currency: 'EUR',
      terms: { margin: { percent: '100' } },
      reason: 'All else.',
    });
    const ofPlan = await make({
      target: { kind: 'vpn_plan', vpn_plan_id: 7 },
      currency: 'EUR',
      terms: { minimum_price: '4.99' },
      reason: 'The plan.',
    });
    expect([byDefault.status, ofPlan.status]).toEqual([201, 201]);
    const listed = (await caller.get('/v1/packages')).read(page).data;
    expect(listed.map((each) => [each.id, each.suggested_price?.amount, each.suggested_price?.rule.target])).toEqual([
      [101, '13.99', 'country'],
      [102, '6.91', 'default'],
      [103, '62.00', 'default'],
    ]);
    const [plan] = (await caller.get('/v1/vpn/plans')).read(page).data;
    expect(plan?.suggested_price).toMatchObject({
      amount: '4.99',
      rule: { id: ofPlan.read(rule).id, target: 'vpn_plan' },
    });
  });

  it('are unique per target, and a second one is refused with a link to the first, also concurrently', async () => {
    const again = await make({ ...GERMANY, terms: {} });
    expect([again.status, again.read(problemSchema).code]).toEqual([409, 'pricing_rule_exists']);
    expect((await caller.get(again.read(problemSchema).existing?.href ?? '')).body).toMatchObject({
      target: GERMANY.target,
    });

    const japan = { ...GERMANY, target: { kind: 'country', country: 'JP' } };
    const answers = await Promise.all(Array.from({ length: 5 }, () => make(japan)));
    expect(answers.map(({ status }) => status).toSorted((one, other) => one - other)).toEqual([
      201, 409, 409, 409, 409,
    ]);
    // Another currency makes it another rule.
    expect((await make({ ...japan, currency: 'USD' })).status).toBe(201);
  });

  it('are created once per Idempotency-Key', async () => {
    const france = { ...GERMANY, target: { kind: 'country', country: 'FR' }, currency: 'CHF' };
    const [first, second] = [await make(france, 'same'), await make(france, 'same')];
    expect([second.status, second.headers.get('idempotent-replayed'), second.text]).toEqual([201, 'true', first.text]);
  });

  it('keep each version with author and reason, and are changed only in the version that was read', async () => {
    const { id } = (await make({ ...GERMANY, target: { kind: 'package', package_id: 103 } })).read(rule);
    const changed = await caller.post(`${RULES}/${id}/change`, {
      terms: { margin: { percent: '50' } },
      reason: 'Dearer.',
      version: 1,
    });
    expect([changed.status, changed.read(rule).version]).toEqual([200, 2]);
    const stale = await caller.post(`${RULES}/${id}/change`, {
      terms: {},
      reason: 'I had read the first.',
      version: 1,
    });
    expect([stale.status, stale.read(problemSchema).code, stale.read(problemSchema).detail]).toEqual([
      409,
      'pricing_rule_changed',
      'It is in version 2.',
    ]);
    const ended = await caller.post(`${RULES}/${id}/end`, { reason: 'Sold out.' });
    expect([ended.status, ended.read(rule).ended_at !== null]).toEqual([200, true]);
    expect((await caller.post(`${RULES}/${id}/end`, { reason: 'Again.' })).status).toBe(409);

    const versions = z.looseObject({
      data: z.array(
        z.looseObject({ version: z.int(), change: z.string(), reason: z.string(), changed_by: z.string() }),
      ),
      next_cursor: z.string().nullable(),
    });
    const newest = (await caller.get(`${RULES}/${id}/versions?limit=2`)).read(versions);
    const oldest = (await caller.get(`${RULES}/${id}/versions?limit=2&cursor=${newest.next_cursor}`)).read(versions);
    expect([...newest.data, ...oldest.data].map(({ version, change, reason }) => [version, change, reason])).toEqual([
      [3, 'ended', 'Sold out.'],
      [2, 'changed', 'Dearer.'],
      [1, 'created', GERMANY.reason],
    ]);
    expect(oldest.next_cursor).toBeNull();
    const audited = await api.database.run((db) =>
      db
        .select()
        .from(auditLog)
        .where(sql`subject_id = ${id}`)
        .orderBy(auditLog.id),
    );
    expect(audited.map(({ action, actor, reason }) => [action, actor, reason])).toEqual(
      ['created', 'changed', 'ended'].map((change, index) => [
        `pricing.rule_${change}`,
        newest.data[0]?.changed_by,
        [GERMANY.reason, 'Dearer.', 'Sold out.'][index],
      ]),
    );
    // After its end, another rule for the same target is possible.
    expect((await make({ ...GERMANY, target: { kind: 'package', package_id: 103 } })).status).toBe(201);
  });

  it('are filtered by target, without ended ones unless requested', async () => {
    const list = async (query: string) =>
      (await caller.get(`${RULES}?${query}`)).read(
        z.looseObject({ data: z.array(rule), next_cursor: z.string().nullable() }),
      );
    const all = await list('ended=true&limit=100');
    expect(all.data.filter(({ ended_at: at }) => at !== null)).toHaveLength(1);
    expect((await list('limit=100')).data).toHaveLength(all.data.length - 1);
    expect((await list('target=country&currency=USD')).data).toHaveLength(1);
    const first = await list('ended=true&limit=3');
    const second = await list(`ended=true&limit=100&cursor=${first.next_cursor}`);
    expect([...first.data, ...second.data].map(({ id }) => id)).toEqual(all.data.map(({ id }) => id));
  });

  it('are refused with each invalid field', async () => {
    const answer = await make({
      target: { kind: 'country', country: 'de' },
      currency: 'EUR',
      terms: { margin: { percent: '-5', amount: '1,50' }, rounding: { step: '1' } },
      reason: ' ',
    });
    expect(
      answer
        .read(problemSchema)
        .errors?.map(({ field }) => field)
        .toSorted(),
    ).toEqual(['reason', 'target.country', 'terms.margin.amount', 'terms.margin.percent']);
    const grid = await make({ ...GERMANY, currency: 'GBP', terms: { rounding: { step: '1', ending: '1.99' } } });
    expect(grid.read(problemSchema).errors).toEqual([
      { in: 'body', field: 'terms.rounding.ending', message: 'must be less than the step' },
    ]);
  });

  it('require their scopes, and unknown ones are not found', async () => {
    const reader = await api.caller(['pricing:read', 'packages:read']);
    expect(
      (await reader.post(RULES, GERMANY, { headers: { 'Idempotency-Key': 'a' } })).read(problemSchema).missing_scope,
    ).toBe('pricing:write');
    const buyer = await api.caller(['orders:write']);
    expect((await buyer.get(RULES)).read(problemSchema).missing_scope).toBe('pricing:read');
    for (const path of ['rule_01JQ8ZB1C2D3E4F5G6H7J8K9MN', 'nonsense']) {
      expect((await caller.get(`${RULES}/${path}`)).read(problemSchema).code).toBe('pricing_rule_not_found');
      expect((await caller.post(`${RULES}/${path}/end`, { reason: 'x' })).status).toBe(404);
    }
  });
});

describe('the versions of a rule', () => {
  it('cannot be changed in the database', async () => {
    const refused = { cause: { message: expect.stringContaining('append-only') } };
    await expect(
      api.database.run((db) => db.update(pricingRuleVersions).set({ reason: 'Rewritten.' })),
    ).rejects.toMatchObject(refused);
    await expect(api.database.run((db) => db.delete(pricingRuleVersions))).rejects.toMatchObject(refused);
  });
});

const line = z.looseObject({
  id: z.int(),
  old: z.looseObject({ suggested_price: suggestion }),
  new: z.looseObject({ price_for_reseller: z.looseObject({ amount: z.string() }), suggested_price: suggestion }),
  if_kept: z.looseObject({ below_minimum: z.boolean(), at_loss: z.boolean(), margin: z.unknown() }).nullable(),
});
const trial = z.looseObject({ data: z.array(line), summary: z.unknown() });

describe('a what-if call', () => {
  it('shows the effect of another price list and other rules, and changes nothing', async () => {
    await using own = await startTestApi();
    const mine = await own.caller();
    await mine.post(
      RULES,
      { ...GERMANY, terms: { ...TERMS, rounding: null } },
      { headers: { 'Idempotency-Key': '1' } },
    );
    const before = await own.database.run((db) => db.select().from(pricingRules));

    const answer = await mine.post('/v1/pricing/what-if', {
      rules: [
        {
          target: { kind: 'default' },
          currency: 'EUR',
          terms: { margin: { percent: '10' }, minimum_margin: { amount: '0.50' } },
        },
      ],
      price_list: [
        { kind: 'package', id: 101, price_for_reseller: '13.50' },
        { kind: 'vpn_plan', id: 7, price_for_reseller: '5' },
      ],
      selling_prices: [
        { kind: 'vpn_plan', id: 7, amount: '4.99', currency: 'EUR' },
        { kind: 'package', id: 103, amount: '40', currency: 'EUR' },
      ],
    });
    expect(answer.status).toBe(200);
    const { data, summary } = answer.read(trial);
    expect(
      data.map(({ id, old, new: next }) => [
        id,
        old.suggested_price?.amount,
        next.price_for_reseller.amount,
        next.suggested_price?.amount,
      ]),
    ).toEqual([
      [101, '13.73', '13.50', '18.73'],
      [102, undefined, '3.455', '3.96'],
      [103, undefined, '31.00', '34.10'],
      [7, undefined, '5.00', '5.50'],
    ]);
    expect(data.map(({ if_kept: kept }) => kept)).toMatchObject([
      {
        price: { amount: '13.73' },
        margin: { amount: '0.23', percent: '1.70' },
        minimum: { amount: '14.50' },
        below_minimum: true,
        at_loss: false,
      },
      null,
      {
        price: { amount: '40.00' },
        margin: { amount: '9.00', percent: '29.03' },
        minimum: { amount: '31.50' },
        below_minimum: false,
        at_loss: false,
      },
      { price: { amount: '4.99' }, margin: { amount: '-0.01', percent: '-0.20' }, below_minimum: true, at_loss: true },
    ]);
    expect(summary).toEqual({ items: 4, changed: 4, without_suggestion: 0, below_minimum: 2, at_loss: 1 });
    expect(await own.database.run((db) => db.select().from(pricingRules))).toEqual(before);
    expect((await mine.get('/v1/packages/101')).body).toMatchObject({
      price_for_reseller: '9.80',
      suggested_price: { amount: '13.73' },
    });
  });

  it('can apply the tried rules alone', async () => {
    const answer = await caller.post('/v1/pricing/what-if', { package_ids: [102], rules_replace: 'all' });
    expect(answer.read(trial)).toMatchObject({
      data: [{ id: 102, new: { suggested_price: null } }],
      summary: { items: 1, without_suggestion: 1 },
    });
  });

  it('reads only the needed data from the service', async () => {
    await using own = await startTestApi({
      service: {
        ...idleService,
        listPackages: async () => ({ ok: false, kind: 'failure', failure: 'timeout', detail: 'No answer.' }),
      },
    });
    const mine = await own.caller();
    expect((await mine.post('/v1/pricing/what-if', { vpn_plan_ids: [7] })).status).toBe(200);
    expect((await mine.post('/v1/pricing/what-if', {})).status).toBe(504);
  });

  it('refuses rules with the same target, and unknown items', async () => {
    const tied = { target: { kind: 'default' }, currency: 'EUR', terms: {} };
    const ties = await caller.post('/v1/pricing/what-if', { rules: [tied, tied] });
    expect(ties.read(problemSchema).errors).toEqual([
      { in: 'body', field: 'rules', message: 'has two rules for default EUR' },
    ]);
    const unknown = await caller.post('/v1/pricing/what-if', {
      package_ids: [101, 999],
      price_list: [{ kind: 'package', id: 998, price_for_reseller: '1' }],
    });
    expect(unknown.read(problemSchema).errors?.map(({ field }) => field)).toEqual(['package_ids.1', 'price_list.0']);
  });

  it('refuses two entries for one item, because one would be ignored', async () => {
    const cost = { kind: 'package', id: 101, price_for_reseller: '1' };
    const price = { kind: 'vpn_plan', id: 7, amount: '1', currency: 'EUR' };
    // A package and a plan may have the same number.
    const price_list = [
      cost,
      { ...cost, kind: 'vpn_plan', id: 7 },
      { ...cost, id: 7 },
      { ...cost, price_for_reseller: '2' },
    ];
    const answer = await caller.post('/v1/pricing/what-if', { price_list, selling_prices: [price, price] });
    expect([answer.status, answer.read(problemSchema).errors]).toEqual([
      400,
      [
        { in: 'body', field: 'price_list.3', message: 'is the second entry for package 101' },
        { in: 'body', field: 'selling_prices.1', message: 'is the second entry for vpn_plan 7' },
      ],
    ]);
  });
});
