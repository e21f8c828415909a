/** Findings of the service's OpenAPI document about the calls and events of one kind of purchase. */
import type { PurchaseKind } from '#domain/work/kinds.ts';
import { VALUES_NOT_LISTED, type ContractReport, type Finding } from '#upstream/contract-check.ts';
import { PURCHASE_CHECKS } from '#upstream/first-purchase-check/kinds.ts';

/** @returns the breaking differences, each as a clause that names its call, its event or the part of the document. */
export function documentProblems({ findings, calls, events }: ContractReport, kind: PurchaseKind): readonly string[] {
  const needs = PURCHASE_CHECKS[kind];
  const inCalls = calls
    .filter(({ name }) => needs.calls.includes(name))
    .flatMap(({ method, path, findings }) =>
      breaking(findings).map((finding) => `${method} ${path}: ${clause(finding)}`),
    );
  const inEvents = events
    .filter(({ event }) => needs.events.includes(event))
    .flatMap(({ event, findings }) => breaking(findings).map((finding) => `event ${event}: ${clause(finding)}`));
  // Header names of webhooks are ignored here: a purchase is safe without webhooks.
  const inDocument = breaking(findings)
    .filter(({ part }) => part !== 'event headers')
    .map((finding) => `${finding.part} ${clause(finding)}`);
  return [...inDocument, ...inCalls, ...inEvents].map((problem) => `${problem} (OpenAPI document)`);
}

/**
 * Finds states whose values a document does not list. Such a document may be compatible, but it does not show that a
 * paid order can be read.
 *
 * @returns a clause per state that names its call.
 */
export function unlistedValues({ calls }: ContractReport, kind: PurchaseKind): readonly string[] {
  return calls
    .filter(({ name }) => PURCHASE_CHECKS[kind].calls.includes(name))
    .flatMap(({ method, path, findings }) =>
      findings
        .filter(({ message, name }) => message === VALUES_NOT_LISTED && name?.endsWith('status') === true)
        .map((finding) => `${method} ${path}: ${clause(finding)} (OpenAPI document)`),
    );
}

/** @returns the evidence of a document without {@link documentProblems}, as a clause. */
export function documentEvidence({ calls }: ContractReport, kind: PurchaseKind): string {
  const { calls: needed } = PURCHASE_CHECKS[kind];
  const compared = calls.filter(({ name, status }) => needed.includes(name) && status !== 'switched_off');
  return `the OpenAPI document of the service has the ${compared.length} calls as the contract has them`;
}

function breaking(findings: readonly Finding[]): readonly Finding[] {
  return findings.filter(({ severity }) => severity === 'breaking');
}

function clause({ part, name, message }: Finding): string {
  const place = part === 'request' || part === 'answer' ? `${part} ` : '';
  return `${place}${name === undefined ? '' : `${name} `}${message}`;
}
