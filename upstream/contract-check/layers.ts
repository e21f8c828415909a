/** An envelope has exactly one field with an envelope's name that contains an object or a list. */
import type { JsonObject } from '#upstream/contract-check/document.ts';
import {
  type Forms,
  type JsonType,
  type ResolvedSchema,
  eitherOf,
  formsOrNone,
} from '#upstream/contract-check/schemas.ts';
import { MOST_WRAPPERS } from '#upstream/contract.ts';
import { type Continuation, continuationOf } from '#upstream/contract/paging.ts';
import {
  type RecordName,
  type RecordTerms,
  VARIANTS,
  inOurTerms,
  isAmount,
  ourName,
  termsOf,
} from '#upstream/contract/variants.ts';

interface Layer {
  readonly path: readonly string[];
  readonly forms: Forms;
}

/**
 * The outermost layer with all needed fields, else the one with most. @param namedBy one of these is enough.
 * @returns `rival`: another layer with all needed fields; the reader then takes neither.
 */
export function peeled(
  document: JsonObject,
  forms: Forms,
  needed: readonly string[],
  envelopes: readonly string[],
  namedBy: readonly string[] = [],
): Layer & { readonly rival?: Layer } {
  const isList = (layer: Layer) => mayBe(layer.forms, 'array') && !mayBe(layer.forms, 'object');
  const layers = layersOf(document, forms, envelopes).filter((layer) => layer.path.length === 0 || !isList(layer));
  const counts = layers.map(({ forms }) => {
    const fields = fieldsOf(forms);
    return needed.filter((name) => fields.has(name)).length + (namedBy.some((name) => fields.has(name)) ? 1 : 0);
  });
  const all = needed.length + (namedBy.length > 0 ? 1 : 0);
  const [whole, rival] = layers.filter((_, index) => counts[index] === all);
  if (whole !== undefined) return rival === undefined ? whole : { ...whole, rival };
  return layers[counts.indexOf(Math.max(...counts))] ?? { path: [], forms };
}

export function mayBe(forms: Forms, type: JsonType): boolean {
  return forms.some(({ types }) => types?.has(type) === true);
}

export function layersOf(document: JsonObject, forms: Forms, envelopes: readonly string[]): readonly Layer[] {
  const layers: Layer[] = [{ path: [], forms }];
  for (let depth = 0; depth < MOST_WRAPPERS; depth += 1) {
    const outer = layers[depth] ?? { path: [], forms: [] };
    if (mayBe(outer.forms, 'array')) break;
    const fields = fieldsOf(outer.forms);
    const [inner, another] = envelopes.flatMap((name) => {
      const schemas = fields.get(name);
      const within = schemas === undefined ? [] : formsOrNone(document, eitherOf(schemas));
      const isEnvelope = mayBe(within, 'object') || mayBe(within, 'array');
      return isEnvelope ? [{ path: [...outer.path, name], forms: within }] : [];
    });
    if (inner === undefined || another !== undefined) break;
    layers.push(inner);
  }
  return layers;
}

function fieldsOf(forms: Forms): Map<string, unknown[]> {
  const fields = new Map<string, unknown[]>();
  for (const { properties } of forms) {
    for (const [name, schema] of properties) fields.set(name, [...(fields.get(name) ?? []), schema]);
  }
  return fields;
}

export function formInOurTerms(document: JsonObject, form: ResolvedSchema, record: RecordName): ResolvedSchema {
  const named = inOurNames(form, termsOf(record));
  for (const name of [...named.properties.keys()].filter(isAmount)) flattenAmount(document, named, name);
  return { ...form, ...named };
}

interface Named {
  readonly properties: Map<string, unknown>;
  readonly required: Set<string>;
}

function inOurNames(form: ResolvedSchema, terms: Pick<RecordTerms, 'fields'>): Named {
  const properties = new Map<string, unknown>();
  const required = new Set<string>();
  for (const [theirs, schema] of form.properties) {
    const name = ourName(theirs, Object.fromEntries(form.properties), terms);
    properties.set(name, schema);
    if (form.required.has(theirs)) required.add(name);
  }
  return { properties, required };
}

