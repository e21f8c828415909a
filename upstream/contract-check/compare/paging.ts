/** Decides whether the product can read a described list to its end. */
import type { JsonObject } from '#upstream/contract-check/schema/document.ts';
import type { Layer } from '#upstream/contract-check/schema/peeled.ts';
import { formsOrNone, type ResolvedSchema } from '#upstream/contract-check/schema/resolved-schema.ts';
import { continuationOf, type Continuation } from '#upstream/contract/paging.ts';

const MAX_DEPTH = 2;
const PATH = '/list';

/** Values for an example page in the described form. */
interface Example {
  readonly count: (name: string) => number;
  readonly hasMore: boolean;
  readonly text: (name: string) => string | null;
  readonly linkHeader: string | undefined;
}

/** A list of one page with one item. A service that links its pages sends no header `Link` with it. */
const ONLY_PAGE: Example = { count: () => 1, hasMore: false, text: () => null, linkHeader: undefined };

const FROM_ZERO = new Set(['offset', 'skip']);
const OF_SEVERAL = /^(?:last|total|pages|page_?count)/i;

/** The first of two pages, with one item each. */
const FIRST_PAGE: Example = {
  count: (name) => {
    if (FROM_ZERO.has(name)) return 0;
    return OF_SEVERAL.test(name) ? 2 : 1;
  },
  hasMore: true,
  text: (name) => (/cursor|token/i.test(name) ? 'c2' : `${PATH}?page=2`),
  linkHeader: `<${PATH}?page=2>; rel="next"`,
};

/**
 * Reads two example pages in the described form: an only page, and the first of two.
 *
 * @param outer the objects around the list, outermost first.
 * @param hasLinkHeader true when a header `Link` is described.
 * @returns why such a list cannot be read to its end, as a clause; undefined when it can.
 */
export function pagingProblem(
  document: JsonObject,
  outer: readonly Layer[],
  hasLinkHeader: boolean,
): string | undefined {
  const read = (example: Example): Continuation['kind'] => {
    const layers = outer.map(({ forms }) => fieldsOf(document, forms, example, MAX_DEPTH));
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

function fieldsOf(
  document: JsonObject,
  forms: readonly ResolvedSchema[],
  example: Example,
  depth: number,
): Record<string, unknown> {
  const fields = forms.flatMap(({ properties }) => [...properties]);
  const values = fields.map(([name, schema]) => [name, valueOf(document, name, schema, { example, depth })] as const);
  return Object.fromEntries(values.filter(([, value]) => value !== undefined));
}

function valueOf(
  document: JsonObject,
  name: string,
  schema: unknown,
  { example, depth }: { readonly example: Example; readonly depth: number },
): unknown {
  const forms = formsOrNone(document, schema);
  const types = new Set(forms.flatMap((form) => [...(form.types ?? [])]));
  if (forms.length === 0) return undefined;
  if (types.has('integer') || types.has('number')) return example.count(name);
  if (types.has('boolean')) return example.hasMore;
  if (types.has('object') && depth > 0) return fieldsOf(document, forms, example, depth - 1);
  return types.has('array') ? [] : example.text(name);
}
