/**
 * Fields that the product needs in some answer, although each single answer may lack them (`neededFor` in the
 * contract).
 */
import { listAt, textAt } from '#upstream/contract-check/schema/document.ts';
import { NEEDED_FOR, NEEDED_UNLESS } from '#upstream/contract.ts';

/** The need for one field, as marked in the contract. */
export interface Need {
  readonly purpose: string;
  readonly alternatives: readonly string[];
  /** Equal for all fields of which one is enough, at any place. */
  readonly key: string;
}

/** @returns the need marked on a schema of the contract; undefined when it has no mark. */
export function needOf(name: string, schema: unknown): Need | undefined {
  const purpose = textAt(schema, NEEDED_FOR);
  if (purpose === undefined) return undefined;
  const alternatives = listAt(schema, NEEDED_UNLESS).filter((each) => typeof each === 'string');
  return { purpose, alternatives, key: JSON.stringify([purpose, ...[name, ...alternatives].toSorted()]) };
}

/** The call or event whose answer is compared. */
export interface Source {
  /**
   * *read*: a GET, which reports the result of work; *event*: a report that may not come; *write*: the answer to a
   * purchase; *aside*: an answer that nothing depends on.
   */
  readonly role: 'read' | 'event' | 'write' | 'aside';
  /** True when the answer can show every state; an event shows one. */
  readonly isWhole: boolean;
  /** Fields by which a list is filtered; without them nothing can be found in it. */
  readonly searchedBy: readonly string[];
}

interface Lack extends Pick<Need, 'key' | 'purpose'> {
  readonly role: Source['role'];
  readonly report: Report;
}

type Report = (severity: 'breaking' | 'note', message: string) => void;

/**
 * Collects which answers have the needed fields. An order's eSIM, for example, may come with any read or event, so its
 * absence in one of them can be judged only after all were compared.
 */
export class Needs {
  readonly #carried = new Set<string>();
  readonly #carriedByEvents = new Set<string>();
  readonly #lacking: Lack[] = [];

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

  /**
   * Reports the collected absences. If no read exists that could have the field, the answer to the purchase counts. A
   * field of events alone is not enough: a lost event would leave a paid purchase without it.
   */
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
