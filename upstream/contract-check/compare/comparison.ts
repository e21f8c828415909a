/** What the comparisons of requests and answers share. */
import { NestedTooDeeply } from '#upstream/contract-check/effort.ts';
import type { Finding, Findings } from '#upstream/contract-check/findings.ts';
import type { Needs, Source } from '#upstream/contract-check/needs.ts';
import { NotComparable, type JsonObject } from '#upstream/contract-check/schema/document.ts';
import {
  covers,
  formsOf,
  type JsonType,
  type ResolvedSchema,
} from '#upstream/contract-check/schema/resolved-schema.ts';
import type { EndpointContract, RecordName } from '#upstream/contract.ts';

/** What a difference means. */
export type Severity = Finding['severity'];

/** What a comparison needs at every place of a body. */
export interface Comparison {
  readonly document: JsonObject;
  readonly findings: Findings;
  /** What it means that a document says nothing of an answer; of a request it is always breaking. */
  readonly undescribedAnswer: Severity;
  /** What the answer is about; it may be wrapped under that name. */
  readonly record: RecordName;
  /** True of an event, whose `data` is what may be wrapped. */
  readonly isEvent: boolean;
  /** True where a header `Link` is described. */
  readonly hasLinkHeader: boolean;
  readonly source: Source;
  readonly needs: Needs;
}

/** Where in a body we are. */
export interface Place {
  /** Such as `data[].price_for_reseller`; `''` is the body itself. */
  readonly path: string;
  /** The field that it is, or that it is an item of. */
  readonly name: string;
  /** What a difference here means: what is in an optional part is left out when it cannot be read. */
  readonly severity: Severity;
}

/** A step that compares one part of a call. @throws NotComparable */
export type Step = (comparison: Comparison, contract: EndpointContract, operation: JsonObject, item: unknown) => void;

/** Where every comparison of a body begins. */
export const WHOLE_BODY: Place = { path: '', name: '', severity: 'breaking' };

/** @param own what a difference in the field means, where that is less than around it. */
export function fieldOf({ path, severity }: Place, name: string, own: Severity = severity): Place {
  return { path: path === '' ? name : `${path}.${name}`, name, severity: own };
}

/** Each item of a list. */
export function itemOf({ path, name, severity }: Place): Place {
  return { path: `${path}[]`, name, severity };
}

/** How a finding names a place; undefined for the whole body. */
export function nameOf({ path }: Place): string | undefined {
  return path === '' ? undefined : path;
}

/** The forms of their schema; undefined, with a finding, when there are none. */
export function formsIn(
  { document, findings }: Comparison,
  part: Finding['part'],
  schema: unknown,
  place: Place,
): ResolvedSchema[] | undefined {
  try {
    const forms = formsOf(document, schema);
    if (forms.length > 0) return forms;
    findings[place.severity](part, nameOf(place), 'is described so that no value fits');
  } catch (error) {
    if (!(error instanceof NotComparable)) throw error;
    // What is nested too deeply was not looked at, so it is no small matter anywhere.
    const severity = error instanceof NestedTooDeeply ? 'breaking' : place.severity;
    findings[severity](part, nameOf(place), error.message);
  }
  return undefined;
}

/** The contract's side: scalars may be of several types, but nothing in it has two forms as an object. */
export function ownForm(schema: unknown): ResolvedSchema {
  const forms = formsOf({}, schema);
  const main = forms.find(({ properties, items }) => properties.size > 0 || items !== undefined) ?? forms[0];
  if (main === undefined) throw new Error('a schema of the contract fits no value');
  return { ...main, types: typesIn(forms), values: valuesIn(forms) };
}

/** True where a document leaves open what a value is. */
export function saysNothing(form: ResolvedSchema): boolean {
  return form.types === undefined;
}

/** Reports that the document does not describe a part. */
export function undescribed(
  { findings, undescribedAnswer }: Comparison,
  part: 'request' | 'answer',
  ours: ResolvedSchema,
  place: Place,
): void {
  const fields = [...ours.required].join(', ');
  if (fields === '') return findings.note(part, nameOf(place), 'is not described');
  const severity = part === 'request' ? 'breaking' : lesser(undescribedAnswer, place.severity);
  findings[severity](part, nameOf(place), `is not described; we ${part === 'request' ? 'send' : 'need'} ${fields}`);
}

/** The milder of two. */
export function lesser(left: Severity, right: Severity): Severity {
  return left === 'breaking' ? right : left;
}

/** @returns false when they have no type in common, so that there is nothing further to compare. */
export function compareTypes(
  findings: Findings,
  part: 'request' | 'answer',
  place: Place,
  given: ReadonlySet<JsonType> | undefined,
  taken: ReadonlySet<JsonType> | undefined,
): boolean {
  if (given === undefined || taken === undefined) return true;
  const report = findings[place.severity];
  const values = [...given].filter((type) => type !== 'null');
  const wrong = values.filter((type) => !covers(taken, type));
  if (wrong.length > 0 && wrong.every((type) => type === 'number' && taken.has('integer'))) {
    // Many documents say "number" of an integer; a fraction that we send would be refused.
    if (part === 'answer') findings.note(part, nameOf(place), 'may be any number there, and is an integer here');
    else report(part, nameOf(place), 'is an integer there, and may be any number here');
    return true;
  }
  if (wrong.length === values.length && (values.length > 0 || !taken.has('null'))) {
    const [theirs, ours] = part === 'answer' ? [[...given], [...taken]] : [[...taken], [...given]];
    report(part, nameOf(place), `is of type ${either(theirs)} there, and ${either(ours)} here`);
    return false;
  }
  const misfits = [...wrong, ...(given.has('null') && !taken.has('null') ? ['null' as const] : [])];
  if (misfits.length > 0) {
    const side = part === 'answer' ? 'there, which we do not take' : 'here, which is not taken there';
    report(part, nameOf(place), `may be ${either(misfits)} ${side}`);
  }
  return true;
}

/** The types that a part may have; undefined where any will do. */
export function typesIn(forms: readonly ResolvedSchema[]): ReadonlySet<JsonType> | undefined {
  if (forms.some(saysNothing)) return undefined;
  return new Set(forms.flatMap(({ types }) => [...(types ?? [])]));
}

/** The values that a part may have; undefined where any will do. */
export function valuesIn(forms: readonly ResolvedSchema[]): readonly unknown[] | undefined {
  const relevant = forms.filter(({ types }) => types === undefined || [...types].some((type) => type !== 'null'));
  if (relevant.length === 0 || relevant.some(({ values }) => values === undefined)) return undefined;
  return relevant.flatMap(({ values }) => values ?? []).filter((value) => value !== null);
}

/** Values as a clause names them. */
export function listed(values: readonly unknown[]): string {
  return values.map((value) => JSON.stringify(value)).join(', ');
}

function either(types: readonly JsonType[]): string {
  return types.join(' or ');
}
