/** Fields that the product depends on although single answers may lack them (`neededFor` in the contract). */
import { listAt, textAt } from '#upstream/contract-check/schema/document.ts';
import { NEEDED_FOR, NEEDED_UNLESS } from '#upstream/contract.ts';

/** What the contract says of such a field. */
export interface Need {
  readonly purpose: string;
  readonly alternatives: readonly string[];
  /** The same for the fields of which one is enough, wherever they are. */
  readonly key: string;
}

/** @returns undefined for a schema of the contract without the mark. */
export function needOf(name: string, schema: unknown): Need | undefined {
  const purpose = textAt(schema, NEEDED_FOR);
  if (purpose === undefined) return undefined;
  const alternatives = listAt(schema, NEEDED_UNLESS).filter((each) => typeof each === 'string');
  return { purpose, alternatives, key: JSON.stringify([purpose, ...[name, ...alternatives].toSorted()]) };
}

/** Where an answer stands that may carry such fields. */
export interface Source {
  /**
   * *read*: a GET or an event, which tells what became of the work; *write*: the answer to a purchase; *aside*: one
   * that nothing depends on.
   */
  readonly role: 'read' | 'write' | 'aside';
  /** True where every state can be seen; an event tells of one. */
  readonly isWhole: boolean;
  /** Fields that a list is filtered by: without them nothing can be found in it. */
  readonly searchedBy: readonly string[];
}

interface Lack extends Pick<Need, 'key' | 'purpose'> {
  readonly role: Source['role'];
  readonly report: Report;
}

type Report = (severity: 'breaking' | 'note', message: string) => void;

/**
 * Collects which answers carry what is needed. An order's eSIM may come with any read or event, so that its absence in
 * one of them can be judged only when all have been seen.
 */
export class Needs {
  readonly #carried = new Set<string>();
  readonly #lacking: Lack[] = [];

  carried({ role }: Source, { key }: Need): void {
    if (role === 'read') this.#carried.add(key);
  }

  /** @param report is called when all have been seen, or at once. */
  lacking({ role, searchedBy }: Source, name: string, { key, purpose }: Need, report: Report): void {
    if (role === 'aside') return;
    if (searchedBy.includes(name)) report('breaking', `is missing, and is needed for ${purpose}`);
    else this.#lacking.push({ key, purpose, role, report });
  }

  /** Reports what was collected. Where no read is there that could have it, the answer to the purchase counts. */
  settle(): void {
    const lackedByReads = new Set(this.#lacking.filter(({ role }) => role === 'read').map(({ key }) => key));
    for (const { key, purpose, role, report } of this.#lacking) {
      const isJudgedHere = role === 'read' || !lackedByReads.has(key);
      if (this.#carried.has(key)) report('note', 'is missing here; another answer or event has it');
      else if (isJudgedHere) report('breaking', `is missing, and is needed for ${purpose}`);
      else report('note', 'is missing here and in every read');
    }
  }
}
