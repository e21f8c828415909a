import * as z from 'zod';
import type { DocumentedAnswer, Operation } from '#api/http/operation.ts';

interface Described {
  readonly $ref?: string;
  readonly $defs?: Readonly<Record<string, Described>>;
  readonly example?: unknown;
  readonly default?: unknown;
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly Described[];
  readonly oneOf?: readonly Described[];
  readonly allOf?: readonly Described[];
  readonly type?: string | readonly string[];
  readonly minimum?: number;
  readonly properties?: Readonly<Record<string, Described>>;
  readonly required?: readonly string[];
  readonly items?: Described;
}

const PLAIN: Readonly<Record<string, unknown>> = { string: '…', boolean: false, null: null };

/**
 * The `example` in the metadata of an object replaces single fields. Without an example, a field that may be null is
 * null, and an optional field is absent.
 */
export function exampleOf(schema: z.ZodType, io: 'input' | 'output'): unknown {
  const made = MADE[io].get(schema);
  if (made !== undefined) return made;
  const root = z.toJSONSchema(schema, { io, unrepresentable: 'any' }) as Described;
  const example = compose(root, root.$defs ?? {});
  MADE[io].set(schema, example);
  return example;
}

/** Many calls answer with the same schema. */
const MADE = { input: new WeakMap<z.ZodType, unknown>(), output: new WeakMap<z.ZodType, unknown>() };

export function bodyExampleOf({ body, bodyExample }: Pick<Operation, 'body' | 'bodyExample'>): unknown {
  return body && (bodyExample ?? exampleOf(body, 'input'));
}

/** Undefined when it is not JSON. */
export function answerExampleOf({ schema, example }: DocumentedAnswer): unknown {
  if (schema === undefined) return undefined;
  const composed = exampleOf(schema, 'output');
  return example === undefined ? composed : { ...(composed as object), ...example };
}

function compose(schema: Described, definitions: Readonly<Record<string, Described>>): unknown {
  const { $ref, example, type = 'null', properties, required = [], items } = schema;
  if (example !== undefined && properties === undefined) return example;
  if ($ref !== undefined) return compose(definitions[$ref.replace('#/$defs/', '')] ?? {}, definitions);
  if (schema.const !== undefined) return schema.const;
  if (typeof type === 'object') return null;
  if (schema.enum !== undefined) return schema.enum[0];
  const choice = schema.anyOf ?? schema.oneOf ?? schema.allOf ?? [];
  if (choice.some((each) => each.type === 'null')) return null;
  if (choice[0] !== undefined) return compose(choice[0], definitions);
  if (items !== undefined) return [compose(items, definitions)];
  if (type === 'integer' || type === 'number') return Math.max(0, schema.minimum ?? 0);
  if (type !== 'object') return PLAIN[type];
  const shown = Object.entries(properties ?? {}).filter(
    ([name, each]) => required.includes(name) || each.example !== undefined,
  );
  return {
    ...Object.fromEntries(shown.map(([name, each]) => [name, compose(each, definitions)])),
    ...(example as object),
  };
}
