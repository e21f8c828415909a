import { nearNames } from '#domain/text.ts';
import {
  type Comparison,
  type Place,
  WHOLE_BODY,
  compareTypes,
  fieldOf,
  formsIn,
  lesser,
  ownForm,
  saysNothing,
  typesIn,
  undescribed,
  valuesIn,
} from '#upstream/contract-check/comparison.ts';
import { at } from '#upstream/contract-check/document.ts';
import { Findings, type Need, Needs, isBreaking, needOf } from '#upstream/contract-check/findings.ts';
import { formInOurTerms, layersOf, mayBe, pagingProblem, peeled } from '#upstream/contract-check/layers.ts';
import { type Forms, type ResolvedSchema, eitherOf, formsOrNone } from '#upstream/contract-check/schemas.ts';
import { compareValues } from '#upstream/contract-check/values.ts';
import { EVENT_NAME_FIELDS, NAMES_IN_EVENTS, type RecordName, listWrappersOf, wrappersOf } from '#upstream/contract.ts';
import { recordIn } from '#upstream/contract/variants.ts';

/** Additional fields are accepted. @param ours a JSON Schema without references: an object, or a page of a list. */
export function compareAnswer(comparison: Comparison, ours: unknown, theirs: unknown): void {
  const items = at(at(at(ours, 'properties'), 'data'), 'items');
  const forms = formsIn(comparison, 'answer', theirs, WHOLE_BODY);
  if (forms === undefined) return;
  if (items !== undefined) return compareList(comparison, ours, items, forms);
  // An event is not unwrapped: its envelope is part of the contract.
  if (comparison.isEvent) compareForms(comparison, ours, formsOfEvent(comparison, forms), WHOLE_BODY);
  else compareRecord(comparison, ours, forms, WHOLE_BODY);
}

function formsOfEvent({ document, event }: Comparison, forms: Forms): Forms {
  const named = forms.map(withEventName);
  const own = named.filter(({ properties }) => {
    const kinds = valuesIn(formsOrNone(document, properties.get(EVENT_NAME_FIELDS[0])));
    return kinds === undefined || event === undefined || kinds.includes(event);
  });
  return own.length === 0 ? named : own;
}

function withEventName(form: ResolvedSchema): ResolvedSchema {
  const [ours, ...others] = EVENT_NAME_FIELDS;
  const theirs = others.find((name) => form.properties.has(name));
  if (form.properties.has(ours) || theirs === undefined) return form;
  const properties = new Map([...form.properties, [ours, form.properties.get(theirs)]]);
  const required = form.required.has(theirs) ? new Set([...form.required, ours]) : form.required;
  return { ...form, properties, required };
}

function compareList(comparison: Comparison, ours: unknown, item: unknown, forms: Forms): void {
  const { document, record, findings, hasLinkHeader } = comparison;
  const layers = layersOf(document, forms, listWrappersOf(record));
  const list = layers.at(-1);
  if (list === undefined || !mayBe(list.forms, 'array')) return compareForms(comparison, ours, forms, WHOLE_BODY);
  const paging = pagingProblem(document, layers.slice(0, -1), hasLinkHeader);
  if (paging !== undefined) findings.note('answer', undefined, paging);
  const path = list.path.length === 0 ? undefined : list.path.join('.');
  if (path === 'data') return compareForms(comparison, ours, forms, WHOLE_BODY);
  findings.note('answer', undefined, path === undefined ? 'is a bare list there' : `has the list in ${path} there`);
  const place: Place = { ...WHOLE_BODY, path };
  if (compareTypes(findings, 'answer', place, typesIn(list.forms), new Set(['array' as const]))) {
    compareItems(comparison, item, list.forms, place);
  }
}

function compareRecord(comparison: Comparison, ours: unknown, forms: Forms, place: Place): void {
  const { document, record, findings } = comparison;
  // OpenAPI defines the field names of its documents.
  const envelopes = record === 'document' ? [] : wrappersOf(record);
  const namesInEvents: Readonly<Partial<Record<RecordName, readonly string[]>>> = NAMES_IN_EVENTS;
  const names = comparison.isEvent ? (namesInEvents[record] ?? []) : [];
  const inner = peeled(document, formsInOurTerms(comparison, forms), [...ownForm(ours).required], envelopes, names);
  if (inner.rival !== undefined) {
    const [one, other] = [inner, inner.rival].map(({ path }) => path.join('.'));
    const places = `${one === '' ? 'at the top' : `in ${one}`} and in ${other}`;
    const message = `has all needed fields twice there, ${places}: the product cannot decide which to read`;
    findings[place.severity]('answer', place.path, message);
  }
  const inside = inner.path.reduce((outer, name) => fieldOf(outer, name), place);
  if (inner.path.length > 0) findings.note('answer', place.path, `is in ${inside.path} there`);
  if (names.length > 0) compareNames(comparison, names, inner.forms, inside);
  compareForms(comparison, ours, inner.forms, inside);
}

