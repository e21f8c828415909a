import { compile, type JSONSchema } from 'json-schema-to-typescript';
import type { DescribedApi } from '#scripts/api/described-api.ts';

/** The name under which the schemas are gathered for the generator; it is taken out again. */
const GATHERED = 'GatheredSchemas';

/** TypeScript of every named schema, by the names of the description. */
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
  if (doubled.length > 0) throw new Error(`no type was made of ${doubled.join(', ')}`);
  return all;
}

/**
 * Beside a reference nothing may stand, else the generator makes a type of its own of each. Patterns say nothing to
 * TypeScript.
 */
function prepared(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(prepared);
  if (typeof value !== 'object' || value === null) return value;
  const { $ref, pattern: _pattern, example: _example, examples: _examples, ...rest } = value as Record<string, unknown>;
  const inner = Object.fromEntries(Object.entries(rest).map(([key, each]) => [key, prepared(each)]));
  if (typeof $ref !== 'string') return inner;
  const reference = { $ref: $ref.replace('#/components/schemas/', '#/$defs/') };
  return Object.keys(inner).length === 0 ? reference : { ...inner, allOf: [reference] };
}
