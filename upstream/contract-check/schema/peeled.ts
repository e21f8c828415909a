/**
 * Removes the envelopes of a described answer, by the rule by which `upstream/reading/` removes those of a real one: an
 * envelope has exactly one field with an envelope's name that contains an object or a list.
 */
import type { JsonObject } from '#upstream/contract-check/schema/document.ts';
import {
  eitherOf,
  formsOrNone,
  type JsonType,
  type ResolvedSchema,
} from '#upstream/contract-check/schema/resolved-schema.ts';
import { MOST_WRAPPERS } from '#upstream/contract.ts';

/** The content of an envelope, or the answer itself. */
export interface Layer {
  /** Names of the fields on the way; empty for the answer itself. */
  readonly path: readonly string[];
  readonly forms: readonly ResolvedSchema[];
}

/** The layer that is read as a record. */
export interface RecordLayer extends Layer {
  /** Another layer with all needed fields. The reader then takes neither. */
  readonly rival?: Layer;
}

/**
 * Finds the outermost layer with all needed fields, or else the layer with most of them.
 *
 * @param needed names of the fields that must be there.
 * @param envelopes names that an envelope may have.
 * @param namedBy names of which one is enough; empty when none is needed.
 */
export function peeled(
  document: JsonObject,
  forms: readonly ResolvedSchema[],
  needed: readonly string[],
  envelopes: readonly string[],
  namedBy: readonly string[] = [],
): RecordLayer {
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

/** The layers on the way to a list, outermost first. The last layer is the list, if there is one. */
export function layersToList(
  document: JsonObject,
  forms: readonly ResolvedSchema[],
  envelopes: readonly string[],
): readonly Layer[] {
  return layersOf(document, forms, envelopes);
}

/** True when some form names the type. */
export function mayBe(forms: readonly ResolvedSchema[], type: JsonType): boolean {
  return forms.some(({ types }) => types?.has(type) === true);
}

/** True when it may be a list and cannot be an object. */
function isList({ forms }: Layer): boolean {
  return mayBe(forms, 'array') && !mayBe(forms, 'object');
}

function layersOf(
  document: JsonObject,
  forms: readonly ResolvedSchema[],
  envelopes: readonly string[],
): readonly Layer[] {
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

function fieldsOf(forms: readonly ResolvedSchema[]): Map<string, unknown[]> {
  const fields = new Map<string, unknown[]>();
  for (const { properties } of forms) {
    for (const [name, schema] of properties) fields.set(name, [...(fields.get(name) ?? []), schema]);
  }
  return fields;
}
