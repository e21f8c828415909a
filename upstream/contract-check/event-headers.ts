/** Compares the described headers of service webhooks with the headers that we read. */
import type { DescribedEvent } from '#upstream/contract-check/events.ts';
import type { Findings } from '#upstream/contract-check/findings.ts';
import { NotComparable, type JsonObject } from '#upstream/contract-check/schema/document.ts';
import { parametersOf, refusalOfText, type Parameter } from '#upstream/contract-check/schema/parameters.ts';
import { formsOf } from '#upstream/contract-check/schema/resolved-schema.ts';
import { serviceHeaders, type ServiceHeaders } from '#upstream/contract.ts';

const NAMES = ['event', 'delivery', 'timestamp', 'signature'] as const satisfies (keyof ServiceHeaders)[];

/** The two headers whose values have a required form. */
const VALUES = {
  timestamp: { text: '1767225600', says: 'Unix seconds in digits' },
  signature: { text: `v1=${'0a'.repeat(32)}`, says: 'v1= and a hexadecimal HMAC' },
} as const;

/**
 * Compares the described headers of each webhook. A document that names none of these headers gives no finding.
 *
 * @param prefix everything before `-Event`, as set by `SERVICE_HEADER_PREFIX`.
 */
export function compareEventHeaders(
  document: JsonObject,
  events: readonly DescribedEvent[],
  findings: Findings,
  prefix: string,
): void {
  for (const { item, operation } of events) {
    try {
      const headers = parametersOf(document, item, operation).filter(({ place }) => place === 'header');
      compareHeaders(document, headers, findings, prefix);
    } catch (error) {
      if (!(error instanceof NotComparable)) throw error;
      findings.breaking('event headers', undefined, error.message);
    }
  }
}

function compareHeaders(document: JsonObject, headers: readonly Parameter[], findings: Findings, prefix: string): void {
  const ours = serviceHeaders(prefix);
  const found = new Map(NAMES.map((part) => [part, named(headers, ours[part])] as const));
  const others = NAMES.flatMap((part) => (found.get(part) === undefined ? ofAnotherPrefix(headers, part) : []));
  const prefixes = [...new Set(others.map((other) => other.prefix))];
  const [only, another] = prefixes;
  if ([...found.values()].every((header) => header === undefined) && only === undefined) return;

  if (only !== undefined && another === undefined && [...found.values()].every((header) => header === undefined)) {
    const message = `start with ${only}, and ours with ${prefix}: set SERVICE_HEADER_PREFIX=${only}`;
    findings.breaking('event headers', undefined, message);
    return compareHeaders(document, headers, findings, only);
  }
  for (const part of NAMES) {
    const header = found.get(part);
    const near = others.filter((other) => other.part === part).map(({ name }) => name);
    if (header === undefined) {
      // Only a note: the kind of an event is read from the signed body, not from this header.
      findings[part === 'event' ? 'note' : 'breaking']('event headers', ours[part], 'is missing', near);
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

/** Finds headers such as `X-Acme-Signature`, when ours is `X-Service-Signature`. */
function ofAnotherPrefix(headers: readonly Parameter[], part: (typeof NAMES)[number]) {
  return headers.flatMap(({ name }) => {
    const prefix = name.toLowerCase().endsWith(`-${part}`) ? name.slice(0, -part.length - 1) : '';
    return prefix === '' ? [] : [{ part, name, prefix }];
  });
}
