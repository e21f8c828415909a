import { type JsonObject, NestedTooDeeply, NotComparable } from '#upstream/contract-check/document.ts';
import type { Finding, Findings, Needs, Source } from '#upstream/contract-check/findings.ts';
import { type Forms, type JsonType, type ResolvedSchema, covers, formsOf } from '#upstream/contract-check/schemas.ts';
import type { EndpointContract, EventKind, RecordName } from '#upstream/contract.ts';

type Severity = Finding['severity'];

export interface Comparison {
  readonly document: JsonObject;
  readonly findings: Findings;
  /** An undescribed request is always breaking. */
  readonly undescribedAnswer: Severity;
  readonly record: RecordName;
  readonly isEvent: boolean;
  /** One description may have a form for each of several events. */
  readonly event?: EventKind;
  readonly hasLinkHeader: boolean;
  readonly source: Source;
  readonly needs: Needs;
}

export interface Place {
  /** Undefined for the whole body. */
  readonly path: string | undefined;
  readonly name: string;
  /** It is `note` in an optional part, which is ignored when it is unreadable. */
  readonly severity: Severity;
}

/** @throws NotComparable when the document cannot be followed there. */
export type Step = (comparison: Comparison, contract: EndpointContract, operation: JsonObject, item: unknown) => void;

export const WHOLE_BODY: Place = { path: undefined, name: '', severity: 'breaking' };

/** @param own severity, if lower than around the field. */
export function fieldOf({ path, severity }: Place, name: string, own: Severity = severity): Place {
  return { path: path === undefined ? name : `${path}.${name}`, name, severity: own };
}

/** @returns undefined, after adding a finding, when the document cannot be followed. */
export function followed<Result>(
  findings: Findings,
  part: Finding['part'],
  name: string | undefined,
  work: () => Result,
) {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof NotComparable)) throw error;
    findings.breaking(part, name, error.message);
    return undefined;
  }
}

/** @returns undefined, after adding a finding, when no value fits or the schema cannot be followed. */
export function formsIn(
  { document, findings }: Comparison,
  part: Finding['part'],
  schema: unknown,
  place: Place,
): ResolvedSchema[] | undefined {
  try {
    const forms = formsOf(document, schema);
    if (forms.length > 0) return forms;
    findings[place.severity](part, place.path, 'is described so that no value fits');
  } catch (error) {
    if (!(error instanceof NotComparable)) throw error;
    // A part nested too deeply was not compared, so this is breaking at every place.
    const severity = error instanceof NestedTooDeeply ? 'breaking' : place.severity;
    findings[severity](part, place.path, error.message);
  }
  return undefined;
}

/** No object of the contract has two forms. */
export function ownForm(schema: unknown): ResolvedSchema {
  const forms = formsOf({}, schema);
  const main = forms.find(({ properties, items }) => properties.size > 0 || items !== undefined) ?? forms[0];
  if (main === undefined) throw new Error('a schema of the contract fits no value');
  return { ...main, types: typesIn(forms), values: valuesIn(forms) };
}

export function saysNothing(form: ResolvedSchema): boolean {
  return form.types === undefined;
}

export function undescribed(
  { findings, undescribedAnswer }: Comparison,
  part: 'request' | 'answer',
  ours: ResolvedSchema,
  place: Place,
): void {
  const fields = [...ours.required].join(', ');
  if (fields === '') return findings.note(part, place.path, 'is not described');
  const severity = part === 'request' ? 'breaking' : lesser(undescribedAnswer, place.severity);
  findings[severity](part, place.path, `is not described; we ${part === 'request' ? 'send' : 'need'} ${fields}`);
}

export function lesser(left: Severity, right: Severity): Severity {
  return left === 'breaking' ? right : left;
}

/** @returns false when they have no type in common. */
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
    // Many documents describe an integer as "number". A fraction that we send to an integer would be refused.
    if (part === 'answer') findings.note(part, place.path, 'may be any number there, and is an integer here');
    else report(part, place.path, 'is an integer there, and may be any number here');
    return true;
  }
  if (wrong.length === values.length && (values.length > 0 || !taken.has('null'))) {
    const [theirs, ours] = part === 'answer' ? [[...given], [...taken]] : [[...taken], [...given]];
    report(part, place.path, `is of type ${either(theirs)} there, and ${either(ours)} here`);
    return false;
  }
  const misfits = [...wrong, ...(given.has('null') && !taken.has('null') ? ['null' as const] : [])];
  if (misfits.length > 0) {
    const side = part === 'answer' ? 'there, which we do not take' : 'here, which is not taken there';
    report(part, place.path, `may be ${either(misfits)} ${side}`);
  }
  return true;
}

export function typesIn(forms: Forms): ReadonlySet<JsonType> | undefined {
  if (forms.some(saysNothing)) return undefined;
  return new Set(forms.flatMap(({ types }) => [...(types ?? [])]));
}

export function valuesIn(forms: Forms): readonly unknown[] | undefined {
  const relevant = forms.filter(({ types }) => types === undefined || [...types].some((type) => type !== 'null'));
  if (relevant.length === 0 || relevant.some(({ values }) => values === undefined)) return undefined;
  return relevant.flatMap(({ values }) => values ?? []).filter((value) => value !== null);
}

export function listed(values: readonly unknown[]): string {
  return values.map((value) => JSON.stringify(value)).join(', ');
}

function either(types: readonly JsonType[]): string {
  return types.join(' or ');
}
