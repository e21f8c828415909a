/** Compares one body of the contract with what the document says of it. */
import { UnresolvedReference, type JsonObject } from '#upstream/contract-check/document.ts';
import type { Finding, Findings } from '#upstream/contract-check/findings.ts';
import { nearNames } from '#upstream/contract-check/near-names.ts';
import { covers, formsOf, type JsonType, type SchemaView } from '#upstream/contract-check/schema-view.ts';

export interface Comparison {
  readonly document: JsonObject;
  readonly findings: Findings;
  /** What it means that a document says nothing of an answer; of a request it is always breaking. */
  readonly undescribedAnswer: Finding['severity'];
}

/** Where in a body we are; `''` is the body itself. */
type Place = string;

/**
 * Compares what we read with what the service says it sends: each field that we need must be there, of a type that we
 * take. More than we know is fine.
 *
 * @param ours a JSON Schema without references.
 */
export function compareAnswer(comparison: Comparison, ours: unknown, theirs: unknown, place: Place = ''): void {
  const { findings } = comparison;
  const expected = ownForm(ours);
  const forms = formsIn(comparison, 'answer', theirs, place);
  if (forms === undefined) return;
  if (forms.every(saysNothing)) return undescribed(comparison, 'answer', expected, place);

  if (!compareTypes(findings, 'answer', place, typesIn(forms), expected.types)) return;
  const unknown = unknownValues(forms, expected);
  if (unknown.length > 0) findings.breaking('answer', nameOf(place), `may be ${listed(unknown)}, which we do not know`);

  const objects = forms.filter(({ types }) => types?.has('object') === true);
  if (expected.properties.size > 0 && objects.length > 0) compareAnswerFields(comparison, expected, objects, place);
  const lists = forms.filter(({ types }) => types?.has('array') === true);
  if (expected.items !== undefined && lists.length > 0) {
    compareAnswer(comparison, expected.items, eitherOf(lists.map(({ items }) => items)), `${place}[]`);
  }
}

function compareAnswerFields(
  comparison: Comparison,
  expected: SchemaView,
  objects: readonly SchemaView[],
  place: Place,
): void {
  const { findings } = comparison;
  const described = objects.filter(({ properties, closed }) => properties.size > 0 || closed);
  if (described.length === 0) return undescribed(comparison, 'answer', expected, place);

  const theirNames = new Set(described.flatMap(({ properties }) => [...properties.keys()]));
  const strangers = [...theirNames].filter((name) => !expected.properties.has(name));
  const notPromised: string[] = [];
  for (const [name, schema] of expected.properties) {
    const needed = expected.required.has(name);
    const having = described.filter(({ properties }) => properties.has(name));
    const inside = within(place, name);
    if (having.length === 0) {
      const near = nearNames(name, strangers);
      if (needed) findings.breaking('answer', inside, 'is missing', near);
      else if (near.length > 0) findings.note('answer', inside, 'is missing; it is read where it is there', near);
      continue;
    }
    if (needed && having.length < objects.length) {
      findings.note('answer', inside, 'is there in some forms of the answer only');
    } else if (needed && !having.every(({ required }) => required.has(name))) {
      notPromised.push(name);
    }
    compareAnswer(comparison, schema, eitherOf(having.map(({ properties }) => properties.get(name))), inside);
  }
  if (notPromised.length > 0) {
    findings.note('answer', nameOf(place), `is not said to always have ${notPromised.join(', ')}, which we need`);
  }
}

/**
 * Compares what we send with what the service says it takes: each field that we always send must be known to it, it may
 * ask for no other, and each value must be of a type that it takes.
 *
 * @param ours a JSON Schema without references.
 */
export function compareRequest(comparison: Comparison, ours: unknown, theirs: unknown, place: Place = ''): void {
  const { findings } = comparison;
  const sent = ownForm(ours);
  const forms = formsIn(comparison, 'request', theirs, place);
  if (forms === undefined) return;
  if (forms.every(saysNothing)) return undescribed(comparison, 'request', sent, place);

  if (!compareTypes(findings, 'request', place, sent.types, typesIn(forms))) return;
  const refused = unknownValues([sent], { values: valuesIn(forms) });
  if (refused.length > 0) findings.breaking('request', nameOf(place), `may not be ${listed(refused)}, which we send`);
  const maxLength = Math.max(...forms.map(({ maxLength }) => maxLength));
  if (maxLength < sent.maxLength) {
    findings.note('request', nameOf(place), `may have ${maxLength} characters, and ours may have more`);
  }

  const objects = forms.filter(({ types }) => types?.has('object') === true);
  if (sent.properties.size > 0 && objects.length > 0) compareRequestFields(comparison, sent, objects, place);
}

