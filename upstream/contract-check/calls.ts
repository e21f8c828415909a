import * as z from 'zod';
import { compareAnswer } from '#upstream/contract-check/answers.ts';
import { type Comparison, type Step, followed } from '#upstream/contract-check/comparison.ts';
import { type JsonObject, at, entriesAt, isObject, resolved, textAt } from '#upstream/contract-check/document.ts';
import { type FoundCall, compareOwnServers } from '#upstream/contract-check/operations.ts';
import { compareParameters } from '#upstream/contract-check/parameters.ts';
import { compareRequest } from '#upstream/contract-check/requests.ts';
import type { EndpointContract } from '#upstream/contract.ts';

export function compareCall(
  comparison: Comparison,
  { path, item, operation }: Extract<FoundCall, { found: true }>,
  contract: EndpointContract,
): void {
  const { findings } = comparison;
  compareOwnServers(findings, path, item, operation);
  for (const step of [compareParameters, compareSecurity, compareBody, compareAnswers]) {
    followed(findings, 'call', undefined, () => step(comparison, contract, operation, item));
  }
}

const compareSecurity: Step = ({ document, findings }, { withoutToken }, operation) => {
  const requirements = Object.hasOwn(operation, 'security') ? operation['security'] : at(document, 'security');
  if (!Array.isArray(requirements) || requirements.length === 0) return;
  const schemes = at(at(document, 'components'), 'securitySchemes');
  const isBearer = (name: string): boolean => {
    const scheme = resolved(document, at(schemes, name));
    const type = textAt(scheme, 'type') ?? '';
    if (type === 'http') return textAt(scheme, 'scheme')?.toLowerCase() === 'bearer';
    // Older documents describe a bearer token as an API key in this header.
    const isHeader = type === 'apiKey' && textAt(scheme, 'in') === 'header';
    if (isHeader) return textAt(scheme, 'name')?.toLowerCase() === 'authorization';
    return type === 'oauth2' || type === 'openIdConnect';
  };
  const fits = (requirement: unknown): boolean => {
    const names = isObject(requirement) ? Object.keys(requirement) : [];
    return names.length === 0 || (withoutToken !== true && names.every(isBearer));
  };
  if (requirements.some(fits)) return;
  if (withoutToken !== true) findings.breaking('call', undefined, 'asks for another authorization than a Bearer token');
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
  const responses = entriesAt(operation, 'responses');
  const named = responses.filter(([status]) => /^2(?:\d\d|XX)$/i.test(status));
  // Without a success among the statuses, `default` describes it.
  const chosen = named.length > 0 ? named : responses.filter(([status]) => status === 'default');
  const successes = chosen.map(([status, raw]) => {
    const response = resolved(document, raw);
    const hasLinkHeader = entriesAt(response, 'headers').some(([name]) => name.toLowerCase() === 'link');
    return { status, content: jsonContent(document, response), hasLinkHeader };
  });
  const bodies = successes.filter(({ content }) => content !== undefined);
  if (bodies.length === 0) {
    return findings.breaking('answer', undefined, 'is not described as JSON for any success (2xx)');
  }
  for (const { status } of successes.filter(({ content }) => content === undefined)) {
    findings.note('answer', undefined, `with ${status} has no JSON body; it would count as unknown`);
  }
  for (const { content, hasLinkHeader } of bodies) {
    compareAnswer({ ...comparison, hasLinkHeader }, wireSchema(answer), content?.schema);
  }
};

const JSON_TYPE = /^(?:application\/(?:[\w.-]+\+)?json\b|application\/\*|\*\/\*)/i;

export function jsonContent(document: JsonObject, holder: unknown): { readonly schema: unknown } | undefined {
  const media = entriesAt(holder, 'content').find(([type]) => JSON_TYPE.test(type));
  return media === undefined ? undefined : { schema: at(resolved(document, media[1]), 'schema') };
}

/** The input side: the answers of the contract transform what they read. */
export function wireSchema(schema: z.ZodType): unknown {
  // Kept: making these schemas takes longer than the whole comparison.
  const made = WIRE_SCHEMAS.get(schema) ?? z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' });
  WIRE_SCHEMAS.set(schema, made);
  return made;
}

const WIRE_SCHEMAS = new WeakMap<z.ZodType, unknown>();
