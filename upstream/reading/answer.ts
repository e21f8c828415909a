import * as z from 'zod';
import { ANSWER_LIMITS } from '#domain/policy/answer-limits.ts';
import type { BodyResult, Unused } from '#upstream/client/error-mapping.ts';
import { type EndpointContract, itemOf } from '#upstream/contract.ts';
import {
  MOST_WRAPPERS,
  type PriceForms,
  type RecordName,
  VARIANTS,
  type Variants,
  inOurTerms,
  listWrappersOf,
  priceForms,
  wrappersOf,
} from '#upstream/contract/variants.ts';
import { type ReadResult, type ValueOf, readRecord } from '#upstream/reading/record.ts';

/**
 * @param namedBy fields of which the record has at least one. @returns the names of the needed fields that it lacks.
 */
export function readAnswer<Schema extends z.ZodType>(
  schema: Schema,
  value: unknown,
  record: RecordName,
  variants: Variants = VARIANTS,
  namedBy: readonly string[] = [],
): ReadResult<ValueOf<Schema>> {
  // OpenAPI defines the names of its documents: neither unwrapped nor translated.
  if (record === 'document') return readRecord(schema, value);
  const layers = layersOf(inOurTerms(value, record, variants), wrappersOf(record));
  const needed = neededFields(schema);
  if (layers.some(saysFailure)) return { ok: false, lacking: [NO_ERROR] };
  const isNamed = (layer: unknown) => namedBy.length === 0 || namedBy.some((name) => hasValue(layer, name));
  const [whole, another] = layers.filter((layer) => needed.every((name) => hasValue(layer, name)) && isNamed(layer));
  // Two nested records with all needed fields: the choice would be a guess.
  if (another !== undefined) return { ok: false, lacking: needed };
  const found = whole ?? nearest(layers, needed);
  if (layers.some((layer) => layer !== found && isErrorLayer(layer))) return { ok: false, lacking: [NO_ERROR] };
  return readRecord(schema, found);
}

/** With the most needed fields, the innermost of several: what it lacks is what the record lacks. */
function nearest(layers: readonly unknown[], needed: readonly string[]): unknown {
  const counts = layers.map((layer) => needed.filter((name) => hasValue(layer, name)).length);
  return layers[counts.lastIndexOf(Math.max(...counts))];
}

const NO_ERROR = 'a success (the body says that it is an error)';
const SAYS_ERROR = 'its body says that it is an error';

function saysFailure(layer: unknown): boolean {
  return isObject(layer) && (layer['success'] === false || layer['ok'] === false);
}

const ERROR_WORDS: ReadonlySet<unknown> = new Set(['error', 'failed', 'failure', 'fail']);

function isErrorLayer(layer: unknown): boolean {
  if (!isObject(layer)) return false;
  const problems = [layer['error'], layer['errors']];
  return saysFailure(layer) || problems.some(isFilled) || ERROR_WORDS.has(layer['status']);
}

const SAYS_NO_ERROR: ReadonlySet<unknown> = new Set([undefined, null, false, '', 0, '0']);

