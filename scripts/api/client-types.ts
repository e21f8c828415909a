import { compile, type JSONSchema } from 'json-schema-to-typescript';
import { OPEN_SET } from '#api/openapi/open-sets.ts';
import type { DescribedApi } from '#scripts/api/api-document.ts';

/** Gives the generator all schemas at once. It is removed from the result. */
const GATHERED = 'GatheredSchemas';

export async function clientTypes(api: DescribedApi): Promise<string> {
  const names = Object.keys(api.schemas);
  const gathered = {
    title: GATHERED,
    type: 'object',
    additionalProperties: false,
    required: names,
    properties: Object.fromEntries(names.map((name) => [name, { $ref: `#/$defs/${name}` }])),
    $defs: prepared(api.schemas),
  } as JSONSchema;
  const text = await compile(gathered, GATHERED, {
    additionalProperties: false,
    bannerComment: '',
    ignoreMinAndMaxItems: true,
    style: { singleQuote: true, printWidth: 120 },
  });
  const all = text.replace(new RegExp(`export interface ${GATHERED} \\{[\\s\\S]*?\\n\\}\\n`), '');
  const doubled = names.filter((name) => !new RegExp(`^export (?:interface|type) ${name}\\b`, 'm').test(all));
  if (doubled.length > 0) throw new Error(`no type was generated for ${doubled.join(', ')}`);
  return all;
}

/**
 * With other keywords beside a reference, the generator makes a separate type of each. TypeScript cannot express
 * patterns.
 */
function prepared(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(prepared);
  if (typeof value !== 'object' || value === null) return value;
  const { $ref, pattern: _pattern, example: _example, examples: _examples, ...rest } = value as Record<string, unknown>;
  const inner = Object.fromEntries(Object.entries(rest).map(([key, each]) => [key, prepared(each)]));
  // Known values for editors, and any other text: a later version of the API may add values.
  const known = inner[OPEN_SET];
  if (Array.isArray(known)) inner['tsType'] = `(${known.map((each) => `'${each}'`).join(' | ')} | (string & {}))`;
  if (typeof $ref !== 'string') return inner;
  const reference = { $ref: $ref.replace('#/components/schemas/', '#/$defs/') };
  return Object.keys(inner).length === 0 ? reference : { ...inner, allOf: [reference] };
}
