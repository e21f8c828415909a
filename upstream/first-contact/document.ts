/** What the service's own OpenAPI document says of the calls and events that one kind of purchase needs. */
import type { PurchaseKind } from '#domain/first-contact.ts';
import type { ContractReport, Finding } from '#upstream/contract-check.ts';
import { PURCHASE_NEEDS } from '#upstream/contract.ts';

/** @returns the breaking differences, each as a clause that names its call or event. */
export function documentProblems({ calls, events }: ContractReport, kind: PurchaseKind): readonly string[] {
  const needs = PURCHASE_NEEDS[kind];
  const inCalls = calls
    .filter(({ name }) => needs.calls.includes(name))
    .flatMap(({ method, path, findings }) =>
      breaking(findings).map((finding) => `${method} ${path}: ${clause(finding)}`),
    );
  const inEvents = events
    .filter(({ event }) => needs.events.includes(event))
    .flatMap(({ event, findings }) => breaking(findings).map((finding) => `event ${event}: ${clause(finding)}`));
  return [...inCalls, ...inEvents].map((problem) => `${problem} (OpenAPI document)`);
}

function breaking(findings: readonly Finding[]): readonly Finding[] {
  return findings.filter(({ severity }) => severity === 'breaking');
}

function clause({ part, name, message }: Finding): string {
  const place = part === 'request' || part === 'answer' ? `${part} ` : '';
  return `${place}${name === undefined ? '' : `${name} `}${message}`;
}