function compareRequestFields(
  comparison: Comparison,
  sent: SchemaView,
  objects: readonly SchemaView[],
  place: Place,
): void {
  const { findings } = comparison;
  if (objects.every(({ properties, closed }) => properties.size === 0 && !closed)) {
    return undescribed(comparison, 'request', sent, place);
  }
  const theirNames = new Set(objects.flatMap(({ properties }) => [...properties.keys()]));
  const strangers = [...theirNames].filter((name) => !sent.properties.has(name));
  for (const [name, schema] of sent.properties) {
    const inside = within(place, name);
    const having = objects.filter(({ properties }) => properties.has(name));
    if (having.length > 0) {
      compareRequest(comparison, schema, eitherOf(having.map(({ properties }) => properties.get(name))), inside);
    } else if (sent.required.has(name)) {
      findings.breaking('request', inside, 'is missing', nearNames(name, strangers));
    } else {
      findings.note('request', inside, 'is missing; it is sent at times', nearNames(name, strangers));
    }
  }
  const [first, ...others] = objects;
  for (const name of first?.required ?? []) {
    // What one form asks for can be left out by sending another.
    if (others.some(({ required }) => !required.has(name))) continue;
    if (!sent.properties.has(name)) {
      findings.breaking('request', within(place, name), 'is asked for, and we do not send it');
    } else if (!sent.required.has(name)) {
      findings.breaking('request', within(place, name), 'is asked for, and we send it at times only');
    }
  }
}

/** The forms of their schema; undefined, with a finding, when there are none. */
function formsIn(
  { document, findings }: Comparison,
  part: Finding['part'],
  schema: unknown,
  place: Place,
): SchemaView[] | undefined {
  try {
    const forms = formsOf(document, schema);
    if (forms.length > 0) return forms;
    findings.breaking(part, nameOf(place), 'is described so that no value fits');
  } catch (error) {
    if (!(error instanceof UnresolvedReference)) throw error;
    findings.breaking(part, nameOf(place), error.message);
  }
  return undefined;
}

/** The contract's side: scalars may be of several types, but nothing in it has two forms as an object. */
function ownForm(schema: unknown): SchemaView {
  const forms = formsOf({}, schema);
  const main = forms.find(({ properties, items }) => properties.size > 0 || items !== undefined) ?? forms[0];
  if (main === undefined) throw new Error('a schema of the contract fits no value');
  return { ...main, types: typesIn(forms), values: valuesIn(forms) };
}

function saysNothing(form: SchemaView): boolean {
  return form.types === undefined;
}

function undescribed(
  { findings, undescribedAnswer }: Comparison,
  part: 'request' | 'answer',
  ours: SchemaView,
  place: Place,
): void {
  const fields = [...ours.required].join(', ');
  if (fields === '') return findings.note(part, nameOf(place), 'is not described');
  const severity = part === 'request' ? 'breaking' : undescribedAnswer;
  findings[severity](part, nameOf(place), `is not described; we ${part === 'request' ? 'send' : 'need'} ${fields}`);
}

/** @returns false when they have no type in common, so that there is nothing further to compare. */
function compareTypes(
  findings: Findings,
  part: 'request' | 'answer',
  place: Place,
  given: ReadonlySet<JsonType> | undefined,
  taken: ReadonlySet<JsonType> | undefined,
): boolean {
  if (given === undefined || taken === undefined) return true;
  const values = [...given].filter((type) => type !== 'null');
  const wrong = values.filter((type) => !covers(taken, type));
  if (wrong.length > 0 && wrong.every((type) => type === 'number' && taken.has('integer'))) {
    // Many documents say "number" of an integer; a fraction that we send would be refused.
    if (part === 'answer') findings.note(part, nameOf(place), 'may be any number there, and is an integer here');
    else findings.breaking(part, nameOf(place), 'is an integer there, and may be any number here');
    return true;
  }
  if (wrong.length === values.length && values.length > 0) {
    const [theirs, ours] = part === 'answer' ? [values, [...taken]] : [[...taken], values];
    findings.breaking(part, nameOf(place), `is of type ${either(theirs)} there, and ${either(ours)} here`);
    return false;
  }
  const misfits = [...wrong, ...(given.has('null') && !taken.has('null') ? ['null' as const] : [])];
  if (misfits.length > 0) {
    const side = part === 'answer' ? 'there, which we do not take' : 'here, which is not taken there';
    findings.note(part, nameOf(place), `may be ${either(misfits)} ${side}`);
  }
  return true;
}

function typesIn(forms: readonly SchemaView[]): ReadonlySet<JsonType> | undefined {
  if (forms.some(saysNothing)) return undefined;
  return new Set(forms.flatMap(({ types }) => [...(types ?? [])]));
}

function valuesIn(forms: readonly SchemaView[]): readonly unknown[] | undefined {
  const relevant = forms.filter(({ types }) => types === undefined || [...types].some((type) => type !== 'null'));
  if (relevant.some(({ values }) => values === undefined)) return undefined;
  return relevant.flatMap(({ values }) => values ?? []);
}

/** Values that the given forms may have and that are not taken; none where either side does not list its values. */
function unknownValues(given: readonly SchemaView[], taken: Pick<SchemaView, 'values'>): unknown[] {
  const values = valuesIn(given);
  if (values === undefined || taken.values === undefined) return [];
  return values.filter((value) => value !== null && taken.values?.includes(value) === false);
}

function eitherOf(schemas: readonly unknown[]): unknown {
  return schemas.length === 1 ? schemas[0] : { anyOf: schemas };
}

function within(place: Place, name: string): Place {
  return place === '' ? name : `${place}.${name}`;
}

function nameOf(place: Place): string | undefined {
  return place === '' ? undefined : place;
}

function either(types: readonly JsonType[]): string {
  return types.join(' or ');
}

function listed(values: readonly unknown[]): string {
  return values.map((value) => JSON.stringify(value)).join(', ');
}