/** If the records of several events together do not fit, the one that fits best alone is taken. */
function compareData(comparison: Comparison, ours: unknown, forms: Forms, place: Place): void {
  const findingsOf = (some: Forms) => {
    const findings = new Findings();
    compareRecord({ ...comparison, findings, needs: new Needs() }, ours, some, place);
    return findings.all();
  };
  if (forms.length < 2 || !findingsOf(forms).some(isBreaking)) return compareRecord(comparison, ours, forms, place);
  const [best] = forms
    .map((form) => ({ form, findings: findingsOf([form]) }))
    .filter(({ findings }) => !findings.some(isBreaking))
    .toSorted((left, right) => left.findings.length - right.findings.length);
  compareRecord(comparison, ours, best === undefined ? forms : [best.form], place);
}

function compareNames(comparison: Comparison, names: readonly string[], forms: Forms, place: Place): void {
  const described = formsInOurTerms(comparison, forms).filter(({ properties }) => properties.size > 0);
  const theirs = new Set(described.flatMap(({ properties }) => [...properties.keys()]));
  if (described.length === 0 || names.some((name) => theirs.has(name))) return;
  const near = new Set(names.flatMap((name) => nearNames(name, [...theirs])));
  const message = `names no purchase: it has none of ${names.join(', ')}`;
  comparison.findings[place.severity]('answer', place.path, message, [...near]);
}

function compareItems(comparison: Comparison, ours: unknown, lists: Forms, place: Place): void {
  const inside = { ...place, path: `${place.path ?? ''}[]` };
  const schemas = lists.filter(({ types }) => types?.has('array') === true).map(({ items }) => items);
  const forms = formsIn(comparison, 'answer', eitherOf(schemas), inside);
  if (forms !== undefined) compareForms(comparison, ours, forms, inside);
}

function compareForms(comparison: Comparison, ours: unknown, forms: Forms, place: Place): void {
  const expected = ownForm(ours);
  if (forms.every(saysNothing)) return undescribed(comparison, 'answer', expected, place);

  if (!compareTypes(comparison.findings, 'answer', place, typesIn(forms), expected.types)) return;
  compareValues(comparison, ours, forms, place);
  const objects = forms.filter(({ types }) => types?.has('object') === true);
  if (expected.properties.size > 0 && objects.length > 0) {
    compareFields(comparison, expected, formsInOurTerms(comparison, objects), place);
  }
  if (expected.items !== undefined && mayBe(forms, 'array')) compareItems(comparison, expected.items, forms, place);
}

function formsInOurTerms({ document, record }: Comparison, forms: Forms): Forms {
  return forms.map((form) => formInOurTerms(document, form, record));
}

function compareFields(comparison: Comparison, expected: ResolvedSchema, objects: Forms, place: Place): void {
  const { findings, source, needs } = comparison;
  const described = objects.filter(({ properties, closed }) => properties.size > 0 || closed);
  if (described.length === 0) return undescribed(comparison, 'answer', expected, place);

  const theirNames = new Set(described.flatMap(({ properties }) => [...properties.keys()]));
  const strangers = [...theirNames].filter((name) => !expected.properties.has(name));
  const notPromised: string[] = [];
  for (const [name, schema] of expected.properties) {
    const need = needOf(name, schema);
    const needed = expected.required.has(name);
    // Differences of an optional field are notes: it is ignored when unreadable. A status that cannot be read makes the
    // whole event unreadable, although it is not needed.
    const counts = needed || need !== undefined || (comparison.isEvent && name === 'status');
    const inside = fieldOf(place, name, counts ? place.severity : 'note');
    const having = described.filter((form) => form.properties.has(name));
    if (having.length === 0) {
      const near = nearNames(name, strangers);
      if (needed) findings[inside.severity]('answer', inside.path, 'is missing', near);
      else if (need !== undefined) reportLack(comparison, need, inside, theirNames, near);
      else if (near.length > 0) {
        findings.note('answer', inside.path, 'is missing; it is read where it is there', near);
      }
      continue;
    }
    if (needed && having.length < objects.length) {
      findings.note('answer', inside.path, 'is there in some forms of the answer only');
    } else if (needed && !having.every(({ required }) => required.has(name))) {
      notPromised.push(name);
    }
    const schemas = having.map(({ properties }) => properties.get(name));
    const forms = formsIn(comparison, 'answer', eitherOf(schemas), inside);
    if (forms === undefined) continue;
    if (need !== undefined && isAlwaysNull(forms)) {
      reportLack(comparison, need, inside, theirNames, []);
      continue;
    }
    if (need !== undefined) needs.carried(source, need);
    if (name === 'data' && comparison.isEvent) compareData(comparison, schema, forms, inside);
    else compareForms({ ...comparison, record: recordIn(comparison.record, name) }, schema, forms, inside);
  }
  if (notPromised.length === 0) return;
  findings.note('answer', place.path, `does not list ${notPromised.join(', ')} as required, which we need`);
}

function reportLack(
  { source, needs, findings }: Comparison,
  need: Need,
  place: Place,
  theirNames: ReadonlySet<string>,
  near: readonly string[],
): void {
  if (need.alternatives.some((name) => theirNames.has(name))) return;
  needs.lacking(source, place.name, need, (severity, message) => {
    findings[lesser(severity, place.severity)]('answer', place.path, message, near);
  });
}

function isAlwaysNull(forms: Forms): boolean {
  return forms.every(({ types }) => types !== undefined && [...types].every((type) => type === 'null'));
}
