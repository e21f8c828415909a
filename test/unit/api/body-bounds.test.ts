import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { MAX_NAMES, MAX_VALUES } from '#api/http/read-request.ts';
import { BATCH_BODY_LIMIT } from '#api/order-batches/batch-schemas.ts';
import { CONFIGURATION_FIELDS } from '#config/variables.ts';
import { apiDocument, readDescription } from '#scripts/api/api-document.ts';

const api = readDescription(await apiDocument());
const DEFAULT_LIMIT = CONFIGURATION_FIELDS.api.API_BODY_LIMIT.parse(undefined);
/** Of calls whose bodies may be longer. */
const OWN_LIMITS: Readonly<Record<string, number>> = { createOrderBatch: BATCH_BODY_LIMIT };
/** Characters of a time with offset, and of a number. */
const TIME = 35;
const NUMBER = 20;
/** Characters beside a name or an entry: quotes, colon, comma. */
const PUNCTUATION = 4;

const node = z.looseObject({
  $ref: z.string().optional(),
  const: z.unknown().optional(),
  enum: z.array(z.unknown()).optional(),
  anyOf: z.array(z.unknown()).optional(),
  oneOf: z.array(z.unknown()).optional(),
  type: z.union([z.string(), z.array(z.string())]).optional(),
  format: z.string().optional(),
  pattern: z.string().optional(),
  maxLength: z.int().optional(),
  maximum: z.number().optional(),
  maxItems: z.int().optional(),
  maxProperties: z.int().optional(),
  items: z.unknown().optional(),
  properties: z.record(z.string(), z.unknown()).default({}),
  additionalProperties: z.unknown().optional(),
});

/** Bytes of the longest JSON in ASCII that a schema allows. @throws Error for a schema without a bound. */
function longest(schema: unknown, path: string): number {
  const each = node.parse(schema);
  if (each.$ref !== undefined) return longest(api.schemas[each.$ref.split('/').at(-1) ?? ''], path);
  if (each.const !== undefined) return JSON.stringify(each.const).length;
  if (each.enum !== undefined) return Math.max(...each.enum.map((value) => JSON.stringify(value).length));
  const choices = each.anyOf ?? each.oneOf;
  if (choices !== undefined) return Math.max(...choices.map((choice) => longest(choice, path)));
  const types = new Set([each.type ?? []].flat());
  if (types.has('object')) return ofObject(each, path);
  if (types.has('array')) {
    if (each.maxItems === undefined) throw new Error(`${path} has no maxItems`);
    return each.maxItems * (longest(each.items, `${path}[]`) + 1) + 2;
  }
  if (types.has('string')) return ofText(each, path);
  // A number without a maximum would be valid in the description and refused by the API, which reads it exactly.
  if ((types.has('integer') || types.has('number')) && each.maximum === undefined)
    throw new Error(`${path} has no maximum`);
  return NUMBER;
}

function ofObject({ properties, additionalProperties, maxProperties }: z.output<typeof node>, path: string): number {
  const named = Object.entries(properties).map(
    ([name, value]) => name.length + PUNCTUATION + longest(value, `${path}.${name}`),
  );
  const sum = named.reduce((total, bytes) => total + bytes, 2);
  if (typeof additionalProperties !== 'object') return sum;
  if (maxProperties === undefined) throw new Error(`${path} has no maxProperties`);
  const LONGEST_NAME = 40;
  return sum + maxProperties * (LONGEST_NAME + PUNCTUATION + longest(additionalProperties, `${path}.*`));
}

function ofText({ maxLength, pattern = '', format }: z.output<typeof node>, path: string): number {
  if (maxLength !== undefined) return maxLength + 2;
  if (format === 'date-time') return TIME;
  const repeated = [...pattern.matchAll(/\{(?:\d+,)?(\d+)\}/g)].map(([, most]) => Number(most));
  if (repeated.length === 0 || /[*+]/.test(pattern.replaceAll(/\[[^\]]*\]/g, '')))
    throw new Error(`${path} has no maxLength`);
  return repeated.reduce((sum, most) => sum + most, PUNCTUATION);
}

/** Values within the largest JSON that a schema allows, and names of its largest object. */
function counts(schema: unknown): { readonly values: number; readonly names: number } {
  const each = node.parse(schema);
  if (each.$ref !== undefined) return counts(api.schemas[each.$ref.split('/').at(-1) ?? '']);
  const inner: { readonly values: number; readonly names: number }[] = [
    ...(each.anyOf ?? each.oneOf ?? []),
    ...Object.values(each.properties),
    ...(each.items === undefined ? [] : [each.items]),
  ].map(counts);
  const own = Object.keys(each.properties).length + (each.maxProperties ?? 0);
  const sum = inner.reduce((total, { values }) => total + values, 0);
  return {
    values: each.maxItems === undefined ? own + sum : each.maxItems * (1 + sum),
    names: Math.max(own, ...inner.map(({ names }) => names)),
  };
}

describe('the bounds of a body', () => {
  const bodies = api.operations.flatMap(({ id, body }) =>
    body === undefined || id === 'receiveServiceWebhook' ? [] : [{ id, schema: body.schema }],
  );

  it.each(bodies)('of $id agree with the default of API_BODY_LIMIT: the longest valid body is accepted', (body) => {
    const bytes = longest(body.schema, body.id);
    expect(bytes).toBeGreaterThan(10);
    expect(bytes).toBeLessThanOrEqual(OWN_LIMITS[body.id] ?? DEFAULT_LIMIT);
  });

  it('allow every valid body its values and names', () => {
    const all = bodies.map(({ schema }) => counts(schema));
    const [values, names] = [Math.max(...all.map((one) => one.values)), Math.max(...all.map((one) => one.names))];
    expect(values).toBeGreaterThan(10_000);
    expect(values).toBeLessThanOrEqual(MAX_VALUES);
    expect(names).toBeGreaterThan(19);
    expect(names).toBeLessThanOrEqual(MAX_NAMES);
  });
});
