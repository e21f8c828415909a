/** Compares a body that we read with what the document says of it. */
import {
  compareTypes,
  eitherOf,
  fieldOf,
  formsIn,
  itemOf,
  lesser,
  listed,
  nameOf,
  ownForm,
  saysNothing,
  typesIn,
  undescribed,
  valuesIn,
  WHOLE_BODY,
  type Comparison,
  type Place,
  type Severity,
} from '#upstream/contract-check/comparison.ts';
import { at } from '#upstream/contract-check/document.ts';
import { nearNames } from '#upstream/contract-check/near-names.ts';
import { needOf, neededNames, type Need } from '#upstream/contract-check/needs.ts';
import { peeled } from '#upstream/contract-check/peeled.ts';
import { isAmount, isMoneyOrIdentity, unreadableValue } from '#upstream/contract-check/read-values.ts';
import { formsOf, refusalOf, type SchemaView } from '#upstream/contract-check/schema-view.ts';

/**
 * Compares what we read with what the service says it sends: each field that we need must be there, with values that we
 * read. More than we know is fine. Envelopes are taken off first.
 *
 * @param ours a JSON Schema without references: an object, or a page of a list.
 */
export function compareAnswer(comparison: Comparison, ours: unknown, theirs: unknown): void {
  const items = at(at(at(ours, 'properties'), 'data'), 'items');
  const forms = formsIn(comparison, 'answer', theirs, WHOLE_BODY);
  if (forms === undefined) return;
  if (items === undefined) return compareObject(comparison, ours, forms, WHOLE_BODY);

  const list = peeled(comparison.document, forms, { kind: 'array', names: [], envelopes: comparison.envelopes });
  const isFound = list.forms.some(({ types }) => types?.has('array') === true);
  if (!isFound || list.path.join('.') === 'data') return compareObject(comparison, ours, forms, WHOLE_BODY);
  const path = list.path.join('.');
  const where = path === '' ? 'the list is the whole answer there' : `the list is in ${path} there`;
  comparison.findings.note('answer', undefined, where);
  const place: Place = { ...WHOLE_BODY, path };
  if (compareTypes(comparison.findings, 'answer', place, typesIn(list.forms), new Set(['array' as const]))) {
    compareItems(comparison, items, list.forms, place);
  }
}

/** An object, which may be in an envelope. */
function compareObject(comparison: Comparison, ours: unknown, forms: readonly SchemaView[], place: Place): void {
  // The envelope of an event is part of the contract.
  if (comparison.isEvent && place === WHOLE_BODY) return compareForms(comparison, ours, forms, place);
  const names = [...ownForm(ours).required, ...neededNames(ours)];
  const { path, forms: inside } = peeled(comparison.document, forms, { kind: 'object', names, envelopes: comparison.envelopes });
  const inner = path.reduce((outer, name) => fieldOf(outer, name), place);
  if (path.length > 0) comparison.findings.note('answer', nameOf(place), `is in ${inner.path} there`);
  compareForms(comparison, ours, inside, inner);
}

function compareItems(comparison: Comparison, ours: unknown, lists: readonly SchemaView[], place: Place): void {
  const schemas = lists.filter(({ types }) => types?.has('array') === true).map(({ items }) => items);
  const inside = itemOf(place);
  const forms = formsIn(comparison, 'answer', eitherOf(schemas), inside);
  if (forms !== undefined) compareObject(comparison, ours, forms, inside);
}

function compareForms(comparison: Comparison, ours: unknown, forms: readonly SchemaView[], place: Place): void {
  const { findings } = comparison;
  const expected = ownForm(ours);
  if (forms.every(saysNothing)) return undescribed(comparison, 'answer', expected, place);

  if (!compareTypes(findings, 'answer', place, typesIn(forms), expected.types)) return;
  compareValues(comparison, ours, expected, forms, place);
  const objects = forms.filter(({ types }) => types?.has('object') === true);
  if (expected.properties.size > 0 && objects.length > 0) compareFields(comparison, expected, objects, place);
  const lists = forms.filter(({ types }) => types?.has('array') === true);
  if (expected.items !== undefined && lists.length > 0) compareItems(comparison, expected.items, lists, place);
}

