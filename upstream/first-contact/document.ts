/** What the service's own OpenAPI document says of the calls and events that one kind of purchase needs. */
import type { PurchaseKind } from '#domain/first-contact.ts';
import type { ContractReport, Finding } from '#upstream/contract-check.ts';
import { PURCHASE_NEEDS } from '#upstream/contract.ts';

/** @returns the breaking differences, each as a clause that names its call or event, or the servers of all calls. */
export function documentProblems({ findings, calls, events }: ContractReport, kind: PurchaseKind): readonly string[] {
  const needs = PURCHASE_NEEDS[kind];
  const inCalls = calls
    .filter(({ name }) => needs.calls.includes(name))
    .flatMap(({ method, path, findings }) =>
      breaking(findings).map((finding) => `${method} ${path}: ${clause(finding)}`),
    );
  const inEvents = events
    .filter(({ event }) => needs.events.includes(event))
    .flatMap(({ event, findings }) => breaking(findings).map((finding) => `event ${event}: ${clause(finding)}`));
  // Headers of webhooks are judged by the configured prefix, and an order is safe without webhooks.
  const inServers = breaking(findings)
    .filter(({ part }) => part === 'servers')
    .map(({ part, message }) => `${part} ${message}`);
  return [...inServers, ...inCalls, ...inEvents].map((problem) => `${problem} (OpenAPI document)`);
}

function breaking(findings: readonly Finding[]): readonly Finding[] {
  return findings.filter(({ severity }) => severity === 'breaking');
}

function clause({ part, name, message }: Finding): string {
  const place = part === 'request' || part === 'answer' ? `${part} ` : '';
  return `${place}${name === undefined ? '' : `${name} `}${message}`;
}