/** False for the forms of "no error": null, false, 0, an empty text, a list or object of nothing else. */
function isFilled(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return !SAYS_NO_ERROR.has(value);
  return Object.values(value).some(isFilled);
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Undefined when several fields with one of these names contain an object or a list. */
function unwrapped(value: unknown, names: readonly string[]): unknown {
  if (!isObject(value)) return undefined;
  const inside = Object.entries(value).filter(
    ([name, field]) => names.includes(name) && typeof field === 'object' && field !== null,
  );
  return inside.length === 1 ? inside[0]?.[1] : undefined;
}

function layersOf(value: unknown, names: readonly string[]): unknown[] {
  const layers = [value];
  for (let depth = 0; depth < MOST_WRAPPERS; depth += 1) {
    const inner = unwrapped(layers.at(-1), names);
    if (inner === undefined || Array.isArray(inner)) break;
    layers.push(inner);
  }
  return layers;
}

/** Kept: the contract is constant, and every answer needs this list. */
const NEEDED_FIELDS = new WeakMap<z.ZodType, readonly string[]>();

function neededFields(schema: z.ZodType): readonly string[] {
  const known = NEEDED_FIELDS.get(schema);
  if (known !== undefined) return known;
  const fields = schema instanceof z.ZodObject ? Object.entries<z.ZodType>(schema.shape) : [];
  const needed = fields.filter(([, field]) => !field.safeParse(undefined).success).map(([name]) => name);
  NEEDED_FIELDS.set(schema, needed);
  return needed;
}

function hasValue(value: unknown, name: string): boolean {
  return isObject(value) && Object.hasOwn(value, name) && value[name] !== null;
}

export interface ListPage<Item> {
  readonly items: readonly Item[];
  readonly dropped: number;
  readonly layers: readonly Readonly<Record<string, unknown>>[];
  readonly linkHeader: string | undefined;
  readonly prices: PriceForms;
  /** Why the content is uncertain: items with unreadable ids, and further lists beside it. */
  readonly uncertain: number;
}

/**
 * An unreadable item is dropped and counted. If all are unreadable, the page is refused.
 * @returns `leftOut`: as in {@link ReadResult}, and what the dropped items lack, such as `data[].countries[]`.
 */
export function readPage<Schema extends z.ZodType>(
  item: Schema,
  value: unknown,
  record: RecordName,
  variants: Variants = VARIANTS,
):
  | ({ readonly ok: true; readonly leftOut: readonly string[] } & Omit<ListPage<ValueOf<Schema>>, 'linkHeader'>)
  | { readonly ok: false; readonly problem: string } {
  const found = findList(inOurTerms(value, record, variants), listWrappersOf(record));
  if (found === undefined) return { ok: false, problem: 'its body lacks or misstates data' };
  if (found.layers.some(isErrorLayer)) return { ok: false, problem: SAYS_ERROR };
  const { listItems: most } = ANSWER_LIMITS;
  if (found.list.length > most) return { ok: false, problem: `its list has more than ${most} items` };
  const items: ValueOf<Schema>[] = [];
  let uncertain = otherLists(found);
  const leftOut = new Set<string>();
  const lacking = new Set<string>();
  for (const each of found.list) {
    const reading = readRecord(item, each);
    if (reading.ok) items.push(reading.value);
    if (reading.ok && reading.leftOut.some((name) => IDENTIFIER.test(name))) uncertain += 1;
    for (const name of reading.ok ? reading.leftOut : reading.lacking)
      (reading.ok ? leftOut : lacking).add(inList(name));
  }
  if (items.length === 0 && found.list.length > 0) return { ok: false, problem: lackingClause([...lacking]) };
  const dropped = found.list.length - items.length;
  const { layers, list } = found;
  return { ok: true, items, dropped, leftOut: [...leftOut, ...lacking], layers, prices: priceForms(list), uncertain };
}

const IDENTIFIER = /(?:^|_)id$/;

function otherLists({
  list,
  layers,
}: {
  readonly list: readonly unknown[];
  readonly layers: readonly object[];
}): number {
  const holder = layers.at(-1);
  if (holder === undefined) return 0;
  const lists: unknown[] = Object.values(holder).filter((value) => Array.isArray(value) && value !== list);
  return lists.filter((other) => Array.isArray(other) && other.some(isObject)).length;
}

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

function lackingClause(lacking: readonly string[]): string {
  const named =
    lacking.length <= 5 ? lacking.join(', ') : `${lacking.slice(0, 5).join(', ')} and ${lacking.length - 5} more`;
  return `its body lacks or misstates ${named}`;
}

export function readBody(
  { answer, record }: Pick<EndpointContract, 'answer' | 'record'>,
  body: unknown,
  linkHeader: string | undefined,
): BodyResult<unknown> {
  const item = itemOf(answer);
  if (item === undefined) {
    const reading = readAnswer(answer, body, record);
    if (!reading.ok) return { ok: false, problem: lackingClause(reading.lacking) };
    return { ok: true, value: reading.value, ...unusedIn({ fields: reading.leftOut, items: 0 }) };
  }
  const page = readPage(item, body, record);
  if (!page.ok) return page;
  const { ok, leftOut, ...rest } = page;
  const value: ListPage<unknown> = { ...rest, linkHeader };
  return { ok, value, ...unusedIn({ fields: leftOut, items: page.dropped }) };
}

function unusedIn(unused: Unused): { readonly unused?: Unused } {
  return unused.fields.length === 0 && unused.items === 0 ? {} : { unused };
}
