import type { Capability } from '#domain/service/capabilities.ts';
import type { EndpointName, EventKind } from '#upstream/contract.ts';

/**
 * One difference. *breaking*: something that we need is missing, or something is needed that we do not give.
 * *note*: worth knowing; our side copes.
 */
export interface Finding {
  readonly severity: 'breaking' | 'note';
  /** Where it is. */
  readonly part: 'call' | 'parameters' | 'request' | 'answer' | 'servers' | 'events' | 'event headers';
  /** The field or parameter that it is about, such as `data[].price_for_reseller`. */
  readonly name?: string;
  /** A clause; after the name, where there is one. */
  readonly message: string;
  /** Names in the document that look like it. */
  readonly suggestions?: readonly string[];
}

/** `switched_off`: its capability is, so that the call is never made and was not looked at. */
export type CallStatus = 'matches' | 'differs' | 'missing' | 'switched_off';

export interface CallReport {
  readonly name: EndpointName;
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly status: CallStatus;
  /** The path as the document has it, where that differs. */
  readonly foundAs?: string;
  /** What it would mean to switch the call off, where that can be done. */
  readonly capability?: Capability;
  readonly findings: readonly Finding[];
}

export interface EventReport {
  readonly event: EventKind;
  /** `missing`: other events are described, and not this one. `not_described`: none is, or not its body. */
  readonly status: 'matches' | 'differs' | 'missing' | 'not_described';
  readonly findings: readonly Finding[];
}

export interface ContractReport {
  /** True when nothing that we need is missing. */
  readonly compatible: boolean;
  readonly document: { readonly openapi: string; readonly title?: string; readonly version?: string };
  /** What is of the document as a whole: its servers, and the headers of its events. */
  readonly findings: readonly Finding[];
  readonly calls: readonly CallReport[];
  readonly events: readonly EventReport[];
  /** Capabilities to switch off that would make it compatible; empty where that would not be enough. */
  readonly switchOff: readonly Capability[];
}

type AddFinding = (
  part: Finding['part'],
  name: string | undefined,
  message: string,
  suggestions?: readonly string[],
) => void;

/** Collects findings of one call; each only once. */
export class Findings {
  readonly #all = new Map<string, Finding>();

  readonly breaking: AddFinding = (...finding) => this.#add('breaking', ...finding);
  readonly note: AddFinding = (...finding) => this.#add('note', ...finding);

  /** The breaking ones first. */
  all(): readonly Finding[] {
    return [...this.#all.values()].toSorted((left, right) => RANK[left.severity] - RANK[right.severity]);
  }

  #add(severity: Finding['severity'], ...[part, name, message, suggestions = []]: Parameters<AddFinding>): void {
    const finding: Finding = {
      severity,
      part,
      ...(name === undefined ? {} : { name }),
      message,
      ...(suggestions.length === 0 ? {} : { suggestions }),
    };
    this.#all.set(JSON.stringify(finding), finding);
  }
}

const RANK = { breaking: 0, note: 1 } as const;

/** Of a field that decides by its words: a document that does not list them cannot show that they are ours. */
export const WORDS_NOT_LISTED = 'is not described with its words';

export function isBreaking(finding: Finding): boolean {
  return finding.severity === 'breaking';
}
