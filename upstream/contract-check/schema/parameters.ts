import { nearNames } from '#domain/text.ts';
/** Compares the query and the headers that we send with the described parameters. */
import { compareSentValues } from '#upstream/contract-check/compare/compare-request.ts';
import type { Comparison, Step } from '#upstream/contract-check/compare/comparison.ts';
import { at, entriesAt, listAt, resolved, textAt, type JsonObject } from '#upstream/contract-check/schema/document.ts';
import { formsOf, refusalOf, type ResolvedSchema } from '#upstream/contract-check/schema/resolved-schema.ts';
import { IDEMPOTENCY_KEY_HEADER } from '#upstream/contract.ts';
import { serviceParameter, VARIANTS } from '#upstream/contract/variants.ts';

/** A parameter of a call, or a header of a webhook. */
export interface Parameter {
  readonly name: string;
  /** `query`, `header`, `path` or `cookie`. */
  readonly place: string;
  readonly required: boolean;
  readonly schema: unknown;
}

/** The parameters of an operation and of its path. @throws NotComparable */
export function parametersOf(document: JsonObject, item: unknown, operation: unknown): readonly Parameter[] {
  return [...listAt(item, 'parameters'), ...listAt(operation, 'parameters')].map((raw) => {
    const parameter = resolved(document, raw);
    const [content] = entriesAt(parameter, 'content');
    return {
      name: textAt(parameter, 'name') ?? '',
      place: textAt(parameter, 'in') ?? '',
      required: at(parameter, 'required') === true,
      schema: at(parameter, 'schema') ?? at(content?.[1], 'schema'),
    };
  });
}

// OpenAPI says to ignore these as parameters, because other parts of a document describe them.
const NOT_PARAMETERS = ['accept', 'content-type', 'authorization'];

/** @throws NotComparable */
export const compareParameters: Step = (comparison, contract, operation, item) => {
  const { document, findings } = comparison;
  const { query = [], requiredQuery = [], neededQuery = {}, idempotencyKey } = contract;
  const parameters = parametersOf(document, item, operation);
  const named = (place: string) => parameters.filter((parameter) => parameter.place === place);

  const headers = named('header').filter(({ name }) => !NOT_PARAMETERS.includes(name.toLowerCase()));
  const key = headers.find(({ name }) => name.toLowerCase() === IDEMPOTENCY_KEY_HEADER.toLowerCase());
  if (idempotencyKey && key === undefined) {
    const near = nearNames(
      IDEMPOTENCY_KEY_HEADER,
      headers.map(({ name }) => name),
    );
    findings.breaking('parameters', `header ${IDEMPOTENCY_KEY_HEADER}`, 'is missing', near);
  } else if (idempotencyKey && key !== undefined) {
    compareTexts(comparison, `header ${IDEMPOTENCY_KEY_HEADER}`, IDEMPOTENCY_KEY_HEADER, key.schema);
  }

  const queries = named('query');
  const sentNames = new Set(query.map((name) => serviceParameter(name, VARIANTS)));
  const strangers = queries.map(({ name }) => name).filter((name) => !sentNames.has(name));
  for (const name of query) {
    const sentAs = serviceParameter(name, VARIANTS);
    if (sentAs === null) {
      const message = 'is not sent (`parameters` in upstream/contract/variants.ts)';
      findings[requiredQuery.includes(name) ? 'breaking' : 'note']('parameters', `query ${name}`, message);
      continue;
    }
    const label = `query ${sentAs}`;
    const theirs = queries.find((parameter) => parameter.name === sentAs);
    const near = theirs === undefined ? nearNames(sentAs, strangers) : [];
    const purpose = Object.hasOwn(neededQuery, name) ? neededQuery[name] : undefined;
    if (theirs !== undefined) compareTexts(comparison, label, name, theirs.schema);
    else if (requiredQuery.includes(name)) findings.breaking('parameters', label, 'is missing', near);
    else if (purpose !== undefined) {
      findings.breaking('parameters', label, `is missing, and is needed for ${purpose}`, near);
    } else {
      const message = 'is not in the document, so the service may ignore or refuse it';
      findings.note('parameters', label, message, near);
    }
  }
  const sent: Readonly<Record<string, readonly string[]>> = {
    header: [...NOT_PARAMETERS, ...(idempotencyKey && key !== undefined ? [key.name.toLowerCase()] : [])],
    query: [...requiredQuery, ...query.filter((name) => name === 'limit')].flatMap(
      (name) => serviceParameter(name, VARIANTS) ?? [],
    ),
  };
  for (const { name, place } of parameters.filter(({ place, required }) => required && place !== 'path')) {
    const known = sent[place]?.includes(place === 'header' ? name.toLowerCase() : name) === true;
    if (!known) findings.breaking('parameters', `${place} ${name}`, 'is required there, and we do not always send it');
  }
};

/** Compares texts that we send with a schema; a numeric schema accepts a text that writes a number. */
function compareTexts({ document, findings }: Comparison, label: string, name: string, schema: unknown): void {
  const forms = formsOf(document, schema);
  compareSentValues(findings, 'parameters', label, name, (value) => refusalOfText(forms, String(value)));
}

/** @returns why a schema refuses a text of a query or a header, as a clause; undefined when it accepts it. */
export function refusalOfText(forms: readonly ResolvedSchema[], text: string): string | undefined {
  if (forms.length === 0) return 'is described so that no value fits';
  const refusal = refusalOf(forms, text);
  const numeric = forms.filter(({ types }) => types?.has('integer') === true || types?.has('number') === true);
  const isNumber = numeric.length > 0 && /^\d+$/.test(text);
  return refusal === undefined || !isNumber ? refusal : refusalOf(numeric, Number(text));
}
