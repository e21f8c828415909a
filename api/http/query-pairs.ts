/** Query parameters that are pairs, written as `name[key]=value` (`deepObject` of OpenAPI). */
import * as z from 'zod';

/** A key of another form stays part of the name, which then is unknown. */
const PAIR = /^([a-z_]+)\[([A-Za-z0-9][^[\]]*)\]$/;

/** Puts the pairs of each such parameter of the schema into one object. */
export function gatherPairs(schema: z.ZodObject, query: unknown): unknown {
  const others: [string, unknown][] = [];
  const pairs = new Map<string, [string, unknown][]>();
  for (const [written, value] of Object.entries(query ?? {})) {
    const [, name = '', key = ''] = PAIR.exec(written) ?? [];
    if (takesPairs(schema, name)) pairs.set(name, [...(pairs.get(name) ?? []), [key, value]]);
    else others.push([written, value]);
  }
  return Object.fromEntries([...[...pairs].map(([name, each]) => [name, Object.fromEntries(each)]), ...others]);
}

/** The name of a pair as the caller writes it. @param field its path, such as `metadata.shop_order`. */
export function pairName(schema: z.ZodObject, field: string): string {
  const [, name = '', key = ''] = /^([a-z_]+)\.(.+)$/s.exec(field) ?? [];
  return takesPairs(schema, name) ? `${name}[${key}]` : field;
}

function takesPairs(schema: z.ZodObject, name: string): boolean {
  const parameter: unknown = Object.hasOwn(schema.shape, name) ? schema.shape[name] : undefined;
  return (parameter instanceof z.ZodOptional ? parameter.unwrap() : parameter) instanceof z.ZodRecord;
}
