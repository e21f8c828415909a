import { describe, expect, it } from 'vitest';
import * as z from 'zod';
/** One shape for one thing: rules of docs/reference/conventions.md, checked in the whole description of the API. */
import { answerExampleOf } from '#api/openapi/examples.ts';
import { apiOperations } from '#cli/api/operations.ts';
import { apiDocument } from '#scripts/api/api-document.ts';

interface Described {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly enum?: readonly unknown[];
  readonly description?: string;
  readonly properties?: Readonly<Record<string, Described>>;
  readonly [keyword: string]: unknown;
}

const document = z
  .object({ components: z.object({ schemas: z.record(z.string(), z.looseObject({})) }) })
  .parse(await apiDocument());
const schemas = document.components.schemas as Readonly<Record<string, Described>>;
const operations = await apiOperations();

interface Property {
  /** Such as `Order.max_price`. */
  readonly name: string;
  readonly key: string;
  readonly schema: Described;
}

/** Every property of every object in a schema, also of nested ones. */
function propertiesOf(owner: string, schema: unknown): Property[] {
  if (typeof schema !== 'object' || schema === null) return [];
  if (Array.isArray(schema)) return schema.flatMap((each) => propertiesOf(owner, each));
  const { properties = {}, example: _example, examples: _examples, default: _default, ...others } = schema as Described;
  return [
    ...Object.entries(properties).flatMap(([key, each]) => [
      { name: `${owner}.${key}`, key, schema: each },
      ...propertiesOf(`${owner}.${key}`, each),
    ]),
    ...propertiesOf(owner, Object.values(others)),
  ];
}

const properties = Object.entries(schemas).flatMap(([name, schema]) => propertiesOf(name, schema));

/** The alternatives of a schema but null. */
function formsOf(schema: Described): Described[] {
  const either = schema['anyOf'] ?? schema['oneOf'];
  return Array.isArray(either) ? either.flatMap((each) => formsOf(each as Described)) : [schema];
}

const MONEY = new Set(['Money', 'MoneyInput', 'SuggestedPrice'].map((name) => `#/components/schemas/${name}`));
/** Objects whose amounts all count in the one `currency` of their pricing rule. */
const OF_PRICING_RULES = /^Pricing(Margin|MinimumMargin|Terms)|^(NewPricingRule|PricingRule(Input)?)\.currency$/;
const MONEY_NAME = /^(amount|balance|charged|limit|price|reserved|spent)$|_(price|price_for_reseller|cost|balance)$/;

describe('money in the API', () => {
  const isMoney = (schema: Described) =>
    formsOf(schema).every(({ $ref, type }) => type === 'null' || MONEY.has($ref ?? ''));
  const ofMoney = ({ name }: Property) => /^(Money|MoneyInput|SuggestedPrice)\.\w+$/.test(name);
  const others = properties.filter((each) => !ofMoney(each) && !OF_PRICING_RULES.test(each.name));

  it('is an object with amount and currency wherever a field is named like an amount', () => {
    const found = others.filter(({ key, schema }) => MONEY_NAME.test(key) && !isMoney(schema));
    // Lists of amounts, one for each currency.
    const bare = found.filter(
      // A number counts something.
      ({ schema }) => schema.type !== 'integer' && !isMoney((schema['items'] as Described | undefined) ?? {}),
    );
    expect(bare.map(({ name }) => name)).toEqual([]);
    expect(properties.filter(({ key }) => MONEY_NAME.test(key)).length).toBeGreaterThan(40);
  });

  it('has no field that contains a part of an amount', () => {
    const parts = others.filter(({ key }) => /(^|_)currency$|_amount$|_cents$/.test(key));
    expect(parts.map(({ name }) => name)).toEqual([]);
  });
});

describe('lists of the API', () => {
  const parameters = operations.flatMap(({ id, query }) =>
    Object.keys(query?.shape ?? {}).map((name) => ({ id, name })),
  );

  it('filter by time with created_after, created_before and updated_after only', () => {
    const ofTime = parameters.filter(({ name }) =>
      /_(after|before|since|from|to|until|at)$|^(since|from|to)$/.test(name),
    );
    const names = new Set(ofTime.map(({ name }) => name));
    expect([...names].toSorted()).toEqual(['created_after', 'created_before', 'updated_after']);
    expect(ofTime.length).toBeGreaterThan(20);
  });

  it('have limit and cursor together', () => {
    const having = (wanted: string) => parameters.filter(({ name }) => name === wanted).map(({ id }) => id);
    // A stream has no pages.
    expect(having('cursor').filter((id) => id !== 'streamEvents')).toEqual(having('limit'));
  });

  it('that can be filtered by time show that time in each item', () => {
    for (const { id, name } of parameters.filter(({ name }) => name === 'created_after')) {
      const { answers } = operations.find((each) => each.id === id) ?? {};
      // A file has no example.
      if (answers?.[200]?.contentType === 'text/csv') continue;
      const example = z
        .object({ data: z.array(z.looseObject({ created_at: z.string() })).min(1) })
        .safeParse(answers?.[200] && answerExampleOf(answers[200]));
      expect([id, name, example.success]).toEqual([id, name, true]);
    }
  });
});

describe('a closed set of the API', () => {
  it('has a description of its values', () => {
    const bare = properties.filter(({ schema }) => {
      const values = schema.enum ?? (schema['items'] as Described | undefined)?.enum;
      return values !== undefined && values.length > 1 && (schema.description ?? '') === '';
    });
    expect(bare.map(({ name }) => name)).toEqual([]);
  });
});

describe('methods of the API', () => {
  it('change a part with PATCH and end with DELETE', () => {
    const ending = operations.filter(
      ({ method, path }) => method === 'post' && /\/(change|update|end|delete|remove)$/.test(path),
    );
    expect(ending.map(({ id }) => id)).toEqual([]);
  });
});
