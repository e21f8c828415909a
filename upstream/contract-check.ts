import {
  type Capabilities,
  type Capability,
  capabilities as allCapabilities,
} from '#domain/service/capability-profile.ts';
import { compareCall } from '#upstream/contract-check/calls.ts';
import type { Comparison } from '#upstream/contract-check/comparison.ts';
import { type JsonObject, NotComparable, at, resetSteps, textAt } from '#upstream/contract-check/document.ts';
import { type ComparedEvent, compareEvents, describedEvents } from '#upstream/contract-check/events.ts';
import {
  type CallReport,
  type ContractReport,
  type EventReport,
  Findings,
  Needs,
  type Source,
  isBreaking,
} from '#upstream/contract-check/findings.ts';
import { type FoundCall, compareServers, findCall, pathsOf } from '#upstream/contract-check/operations.ts';
import { compareEventHeaders } from '#upstream/contract-check/parameters.ts';
import { DEFAULT_HEADER_PREFIX, ENDPOINTS, type EndpointContract, type EndpointName } from '#upstream/contract.ts';

export { readDocument, UnreadableDocument, type JsonObject } from '#upstream/contract-check/document.ts';
export {
  VALUES_NOT_LISTED,
  type CallReport,
  type CallStatus,
  type ContractReport,
  type EventReport,
  type Finding,
  isBreaking,
} from '#upstream/contract-check/findings.ts';

/** Never throws. Calls of a switched-off capability are not compared. */
export function checkContract(
  document: JsonObject,
  capabilities: Capabilities,
  { headerPrefix = DEFAULT_HEADER_PREFIX }: { readonly headerPrefix?: string | undefined } = {},
): ContractReport {
  const report = reportOf(document, capabilities, headerPrefix);
  return report.compatible
    ? report
    : { ...report, switchOff: capabilitiesToSwitchOff(report, document, capabilities, headerPrefix) };
}

function reportOf(document: JsonObject, capabilities: Capabilities, headerPrefix: string): ContractReport {
  resetSteps(document);
  const findings = new Findings();
  const needs = new Needs();
  const paths = pathsOf(document);
  compareServers(
    findings,
    document,
    paths.map(({ path }) => path),
  );
  const callReports = endpointNames.map((name) => comparedCall(name, document, paths, { capabilities, needs }));
  const described = describedEvents(document, findings);
  compareEventHeaders(document, described, findings, headerPrefix);
  const comparedEvents = compareEvents(document, described, needs);
  // Adds findings to the calls and events.
  needs.settle();

  const calls = callReports.map((report) => report());
  const events = comparedEvents.map(eventReport);
  const all = [...findings.all(), ...[...calls, ...events].flatMap((part) => part.findings)];
  const info = at(document, 'info');
  const [title, version] = [textAt(info, 'title'), textAt(info, 'version')];
  return {
    compatible: !all.some(isBreaking),
    document: {
      openapi: textAt(document, 'openapi') ?? '',
      ...(title === undefined ? {} : { title }),
      ...(version === undefined ? {} : { version }),
    },
    findings: findings.all(),
    calls,
    events,
    switchOff: [],
  };
}

const endpointNames = Object.keys(ENDPOINTS) as EndpointName[];

/** @returns its report, once all needs are settled. */
function comparedCall(
  name: EndpointName,
  document: JsonObject,
  paths: ReturnType<typeof pathsOf>,
  { capabilities, needs }: { readonly capabilities: Capabilities; readonly needs: Needs },
): () => CallReport {
  const contract: EndpointContract = ENDPOINTS[name];
  const { method, path, capability, convenience } = contract;
  const call = { name, method, path, ...(capability === undefined ? {} : { capability }) };
  if (capability !== undefined && !capabilities[capability]) {
    return () => ({ ...call, status: 'switched_off', findings: [] });
  }
  const findings = new Findings();
  const severity = convenience === true ? 'note' : 'breaking';
  let found: FoundCall | undefined;
  try {
    found = findCall(document, paths, contract);
    const comparison: Comparison = {
      document,
      findings,
      undescribedAnswer: severity,
      record: contract.record,
      isEvent: false,
      hasLinkHeader: false,
      source: sourceOf(contract),
      needs,
    };
    if (found.found) compareCall(comparison, found, contract);
    else findings[severity]('call', undefined, found.message, found.suggestions);
  } catch (error) {
    if (!(error instanceof NotComparable)) throw error;
    findings.breaking('call', undefined, error.message);
  }
  return () => {
    const all = findings.all();
    if (found?.found === false) return { ...call, status: 'missing', findings: all };
    const foundAs = found === undefined || found.path === path ? {} : { foundAs: found.path };
    return { ...call, status: all.some(isBreaking) ? 'differs' : 'matches', ...foundAs, findings: all };
  };
}

function sourceOf({ method, idempotencyKey, convenience, neededQuery = {} }: EndpointContract): Source {
  // A call with an idempotency key is a purchase, or is settled like one.
  const write = idempotencyKey ? 'write' : 'aside';
  const role = method === 'GET' ? 'read' : write;
  const searchedBy = Object.keys(neededQuery);
  return { role: convenience === true ? 'aside' : role, isWhole: method === 'GET', searchedBy };
}

function eventReport({ event, status, findings }: ComparedEvent): EventReport {
  const all = findings.all();
  if (status === 'missing') return { event, status, findings: all };
  if (all.some(isBreaking)) return { event, status: 'differs', findings: all };
  return { event, status: status === 'described' ? 'matches' : 'undocumented', findings: all };
}

function capabilitiesToSwitchOff(
  { calls }: ContractReport,
  document: JsonObject,
  capabilities: Capabilities,
  headerPrefix: string,
): readonly Capability[] {
  const broken = calls.filter(({ findings }) => findings.some(isBreaking));
  const ofBroken = new Set(broken.map(({ capability }) => capability));
  const off = allCapabilities.filter((capability) => ofBroken.has(capability));
  const without = { ...capabilities, ...Object.fromEntries(off.map((capability) => [capability, false])) };
  return off.length > 0 && reportOf(document, without, headerPrefix).compatible ? off : [];
}
