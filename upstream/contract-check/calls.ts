/** Finds a call of the contract in the document, and compares it. */
import * as z from 'zod';
import { BASE_PATH, SANDBOX_SUFFIX } from '#domain/service-address.ts';
import { compareAnswer, compareRequest, type Comparison } from '#upstream/contract-check/compare.ts';
import {
  at,
  entriesAt,
  isObject,
  listAt,
  resolved,
  textAt,
  UnresolvedReference,
  type JsonObject,
} from '#upstream/contract-check/document.ts';
import { Findings } from '#upstream/contract-check/findings.ts';
import { nearNames } from '#upstream/contract-check/near-names.ts';
import { ENDPOINTS, IDEMPOTENCY_KEY_HEADER, type EndpointContract } from '#upstream/contract.ts';

/** A path of the document. */
interface TheirPath {
  /** As the document has it. */
  readonly path: string;
  /** What it may be below `{base_url}`: parameters as `{}`; the likeliest first. */
  readonly below: readonly string[];
  readonly item: unknown;
}

/** The paths of a document, read once for all calls. */
export function pathsOf(document: JsonObject): TheirPath[] {
  const prefixes = ['', ...listAt(document, 'servers').map(pathOfServer)];
  return entriesAt(document, 'paths').map(([path, item]) => {
    const full = prefixes.map((prefix) => belowBase(prefix + path));
    // A document of the sandbox may have its suffix in every path.
    const sandbox = full.filter((below) => below.startsWith(`${SANDBOX_SUFFIX}/`));
    return { path, below: [...full, ...sandbox.map((below) => below.slice(SANDBOX_SUFFIX.length))], item };
  });
}

/** What may stand before the paths: the path of an address, which may be relative and have variables. */
function pathOfServer(server: unknown): string {
  const url = textAt(server, 'url') ?? '';
  return url.replace(/^[a-z][a-z0-9+.-]*:\/\/[^/]*/i, '').replace(/\/+$/, '');
}

/** A path without what comes before it up to `{base_url}`, with or without that base address spelled out. */
function belowBase(path: string): string {
  const base = path.lastIndexOf(BASE_PATH);
  const below = base === -1 ? path.replace(/^\/?\{(?:base|sandbox)_?url\}/i, '') : path.slice(base + BASE_PATH.length);
  return normal(below);
}

function normal(path: string): string {
  return `/${path}`.replaceAll(/\{[^}]*\}/g, '{}').replaceAll(/\/{2,}/g, '/').replace(/(.)\/$/, '$1');
}

/** A call of the contract as the document has it, or why it is not there. */
export type FoundCall =
  | { readonly found: true; readonly path: string; readonly item: unknown; readonly operation: JsonObject }
  | { readonly found: false; readonly message: string; readonly suggestions: readonly string[] };

export function findCall(document: JsonObject, paths: readonly TheirPath[], contract: EndpointContract): FoundCall {
  const wanted = normal(contract.path);
  const method = contract.method.toLowerCase();
  const same = paths
    .filter(({ below }) => below.includes(wanted))
    .toSorted((left, right) => left.below.indexOf(wanted) - right.below.indexOf(wanted));
  for (const { path, item } of same) {
    const whole = resolved(document, item);
    const operation = resolved(document, at(whole, method));
    if (isObject(operation)) return { found: true, path, item: whole, operation };
  }
  if (same.length > 0) {
    const methods = METHODS.filter((name) => same.some(({ item }) => at(resolved(document, item), name) !== undefined));
    const others = methods.map((name) => name.toUpperCase()).join(', ');
    const message = `is not in the document with ${contract.method}${others && `, only with ${others}`}`;
    return { found: false, message, suggestions: [] };
  }
  const strangers = paths.filter(({ below }) => !below.some((form) => OUR_PATHS.has(form)));
  const names = new Map(strangers.flatMap(({ path, below }) => below.map((form) => [form, path] as const)));
  const near = nearNames(wanted, names.keys()).map((form) => names.get(form) ?? form);
  return { found: false, message: 'is not in the document', suggestions: [...new Set(near)] };
}

const OUR_PATHS: ReadonlySet<string> = new Set(Object.values(ENDPOINTS).map(({ path }) => normal(path)));

const METHODS = ['get', 'put', 'post', 'delete', 'patch', 'head', 'options'];

/** Compares a call that was found. */
export function compareCall(
  document: JsonObject,
  { item, operation }: Extract<FoundCall, { found: true }>,
  contract: EndpointContract,
): Findings {
  const findings = new Findings();
  const undescribedAnswer = contract.convenience === true ? 'note' : 'breaking';
  const comparison: Comparison = { document, findings, undescribedAnswer };
  for (const step of [compareParameters, compareSecurity, compareBody, compareAnswers]) {
    try {
      step(comparison, contract, operation, item);
    } catch (error) {
      if (!(error instanceof UnresolvedReference)) throw error;
      findings.breaking('call', undefined, error.message);
    }
  }
  return findings;
}

type Step = (comparison: Comparison, contract: EndpointContract, operation: JsonObject, item: unknown) => void;

// Headers that OpenAPI itself says to ignore as parameters, since other parts of a document describe them.
const NOT_PARAMETERS = ['accept', 'content-type', 'authorization'];

