import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { pricingRuleVersions } from '#db/schema.ts';
import { apiOfFile, auditOf } from '#test/integration/api/support.ts';
import { postOnce } from '#test/support/api/keys.ts';
import { problemOf } from '#test/support/api/order-calls.ts';
import { GERMANY, RULES } from '#test/support/api/pricing-rules.ts';

const rule = z.looseObject({ id: z.string(), version: z.int(), ended_at: z.string().nullable() });

const { api, caller } = await apiOfFile();

const make = (body: object) => postOnce(caller, RULES, body);

describe('pricing rules', () => {
  it('suggest prices from their creation on, beside those of the service, with an explanation', async () => {
    expect((await caller.get('/v1/packages/101')).at('suggested_price')).toBeNull();
    const made = await make(GERMANY);
    expect(made.status).toBe(201);
    const { id } = made.read(rule);
    expect(made.headers.get('location')).toBe(`${RULES}/${id}`);
    expect((await caller.get(`${RULES}/${id}`)).body).toEqual(made.body);

    expect((await caller.get('/v1/packages/101')).body).toMatchObject({
      price_for_reseller: { amount: '9.80', currency: 'EUR' },
      suggested_price: {
        amount: '13.99',
        currency: 'EUR',
        margin: { amount: { amount: '4.19', currency: 'EUR' }, percent: '42.76' },
        max_price: { amount: '9.996', currency: 'EUR' },
        rule: { id, version: 1, target: 'country' },
      },
    });
    const steps = z.array(z.object({ step: z.string(), amount: z.object({ amount: z.string() }) }));
    const explained = steps.parse((await caller.get('/v1/packages/101')).at('suggested_price', 'explanation'));
    expect(explained.map(({ step, amount: { amount } }) => `${step} ${amount}`)).toEqual([
      'cost 9.80',
      'margin_percent 13.23',
      'margin_amount 13.73',
      'rounding 13.99',
    ]);
  });

  it('are unique per target, and a second one is refused with a link to the first, also concurrently', async () => {
    const again = problemOf(await make({ ...GERMANY, terms: {} }));
    expect(again).toMatchObject({ status: 409, code: 'pricing_rule_exists' });
    expect((await caller.get(again.existing?.href ?? '')).at('target')).toEqual(GERMANY.target);

    const japan = { ...GERMANY, target: { kind: 'country', country: 'JP' } };
    const answers = await Promise.all(Array.from({ length: 5 }, () => make(japan)));
    expect(answers.map(({ status }) => String(status)).toSorted()).toEqual(['201', '409', '409', '409', '409']);
    // Another currency makes it another rule.
    expect((await make({ ...japan, currency: 'USD' })).status).toBe(201);
  });

  it('keep each version with author and reason, and are changed only in the version that was read', async () => {
    const { id } = (await make({ ...GERMANY, target: { kind: 'package', package_id: 103 } })).read(rule);
    const change = (terms: object, reason: string) => caller.patch(`${RULES}/${id}`, { terms, reason, version: 1 });
    const changed = await change({ margin: { percent: '50' } }, 'Dearer.');
    expect([changed.status, changed.read(rule).version]).toEqual([200, 2]);
    expect(problemOf(await change({}, 'I had read the first.'))).toMatchObject({
      status: 409,
      code: 'pricing_rule_changed',
      detail: 'It is in version 2.',
    });
    const ended = await caller.delete(`${RULES}/${id}?reason=Sold%20out.`);
    expect([ended.status, ended.read(rule).ended_at !== null]).toEqual([200, true]);
    expect((await caller.delete(`${RULES}/${id}?reason=Again.`)).status).toBe(409);

    const version = z.object({ version: z.int(), change: z.string(), reason: z.string(), changed_by: z.string() });
    const versions = z.object({ data: z.array(version), next_cursor: z.string().nullable() });
    const newest = (await caller.get(`${RULES}/${id}/versions?limit=2`)).read(versions);
    const oldest = (await caller.get(`${RULES}/${id}/versions?limit=2&cursor=${newest.next_cursor}`)).read(versions);
    expect([...newest.data, ...oldest.data].map((each) => [each.version, each.change, each.reason])).toEqual([
      [3, 'ended', 'Sold out.'],
      [2, 'changed', 'Dearer.'],
      [1, 'created', GERMANY.reason],
    ]);
    expect(oldest.next_cursor).toBeNull();
    const by = newest.data[0]?.changed_by;
    expect((await auditOf(api, id)).map(({ action, actor, reason }) => [action, actor, reason])).toEqual([
      ['pricing.rule_created', by, GERMANY.reason],
      ['pricing.rule_changed', by, 'Dearer.'],
      ['pricing.rule_ended', by, 'Sold out.'],
    ]);
    // After its end, another rule for the same target is possible.
    expect((await make({ ...GERMANY, target: { kind: 'package', package_id: 103 } })).status).toBe(201);
  });

  it('are refused with each invalid field', async () => {
    const answer = await make({
      target: { kind: 'country', country: 'de' },
      currency: 'EUR',
      terms: { margin: { percent: '-5', amount: '1,50' }, rounding: { step: '1' } },
      reason: ' ',
    });
    const fields = problemOf(answer).errors?.map(({ field }) => field);
    expect(fields?.toSorted()).toEqual(['reason', 'target.country', 'terms.margin.amount', 'terms.margin.percent']);
    const grid = await make({ ...GERMANY, currency: 'GBP', terms: { rounding: { step: '1', ending: '1.99' } } });
    expect(problemOf(grid).errors).toEqual([
      { in: 'body', field: 'terms.rounding.ending', message: 'must be less than the step' },
    ]);
  });
});

it('the versions of a pricing rule cannot be changed in the database', async () => {
  const refused = { cause: { message: expect.stringContaining('append-only') } };
  const rewritten = api.database.run((db) => db.update(pricingRuleVersions).set({ reason: 'Rewritten.' }));
  await expect(rewritten).rejects.toMatchObject(refused);
  await expect(api.database.run((db) => db.delete(pricingRuleVersions))).rejects.toMatchObject(refused);
});
