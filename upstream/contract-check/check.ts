import type * as z from 'zod';
import { capabilities as allCapabilities, type Capabilities, type Capability } from '#domain/capabilities.ts';
import { compareCall, findCall, jsonContent, pathsOf, wireSchema } from '#upstream/contract-check/calls.ts';
import { compareAnswer } from '#upstream/contract-check/compare.ts';
import {
  at,
  entriesAt,
  resolved,
  textAt,
  UnresolvedReference,
  type JsonObject,
} from '#upstream/contract-check/document.ts';
import {
  Findings,
  isBreaking,
  type CallReport,
  type ContractReport,
  type EventReport,
  type Finding,
} from '#upstream/contract-check/findings.ts';
import {
  ENDPOINTS,
  EVENT_KINDS,
  eventEnvelope,
  EVENTS,
  type EndpointContract,
  type EndpointName,
  type EventKind,
} from '#upstream/contract.ts';

/**
 * Compares a real OpenAPI document of the service with the contract: what we need and is missing, renamed or of another
 * type, and what is asked for and we do not give. Never throws on what the document holds.
 *
 * @param document as `readDocument` gives it.
 * @param capabilities calls whose capability is switched off are not made, and not looked at.
 */
export function checkContract(document: JsonObject, capabilities: Capabilities): ContractReport {
  const paths = pathsOf(document);
  const names = Object.keys(ENDPOINTS) as EndpointName[];
  const calls = names.map((name) => callReport(name, document, paths, capabilities));
  const events = EVENT_KINDS.map((event) => eventReport(event, document));
  const compatible = [...calls, ...events].every(({ findings }) => !findings.some(isBreaking));
  const info = at(document, 'info');
  const [title, version] = [textAt(info, 'title'), textAt(info, 'version')];
  return {
    compatible,
    document: {
      openapi: textAt(document, 'openapi') ?? '',
      ...(title === undefined ? {} : { title }),
      ...(version === undefined ? {} : { version }),
    },
    calls,
    events,
    switchOff: compatible ? [] : wayOut(calls, events),
  };
}

function callReport(
  name: EndpointName,
  document: JsonObject,
  paths: ReturnType<typeof pathsOf>,
  capabilities: Capabilities,
): CallReport {
  const contract: EndpointContract = ENDPOINTS[name];
  const { method, path, capability, convenience } = contract;
  const call = { name, method, path, ...(capability === undefined ? {} : { capability }) };
  if (capability !== undefined && !capabilities[capability]) return { ...call, status: 'switched_off', findings: [] };

  try {
    const found = findCall(document, paths, contract);
    if (!found.found) {
      const { message, suggestions } = found;
      const severity: Finding['severity'] = convenience === true ? 'note' : 'breaking';
      const near = suggestions.length === 0 ? {} : { suggestions };
      return { ...call, status: 'missing', findings: [{ severity, part: 'call', message, ...near }] };
    }
    const findings = compareCall(document, found, contract).all();
    const status = findings.some(isBreaking) ? 'differs' : 'matches';
    return { ...call, status, ...(found.path === path ? {} : { foundAs: found.path }), findings };
  } catch (error) {
    if (!(error instanceof UnresolvedReference)) throw error;
    return { ...call, status: 'differs', findings: [{ severity: 'breaking', part: 'call', message: error.message }] };
  }
}

// Which kind it is stands in the table already: a document may give `event` one name, all names, or none.
const EVENT_BODIES: ReadonlyMap<EventKind, z.ZodType> = new Map(
  EVENT_KINDS.map((kind) => {
    const { data } = EVENTS[kind];
    return [kind, data === undefined ? eventEnvelope : eventEnvelope.extend({ data })];
  }),
);

/** Documents before OpenAPI 3.1 cannot describe webhooks, and later ones need not. */
function eventReport(event: EventKind, document: JsonObject): EventReport {
  const findings = new Findings();
  try {
    const webhooks = [...entriesAt(document, 'webhooks'), ...entriesAt(document, 'x-webhooks')];
    const item = resolved(document, webhooks.find(([name]) => name === event)?.[1]);
    const body = resolved(document, at(resolved(document, at(item, 'post')), 'requestBody'));
    const media = jsonContent(document, body);
    if (media === undefined) return { event, status: 'not_described', findings: [] };
    // The layout of events is assumed from end to end, so free-form data is no news.
    const ours = wireSchema(EVENT_BODIES.get(event) ?? eventEnvelope);
    compareAnswer({ document, findings, undescribedAnswer: 'note' }, ours, media.schema);
  } catch (error) {
    if (!(error instanceof UnresolvedReference)) throw error;
    findings.breaking('answer', undefined, error.message);
  }
  const all = findings.all();
  return { event, status: all.some(isBreaking) ? 'differs' : 'matches', findings: all };
}

/** The capabilities that would have to go; empty when a difference is in a call that nothing can take the place of. */
function wayOut(calls: readonly CallReport[], events: readonly EventReport[]): readonly Capability[] {
  const broken = calls.filter(({ findings }) => findings.some(isBreaking));
  const insoluble =
    broken.some(({ capability }) => capability === undefined) || events.some(({ status }) => status === 'differs');
  const needless = new Set(broken.map(({ capability }) => capability));
  return insoluble ? [] : allCapabilities.filter((capability) => needless.has(capability));
}