function compareValues(
  { findings, source }: Comparison,
  ours: unknown,
  expected: SchemaView,
  forms: readonly SchemaView[],
  place: Place,
): void {
  const own = formsOf({}, ours);
  const report = findings[place.severity];
  const values = valuesIn(forms);
  const unknown = (values ?? []).filter((value) => refusalOf(own, value) !== undefined);
  if (unknown.length > 0) {
    report('answer', nameOf(place), `may be ${listed(unknown)}, which we do not know`);
  } else if (isAmount(place.name) && isWhole(forms)) {
    report('answer', nameOf(place), 'is an integer there: of minor units, such as cents, perhaps; we read units with decimals');
  } else {
    const unread = unreadableValue(place.name, own, forms);
    const example = unread?.example === undefined ? 'no form of it that we know fits' : `it may be ${listed([unread.example])}`;
    if (unread !== undefined) report('answer', nameOf(place), `${unread.says}: ${example}, which we do not read`);
  }
  // What an answer to a purchase or one event says is less than what there is.
  const lacking = values === undefined || source.role !== 'read' || place.severity === 'note' ? [] : (expected.values ?? []);
  const never = lacking.filter((value) => values?.includes(value) === false);
  if (never.length > 0 && source.isWhole) findings.note('answer', nameOf(place), `is never ${listed(never)} there`);
}

/** True when an amount can have no decimals. */
function isWhole(forms: readonly SchemaView[]): boolean {
  const relevant = forms.filter(({ types }) => types === undefined || [...types].some((type) => type !== 'null'));
  return relevant.every(({ types, constraints }) => {
    const kinds = [...(types ?? [])].filter((type) => type !== 'null');
    if (kinds.length === 0) return false;
    const isStepped = constraints.some(({ multipleOf }) => multipleOf !== undefined && multipleOf > 0 && multipleOf % 1 === 0);
    return kinds.every((type) => type === 'integer' || (type === 'number' && isStepped));
  });
}

function compareFields(comparison: Comparison, expected: SchemaView, objects: readonly SchemaView[], place: Place): void {
  const { findings, source, needs } = comparison;
  const described = objects.filter(({ properties, closed }) => properties.size > 0 || closed);
  if (described.length === 0) return undescribed(comparison, 'answer', expected, place);

  const theirNames = new Set(described.flatMap(({ properties }) => [...properties.keys()]));
  const strangers = [...theirNames].filter((name) => !expected.properties.has(name));
  const notPromised: string[] = [];
  for (const [name, schema] of expected.properties) {
    const need = needOf(schema);
    const needed = expected.required.has(name);
    const inside = fieldOf(place, name, severityOf(place, name, needed || need !== undefined));
    const having = described.filter((form) => form.properties.has(name));
    if (having.length === 0) {
      const near = nearNames(name, strangers);
      if (needed) findings[inside.severity]('answer', nameOf(inside), 'is missing', near);
      else if (need !== undefined) reportLack(comparison, need, inside, described, near);
      else if (near.length > 0) findings.note('answer', nameOf(inside), 'is missing; it is read where it is there', near);
      continue;
    }
    if (needed && having.length < objects.length) {
      findings.note('answer', nameOf(inside), 'is there in some forms of the answer only');
    } else if (needed && !having.every(({ required }) => required.has(name))) {
      notPromised.push(name);
    }
    const forms = formsIn(comparison, 'answer', eitherOf(having.map(({ properties }) => properties.get(name))), inside);
    if (forms === undefined) continue;
    if (need !== undefined && isAlwaysNull(forms)) {
      reportLack(comparison, need, inside, described, []);
      continue;
    }
    if (need !== undefined) needs.carried(source, need);
    if (name === 'data' && comparison.isEvent) compareObject(comparison, schema, forms, inside);
    else compareForms(comparison, schema, forms, inside);
  }
  if (notPromised.length > 0) {
    findings.note('answer', nameOf(place), `is not said to always have ${notPromised.join(', ')}, which we need`);
  }
}

/** What cannot be read of an optional part is left out, but for money and identity: of these nothing is guessed. */
function severityOf({ severity }: Place, name: string, isNeeded: boolean): Severity {
  return isNeeded || isMoneyOrIdentity(name) ? severity : 'note';
}

function reportLack(
  { source, needs, findings }: Comparison,
  need: Need,
  place: Place,
  described: readonly SchemaView[],
  near: readonly string[],
): void {
  if (need.alternatives.some((name) => described.some(({ properties }) => properties.has(name)))) return;
  needs.lacking(source, place.name, need, (severity, message) => {
    findings[lesser(severity, place.severity)]('answer', nameOf(place), message, near);
  });
}

function isAlwaysNull(forms: readonly SchemaView[]): boolean {
  return forms.every(({ types }) => types !== undefined && [...types].every((type) => type === 'null'));
}