const compareParameters: Step = ({ document, findings }, contract, operation, item) => {
  const { query = [], requiredQuery = [], idempotencyKey } = contract;
  const parameters = [...listAt(item, 'parameters'), ...listAt(operation, 'parameters')].map((raw) => {
    const parameter = resolved(document, raw);
    return {
      name: textAt(parameter, 'name') ?? '',
      place: textAt(parameter, 'in') ?? '',
      required: at(parameter, 'required') === true,
    };
  });
  const names = (place: string) => parameters.filter((parameter) => parameter.place === place).map(({ name }) => name);

  const headers = names('header').filter((name) => !NOT_PARAMETERS.includes(name.toLowerCase()));
  const key = headers.find((name) => name.toLowerCase() === IDEMPOTENCY_KEY_HEADER.toLowerCase());
  if (idempotencyKey && key === undefined) {
    const near = nearNames(IDEMPOTENCY_KEY_HEADER, headers);
    findings.breaking('parameters', `header ${IDEMPOTENCY_KEY_HEADER}`, 'is missing', near);
  }
  const strangers = names('query').filter((name) => !query.includes(name));
  for (const name of query.filter((ours) => !names('query').includes(ours))) {
    const near = nearNames(name, strangers);
    if (requiredQuery.includes(name)) findings.breaking('parameters', `query ${name}`, 'is missing', near);
    else findings.note('parameters', `query ${name}`, 'is not there; it may be ignored or refused', near);
  }
  const sent: Readonly<Record<string, readonly string[]>> = {
    header: [...NOT_PARAMETERS, ...(idempotencyKey && key !== undefined ? [key.toLowerCase()] : [])],
    query: requiredQuery,
  };
  for (const { name, place } of parameters.filter(({ place, required }) => required && place !== 'path')) {
    const known = sent[place]?.includes(place === 'header' ? name.toLowerCase() : name) === true;
    if (!known) findings.breaking('parameters', `${place} ${name}`, 'is asked for, and we do not always send it');
  }
};

const compareSecurity: Step = ({ document, findings }, { authorized }, operation) => {
  const requirements = Object.hasOwn(operation, 'security') ? operation['security'] : at(document, 'security');
  if (!Array.isArray(requirements) || requirements.length === 0) return;
  const schemes = at(at(document, 'components'), 'securitySchemes');
  const isBearer = (name: string): boolean => {
    const scheme = resolved(document, at(schemes, name));
    const type = textAt(scheme, 'type') ?? '';
    if (type === 'http') return textAt(scheme, 'scheme')?.toLowerCase() === 'bearer';
    return type === 'oauth2' || type === 'openIdConnect';
  };
  const fits = (requirement: unknown): boolean => {
    const names = isObject(requirement) ? Object.keys(requirement) : [];
    return names.length === 0 || (authorized && names.every(isBearer));
  };
  if (requirements.some(fits)) return;
  if (authorized) findings.breaking('call', undefined, 'asks for another authorization than a Bearer token');
  else findings.note('call', undefined, 'asks for authorization, and is called without one first');
};

const compareBody: Step = (comparison, { body }, operation) => {
  const { document, findings } = comparison;
  const theirs = resolved(document, at(operation, 'requestBody'));
  if (body === undefined) {
    if (at(theirs, 'required') === true) findings.breaking('request', undefined, 'needs a body, and we send none');
    return;
  }
  if (!isObject(theirs)) return findings.breaking('request', undefined, 'takes no body, and we send one');
  const content = jsonContent(document, theirs);
  if (content === undefined) return findings.breaking('request', undefined, 'takes no JSON body');
  compareRequest(comparison, wireSchema(body), content.schema);
};

const compareAnswers: Step = (comparison, { answer }, operation) => {
  const { document, findings } = comparison;
  const successes = entriesAt(operation, 'responses')
    .filter(([status]) => /^2(?:\d\d|XX)$/i.test(status))
    .map(([status, response]) => ({ status, content: jsonContent(document, resolved(document, response)) }));
  const bodies = successes.filter(({ content }) => content !== undefined);
  if (bodies.length === 0) {
    findings.breaking('answer', undefined, 'is not described as JSON for any success (2xx)');
    return;
  }
  for (const { status } of successes.filter(({ content }) => content === undefined)) {
    findings.note('answer', undefined, `with ${status} has no JSON body; it would count as unknown`);
  }
  for (const { content } of bodies) compareAnswer(comparison, wireSchema(answer), content?.schema);
};

const JSON_TYPE = /^(?:application\/(?:[\w.-]+\+)?json\b|application\/\*|\*\/\*)/i;

/** The schema of a JSON body; undefined where there is no JSON body. */
export function jsonContent(document: JsonObject, holder: unknown): { readonly schema: unknown } | undefined {
  const media = entriesAt(holder, 'content').find(([type]) => JSON_TYPE.test(type));
  return media === undefined ? undefined : { schema: at(resolved(document, media[1]), 'schema') };
}

/** A schema of what is on the wire; the contract's answers transform what they read, so that is their input side. */
export function wireSchema(schema: z.ZodType): unknown {
  // The contract never changes, and making these takes longer than the whole comparison.
  const made = WIRE_SCHEMAS.get(schema) ?? z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' });
  WIRE_SCHEMAS.set(schema, made);
  return made;
}

const WIRE_SCHEMAS = new WeakMap<z.ZodType, unknown>();