export function valueInOurTerms(record: RecordName, name: string, value: unknown): unknown {
  const read = inOurTerms({ [name]: value }, record);
  return typeof read === 'object' && read !== null && Object.hasOwn(read, name) ? Reflect.get(read, name) : value;
}

function flattenAmount(document: JsonObject, { properties, required }: Named, name: string): void {
  const forms = formsOrNone(document, properties.get(name));
  const form = forms.find(({ types }) => types?.has('object') === true);
  const object = form === undefined ? undefined : inOurNames(form, VARIANTS);
  const amounts = ['amount', 'value'].filter((each) => object?.properties.has(each) === true);
  const [amount] = amounts;
  if (object === undefined || amount === undefined || amounts.length > 1 || !object.properties.has('currency')) return;
  // With a divisor of its own, its unit is stated.
  const schema = object.properties.has('divisor') ? { type: 'string' } : object.properties.get(amount);
  properties.set(name, mayBe(forms, 'null') ? { anyOf: [schema, { type: 'null' }] } : schema);
  if (properties.has('currency')) return;
  properties.set('currency', object.properties.get('currency'));
  if (required.has(name)) required.add('currency');
}

const MAX_DEPTH = 2;
const PATH = '/list';

interface Example {
  readonly count: (name: string) => number;
  readonly hasMore: boolean;
  readonly text: (name: string) => string | null;
  readonly linkHeader: string | undefined;
}

/** A service that links its pages sends no header `Link` with an only page. */
const ONLY_PAGE: Example = { count: () => 1, hasMore: false, text: () => null, linkHeader: undefined };

const FROM_ZERO = new Set(['offset', 'skip']);
const OF_SEVERAL = /^(?:last|total|pages|page_?count)/i;

const FIRST_PAGE: Example = {
  count: (name) => {
    if (FROM_ZERO.has(name)) return 0;
    return OF_SEVERAL.test(name) ? 2 : 1;
  },
  hasMore: true,
  text: (name) => (/cursor|token/i.test(name) ? 'c2' : `${PATH}?page=2`),
  linkHeader: `<${PATH}?page=2>; rel="next"`,
};

/** @returns why such a list cannot be read to its end, as a clause. */
export function pagingProblem(document: JsonObject, outer: readonly Layer[], hasLinkHeader: boolean) {
  const read = (example: Example): Continuation['kind'] => {
    const layers = outer.map(({ forms }) => exampleFields(document, forms, example, MAX_DEPTH));
    const linkHeader = hasLinkHeader ? example.linkHeader : undefined;
    const page = { layers, count: 1, readSoFar: 1, query: {}, path: PATH, linkHeader, isLinked: false };
    return continuationOf(page).kind;
  };
  const canEnd = read(ONLY_PAGE) === 'end';
  const canGoOn = read(FIRST_PAGE) === 'next';
  if (canEnd && canGoOn) return undefined;
  if (canEnd) return 'may have further pages that we cannot ask for: the product reads the first page only';
  return hasLinkHeader && canGoOn
    ? 'has its paging in the header Link: a list of one page without this header is not known to be complete'
    : 'has no paging that we can read, so the product does not treat the list as complete';
}

function exampleFields(document: JsonObject, forms: Forms, example: Example, depth: number): Record<string, unknown> {
  const valueOf = (name: string, schema: unknown): unknown => {
    const inner = formsOrNone(document, schema);
    if (inner.length === 0) return undefined;
    if (mayBe(inner, 'integer') || mayBe(inner, 'number')) return example.count(name);
    if (mayBe(inner, 'boolean')) return example.hasMore;
    if (mayBe(inner, 'object') && depth > 0) return exampleFields(document, inner, example, depth - 1);
    return mayBe(inner, 'array') ? [] : example.text(name);
  };
  const fields = forms.flatMap(({ properties }) => [...properties]);
  const values = fields.map(([name, schema]) => [name, valueOf(name, schema)] as const);
  return Object.fromEntries(values.filter(([, value]) => value !== undefined));
}
