import { nearNames } from '#domain/text.ts';
import { type Comparison, type Step, followed } from '#upstream/contract-check/comparison.ts';
import { type JsonObject, at, entriesAt, listAt, resolved, textAt } from '#upstream/contract-check/document.ts';
import type { DescribedEvent } from '#upstream/contract-check/events.ts';
import type { Findings } from '#upstream/contract-check/findings.ts';
import { compareSentValues } from '#upstream/contract-check/requests.ts';
import { type Forms, formsOf, refusalOf } from '#upstream/contract-check/schemas.ts';
import { IDEMPOTENCY_KEY_HEADER, type ServiceHeaders, serviceHeaders } from '#upstream/contract.ts';
import { serviceParameter } from '#upstream/contract/variants.ts';

interface Parameter {
  readonly name: string;
  readonly place: string;
  readonly required: boolean;
  readonly schema: unknown;
}

function parametersOf(document: JsonObject, item: unknown, operation: unknown): readonly Parameter[] {
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

// OpenAPI ignores these as parameters: other parts of a document describe them.
const NOT_PARAMETERS = ['accept', 'content-type', 'authorization'];

export const compareParameters: Step = (comparison, contract, operation, item) => {
  const { document, findings } = comparison;
  const { query = [], requiredQuery = [], neededQuery = {}, idempotencyKey } = contract;
  const parameters = parametersOf(document, item, operation);
  const inPlace = (wanted: string) => parameters.filter(({ place }) => place === wanted);

  const headers = inPlace('header').filter(({ name }) => !NOT_PARAMETERS.includes(name.toLowerCase()));
  const key = idempotencyKey ? named(headers, IDEMPOTENCY_KEY_HEADER) : undefined;
  const keyLabel = `header ${IDEMPOTENCY_KEY_HEADER}`;
  if (key !== undefined) compareTexts(comparison, keyLabel, IDEMPOTENCY_KEY_HEADER, key.schema);
  else if (idempotencyKey) {
    const names = headers.map(({ name }) => name);
    findings.breaking('parameters', keyLabel, 'is missing', nearNames(IDEMPOTENCY_KEY_HEADER, names));
  }

  const queries = inPlace('query');
  const sentNames = new Set(query.map((name) => serviceParameter(name)));
  const strangers = queries.map(({ name }) => name).filter((name) => !sentNames.has(name));
  for (const name of query) {
    const sentAs = serviceParameter(name);
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
      findings.note('parameters', label, 'is not in the document, so the service may ignore or refuse it', near);
    }
  }
  const always = [...requiredQuery, ...query.filter((name) => name === 'limit')];
  const sent: Readonly<Record<string, readonly string[]>> = {
    header: [...NOT_PARAMETERS, ...(key === undefined ? [] : [key.name.toLowerCase()])],
    query: always.flatMap((name) => serviceParameter(name) ?? []),
  };
  for (const { name, place } of parameters.filter(({ place, required }) => required && place !== 'path')) {
    const known = sent[place]?.includes(place === 'header' ? name.toLowerCase() : name) === true;
    if (!known) findings.breaking('parameters', `${place} ${name}`, 'is required there, and we do not always send it');
  }
};

/** A numeric schema accepts a text that writes a number. */
function compareTexts({ document, findings }: Comparison, label: string, name: string, schema: unknown): void {
  const forms = formsOf(document, schema);
  compareSentValues(findings, 'parameters', label, name, (value) => refusalOfText(forms, String(value)));
}

function refusalOfText(forms: Forms, text: string): string | undefined {
  if (forms.length === 0) return 'is described so that no value fits';
  const refusal = refusalOf(forms, text);
  const numeric = forms.filter(({ types }) => types?.has('integer') === true || types?.has('number') === true);
  const isNumber = numeric.length > 0 && /^\d+$/.test(text);
  return refusal === undefined || !isNumber ? refusal : refusalOf(numeric, Number(text));
}

const NAMES = ['event', 'delivery', 'timestamp', 'signature'] as const satisfies (keyof ServiceHeaders)[];

const VALUES = {
  timestamp: { text: '1767225600', says: 'Unix seconds in digits' },
  signature: { text: `v1=${'0a'.repeat(32)}`, says: 'v1= and a hexadecimal HMAC' },
} as const;

/** Headers that a document does not name give no finding. */
export function compareEventHeaders(
  document: JsonObject,
  events: readonly DescribedEvent[],
  findings: Findings,
  prefix: string,
): void {
  for (const { item, operation } of events) {
    followed(findings, 'event headers', undefined, () => {
      const headers = parametersOf(document, item, operation).filter(({ place }) => place === 'header');
      compareHeaders(document, headers, findings, prefix);
    });
  }
}

function compareHeaders(document: JsonObject, headers: readonly Parameter[], findings: Findings, prefix: string): void {
  const ours = serviceHeaders(prefix);
  const parts = NAMES.map((part) => {
    return { part, header: named(headers, ours[part]), near: ofAnotherPrefix(headers, part) };
  });
  if (parts.every(({ header }) => header === undefined)) {
    const [only, another] = new Set(parts.flatMap(({ near }) => near.map((other) => other.prefix)));
    if (only === undefined) return;
    if (another === undefined) {
      const message = `start with ${only}, and ours with ${prefix}: set SERVICE_HEADER_PREFIX=${only}`;
      findings.breaking('event headers', undefined, message);
      return compareHeaders(document, headers, findings, only);
    }
  }
  for (const { part, header, near } of parts) {
    if (header === undefined) {
      const others = near.map(({ name }) => name);
      // A note: the kind of an event is read from the signed body, not from this header.
      findings[part === 'event' ? 'note' : 'breaking']('event headers', ours[part], 'is missing', others);
    } else if (part === 'timestamp' || part === 'signature') {
      const { text, says } = VALUES[part];
      const refusal = refusalOfText(formsOf(document, header.schema), text);
      if (refusal !== undefined) findings.breaking('event headers', ours[part], `${refusal}, and we read ${says}`);
    }
  }
}

function named(headers: readonly Parameter[], name: string): Parameter | undefined {
  return headers.find((header) => header.name.toLowerCase() === name.toLowerCase());
}

/** Such as `X-Acme-Signature` when ours is `X-Service-Signature`. */
function ofAnotherPrefix(headers: readonly Parameter[], part: (typeof NAMES)[number]) {
  return headers.flatMap(({ name }) => {
    const prefix = name.toLowerCase().endsWith(`-${part}`) ? name.slice(0, -part.length - 1) : '';
    return prefix === '' ? [] : [{ name, prefix }];
  });
}
