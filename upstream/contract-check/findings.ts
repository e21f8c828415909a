import type { Capability } from '#domain/service/capability-profile.ts';
import type { EndpointName, EventKind } from '#upstream/contract.ts';

/**
 * One difference between document and contract. *breaking*: the document lacks something that we need, or requires
 * something that we do not send. *note*: the product works with this difference.
 */
export interface Finding {
  readonly severity: 'breaking' | 'note';
  /** The part of the document with the difference. */
  readonly part: 'call' | 'parameters' | 'request' | 'answer' | 'servers' | 'events' | 'event headers';
  /** The field or parameter with the difference, such as `data[].price_for_reseller`. */
  readonly name?: string;
  /** A clause; it follows the name, if there is one. */
  readonly message: string;
  /** Similar names in the document. */
  readonly suggestions?: readonly string[];
}

/** `switched_off`: the capability of the call is off, so it is neither made nor compared. */
export type CallStatus = 'matches' | 'differs' | 'missing' | 'switched_off';

export interface CallReport {
  readonly name: EndpointName;
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly status: CallStatus;
  /** The path in the document, if it differs from ours. */
  readonly foundAs?: string;
  /** The capability that switches the call off, if it has one. */
  readonly capability?: Capability;
  readonly findings: readonly Finding[];
}

export interface EventReport {
  readonly event: EventKind;
  /**
   * `missing`: the document describes other events, but not this one. `undocumented`: it describes no events, or not
   * this body.
   */
  readonly status: 'matches' | 'differs' | 'missing' | 'undocumented';
  readonly findings: readonly Finding[];
}

export interface ContractReport {
  /** True when nothing that we need is missing. */
  readonly compatible: boolean;
  readonly document: { readonly openapi: string; readonly title?: string; readonly version?: string };
  /** Findings about the whole document: its servers, and the headers of its events. */
  readonly findings: readonly Finding[];
  readonly calls: readonly CallReport[];
  readonly events: readonly EventReport[];
  /** Capabilities whose removal would make the document compatible; empty when removing them is not enough. */
  readonly switchOff: readonly Capability[];
}

type AddFinding = (
  part: Finding['part'],
  name: string | undefined,
  message: string,
  suggestions?: readonly string[],
) => void;

/** Collects the findings of one call, without duplicates. */
export class Findings {
  readonly #all = new Map<string, Finding>();

  readonly breaking: AddFinding = (...finding) => this.#add('breaking', ...finding);
  readonly note: AddFinding = (...finding) => this.#add('note', ...finding);

  /** All findings, breaking ones first. */
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

/** Finding of a field whose values matter: the document does not list them, so it cannot show that they are ours. */
export const VALUES_NOT_LISTED = 'is described without its possible values';

/** True for a difference that stops the product from working. */
export function isBreaking(finding: Finding): boolean {
  return finding.severity === 'breaking';
}
