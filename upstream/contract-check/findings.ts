import type { Capability } from '#domain/service/capability-profile.ts';
import { listAt, textAt } from '#upstream/contract-check/document.ts';
import { type EndpointName, type EventKind, NEEDED_FOR, NEEDED_UNLESS } from '#upstream/contract.ts';

/** *breaking*: the document lacks what we need, or requires what we do not send. *note*: the product works with it. */
export interface Finding {
  readonly severity: 'breaking' | 'note';
  readonly part: 'call' | 'parameters' | 'request' | 'answer' | 'servers' | 'events' | 'event headers';
  readonly name?: string;
  readonly message: string;
  readonly suggestions?: readonly string[];
}

export type CallStatus = 'matches' | 'differs' | 'missing' | 'switched_off';

export interface CallReport {
  readonly name: EndpointName;
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly status: CallStatus;
  readonly foundAs?: string;
  readonly capability?: Capability;
  readonly findings: readonly Finding[];
}

export interface EventReport {
  readonly event: EventKind;
  /** `missing`: other events are described. `undocumented`: no events are, or not this body. */
  readonly status: 'matches' | 'differs' | 'missing' | 'undocumented';
  readonly findings: readonly Finding[];
}

export interface ContractReport {
  readonly compatible: boolean;
  readonly document: { readonly openapi: string; readonly title?: string; readonly version?: string };
  readonly findings: readonly Finding[];
  readonly calls: readonly CallReport[];
  readonly events: readonly EventReport[];
  /** Their removal makes the document compatible; empty when that is not enough. */
  readonly switchOff: readonly Capability[];
}

type AddFinding = (
  part: Finding['part'],
  name: string | undefined,
  message: string,
  suggestions?: readonly string[],
) => void;

export class Findings {
  readonly #all = new Map<string, Finding>();

  readonly breaking: AddFinding = (...finding) => this.#add('breaking', ...finding);
  readonly note: AddFinding = (...finding) => this.#add('note', ...finding);

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

/** Without the listed values, a document cannot show that they are ours. */
export const VALUES_NOT_LISTED = 'is described without its possible values';

export function isBreaking(finding: Finding): boolean {
  return finding.severity === 'breaking';
}

export interface Need {
  readonly purpose: string;
  readonly alternatives: readonly string[];
  /** Equal for all fields of which one is enough. */
  readonly key: string;
}

export function needOf(name: string, schema: unknown): Need | undefined {
  const purpose = textAt(schema, NEEDED_FOR);
  if (purpose === undefined) return undefined;
  const alternatives = listAt(schema, NEEDED_UNLESS).filter((each) => typeof each === 'string');
  return { purpose, alternatives, key: JSON.stringify([purpose, ...[name, ...alternatives].toSorted()]) };
}

export interface Source {
  /** *read*: a GET; *event*: may not come; *write*: the answer to a purchase; *aside*: nothing depends on it. */
  readonly role: 'read' | 'event' | 'write' | 'aside';
  /** The answer can show every state; an event shows one. */
  readonly isWhole: boolean;
  readonly searchedBy: readonly string[];
}

type Report = (severity: Finding['severity'], message: string) => void;

/** Any read or event may have a needed field, so its absence is judged after all were compared. */
export class Needs {
  readonly #carried = new Set<string>();
  readonly #carriedByEvents = new Set<string>();
  readonly #lacking: (Pick<Need, 'key' | 'purpose'> & Pick<Source, 'role'> & { readonly report: Report })[] = [];

  carried({ role }: Source, { key }: Need): void {
    if (role === 'read') this.#carried.add(key);
    if (role === 'event') this.#carriedByEvents.add(key);
  }

  /** @param report called in {@link settle}, or at once for a field that a list is searched by. */
  lacking({ role, searchedBy }: Source, name: string, { key, purpose }: Need, report: Report): void {
    if (role === 'aside') return;
    if (searchedBy.includes(name)) report('breaking', `is missing, and is needed for ${purpose}`);
    else this.#lacking.push({ key, purpose, role, report });
  }

  /** A field of events alone is not enough: a lost event would leave a paid purchase without it. */
  settle(): void {
    const lackedByReads = new Set(this.#lacking.filter(({ role }) => role === 'read').map(({ key }) => key));
    for (const { key, purpose, role, report } of this.#lacking) {
      const isInEvents = this.#carriedByEvents.has(key);
      const isJudgedHere = role === 'read' || (role === 'event' ? !isInEvents : !lackedByReads.has(key));
      const only = isInEvents ? ' in every read, which an event cannot replace' : '';
      if (this.#carried.has(key)) report('note', 'is missing here; another answer has it');
      else if (isJudgedHere) report('breaking', `is missing${only}, and is needed for ${purpose}`);
      else report('note', 'is missing here and in every read');
    }
  }
}
