import { nearNames } from '#domain/text.ts';
/** Compares the described values of a field of an answer with the values that we can read. */
import {
  listed,
  nameOf,
  ownForm,
  valuesIn,
  type Comparison,
  type Place,
} from '#upstream/contract-check/compare/comparison.ts';
import { isAmount, unreadableValue } from '#upstream/contract-check/compare/read-values.ts';
import { VALUES_NOT_LISTED } from '#upstream/contract-check/findings.ts';
import { valueInOurTerms } from '#upstream/contract-check/our-terms.ts';
import { formsOf, refusalOf, type ResolvedSchema } from '#upstream/contract-check/schema/resolved-schema.ts';
import { VARIANTS } from '#upstream/contract/variants.ts';

/**
 * Reports values that we cannot read, and values that we expect and the document does not list.
 *
 * @param ours a JSON Schema of the field.
 */
export function compareValues(
  comparison: Comparison,
  ours: unknown,
  forms: readonly ResolvedSchema[],
  place: Place,
): void {
  const { findings } = comparison;
  const own = formsOf({}, ours);
  const report = findings[place.severity];
  const unknown = (valuesIn(forms) ?? []).filter((value) => {
    return refusalOf(own, value) !== undefined && refusalOf(own, valueInOurTerms(place.name, value)) !== undefined;
  });
  if (unknown.length > 0) report('answer', nameOf(place), `may be ${listed(unknown)}, which we do not know`);
  else if (isAmount(place.name) && VARIANTS.amounts === 'unstated' && isWhole(forms)) {
    // Also for an optional field: if it is present, it is read, and perhaps a hundred times too high.
    const message = 'is a whole number there, of cents perhaps. Set `amounts` in upstream/contract/variants.ts';
    findings.breaking('answer', nameOf(place), message);
  } else {
    const unread = unreadableValue(place.name, own, forms);
    if (unread !== undefined) {
      const form = unread.example === undefined ? 'no form that we know fits' : `it may be ${listed([unread.example])}`;
      report('answer', nameOf(place), `${unread.says}: ${form}, which we do not read`);
    }
  }
  reportMissingValues(comparison, ours, forms, place);
}

/** Only reads are checked: an answer to a purchase, and an event, may be limited to one state. */
function reportMissingValues(
  { findings, source }: Comparison,
  ours: unknown,
  forms: readonly ResolvedSchema[],
  place: Place,
): void {
  const values = valuesIn(forms);
  if (place.severity === 'note') return;
  if (values === undefined && ownForm(ours).values !== undefined) {
    return findings.note('answer', nameOf(place), VALUES_NOT_LISTED);
  }
  if (values === undefined || !source.isWhole) return;
  const known = new Set(values.map((value) => valueInOurTerms(place.name, value)));
  const never = (ownForm(ours).values ?? neededValues(place.name)).filter((value) => !known.has(value));
  const near = never.flatMap((word) => nearNames(String(word), values.map(String)));
  if (never.length === 0) return;
  findings.note('answer', nameOf(place), `cannot be ${listed(never)} by the document`, [...new Set(near)]);
}

/** The value that we must understand in a field whose values the service defines: an eSIM is cancelled or not. */
function neededValues(name: string): readonly string[] {
  return name === 'status' ? ['cancelled'] : [];
}

/** True when the described amount is always a whole number. */
function isWhole(forms: readonly ResolvedSchema[]): boolean {
  const relevant = forms.filter(({ types }) => types === undefined || [...types].some((type) => type !== 'null'));
  return relevant.every(({ types, constraints }) => {
    const kinds = [...(types ?? [])].filter((type) => type !== 'null');
    if (kinds.length === 0) return false;
    const isStepped = constraints.some(({ multipleOf = 0 }) => multipleOf > 0 && multipleOf % 1 === 0);
    return kinds.every((type) => type === 'integer' || (type === 'number' && isStepped));
  });
}
