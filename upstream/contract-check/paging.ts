/** Whether a described list says, in a way that we understand, that there is no further page. */
import type { JsonObject } from '#upstream/contract-check/document.ts';
import type { Layer } from '#upstream/contract-check/peeled.ts';
import { formsOrNone, type SchemaView } from '#upstream/contract-check/schema-view.ts';
import { continuationOf } from '#upstream/contract/paging.ts';

const MAX_DEPTH = 2;

/**
 * Reads a last page that looks as described: no cursor, no link, one page, one item.
 *
 * @param outer the objects around the list, outermost first.
 * @param hasLinkHeader true where a header `Link` is described.
 */
export function saysWhereItEnds(document: JsonObject, outer: readonly Layer[], hasLinkHeader: boolean): boolean {
  const layers = outer.map(({ forms }) => examplesOf(document, forms, MAX_DEPTH));
  const linkHeader = hasLinkHeader ? '<https://service.example/list?page=1>; rel="first"' : undefined;
  return continuationOf({ layers, count: 1, total: 1, query: {}, path: '/list', linkHeader, isLinked: hasLinkHeader }).kind === 'end';
}

function examplesOf(document: JsonObject, forms: readonly SchemaView[], depth: number): Record<string, unknown> {
  const fields = forms.flatMap(({ properties }) => [...properties]);
  return Object.fromEntries(fields.map(([name, schema]) => [name, exampleOf(document, schema, depth)]));
}

function exampleOf(document: JsonObject, schema: unknown, depth: number): unknown {
  const forms = formsOrNone(document, schema);
  const types = new Set(forms.flatMap((form) => [...(form.types ?? [])]));
  if (types.has('integer') || types.has('number')) return 1;
  if (types.has('boolean')) return false;
  if (types.has('object') && depth > 0) return examplesOf(document, forms, depth - 1);
  return types.has('array') ? [] : null;
}
