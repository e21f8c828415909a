/** Reads the bodies of the service's answers and events by the contract, also where they are wrapped or written in other terms. */
import * as z from 'zod';
import {
  listWrappersOf,
  MOST_WRAPPERS,
  unwrapped,
  wrappersOf,
  type RecordName,
} from '#upstream/contract/envelopes.ts';
import { hasAmbiguousPrices, inOurTerms, VARIANTS, type Variants } from '#upstream/contract/variants.ts';
import { readRecord, type Reading } from '#upstream/reading/record.ts';

/**
 * Reads one record: as the contract has it, else in our terms, else below `data` or its own name.
 *
 * @param record what it is about.
 */
export function readAnswer<Schema extends z.ZodType>(
  schema: Schema,
  value: unknown,
  record: RecordName,
  variants: Variants = VARIANTS,
): Reading<z.output<Schema>> {
  if (variants.amounts !== 'minor_units') {
    const direct = schema.safeParse(value);
    if (direct.success) return { ok: true, value: direct.data, leftOut: [] };
  }
  const layers = layersOf(inOurTerms(value, variants), wrappersOf(record));
  const needed = neededFields(schema);
  const whole = layers.find((layer) => needed.every((name) => hasValue(layer, name)));
  return readRecord(schema, whole ?? layers.at(-1));
}

/** The value and what it wraps, outermost first. */
function layersOf(value: unknown, names: readonly string[]): unknown[] {
  const layers = [value];
  for (let depth = 0; depth < MOST_WRAPPERS; depth += 1) {
    const inner = unwrapped(layers.at(-1), names);
    if (inner === undefined || Array.isArray(inner)) break;
    layers.push(inner);
  }
  return layers;
}

function neededFields(schema: z.ZodType): readonly string[] {
  if (!(schema instanceof z.ZodObject)) return [];
  const fields = Object.entries<z.ZodType>(schema.shape);
  return fields.filter(([, field]) => !field.safeParse(undefined).success).map(([name]) => name);
}

function hasValue(value: unknown, name: string): boolean {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, name);
}

/** What was read of a page of a list. */
export type PageReading<Item> =
  | {
      readonly ok: true;
      readonly items: readonly Item[];
      /** Items that could not be read. */
      readonly dropped: number;
      /** As {@link Reading} has them, and what the dropped items lack; such as `data[].countries[]`. */
      readonly leftOut: readonly string[];
      /** The objects that were passed on the way to the list, outermost first. */
      readonly layers: readonly Readonly<Record<string, unknown>>[];
    }
  | { readonly ok: false; readonly problem: string };

/**
 * Reads a page of a list. An item that cannot be read is dropped and counted; where none can be, the page is not what we expect.
 *
 * @param item schema of one item.
 */
export function readPage<Schema extends z.ZodType>(
  item: Schema,
  value: unknown,
  record: RecordName,
  variants: Variants = VARIANTS,
): PageReading<z.output<Schema>> {
  const found = findList(inOurTerms(value, variants), listWrappersOf(record));
  if (found === undefined) return { ok: false, problem: 'its body lacks or misstates data' };
  if (hasAmbiguousPrices(found.list, variants)) return { ok: false, problem: AMBIGUOUS_PRICES };
  const items: z.output<Schema>[] = [];
  const leftOut = new Set<string>();
  const lacking = new Set<string>();
  for (const each of found.list) {
    const reading = readRecord(item, each);
    if (reading.ok) items.push(reading.value);
    for (const name of reading.ok ? reading.leftOut : reading.lacking) (reading.ok ? leftOut : lacking).add(inList(name));
  }
  if (items.length === 0 && found.list.length > 0) return { ok: false, problem: lackingClause([...lacking]) };
  const dropped = found.list.length - items.length;
  return { ok: true, items, dropped, leftOut: [...leftOut, ...lacking], layers: found.layers };
}

const AMBIGUOUS_PRICES =
  'in its data[].price_for_reseller every price is a whole number, which may be a number of cents: ' +
  '`amounts` in upstream/contract/variants.ts is to say which';

function inList(name: string): string {
  return name === 'the object itself' ? 'data[]' : `data[].${name}`;
}

function findList(value: unknown, names: readonly string[]) {
  const layers: Record<string, unknown>[] = [];
  let current = value;
  for (let depth = 0; depth <= MOST_WRAPPERS; depth += 1) {
    if (Array.isArray(current)) return { list: current as readonly unknown[], layers };
    if (typeof current !== 'object' || current === null) return undefined;
    layers.push(current as Record<string, unknown>);
    current = unwrapped(current, names);
  }
  return undefined;
}

/** A clause about an answer; long lists are cut. @param lacking names of the contract. */
export function lackingClause(lacking: readonly string[]): string {
  const named = lacking.length <= 5 ? lacking.join(', ') : `${lacking.slice(0, 5).join(', ')} and ${lacking.length - 5} more`;
  return `its body lacks or misstates ${named}`;
}
