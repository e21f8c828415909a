import * as z from 'zod';
import type { Query, Store } from '#simulator/store/store.ts';

/** Last digit of the numbers of each table, so that numbers are unique across tables. */
const TABLES = [
  [1, 'sales'],
  [2, 'esims'],
  [3, 'refunds'],
  [4, 'ledger'],
] as const;

const sequence = z.object({ sequence: z.number() });
const id = z.object({ id: z.string() });

interface NumberedTable {
  readonly digit: number;
  readonly bySequence: Query<{ id: string }>;
  readonly byId: Query<{ sequence: number }>;
}

/** Converts ids to numbers, for shapes with numeric ids. The numbers are stable and unique. */
export class IdNumbers {
  readonly #tables: readonly NumberedTable[];

  constructor(store: Store) {
    this.#tables = TABLES.map(([digit, table]) => ({
      digit,
      bySequence: store.query(id, `SELECT id FROM ${table} WHERE sequence = :sequence`),
      byId: store.query(sequence, `SELECT sequence FROM ${table} WHERE id = :id`),
    }));
  }

  /** @returns undefined for an unknown id. */
  numberOf(text: string): number | undefined {
    for (const { digit, byId } of this.#tables) {
      const found = byId.get({ id: text });
      if (found !== undefined) return found.sequence * 10 + digit;
    }
    return undefined;
  }

  /** @returns the id of a number, or the given text when no id has this number. */
  textOf(given: string): string {
    if (!/^[1-9]\d{1,14}$/.test(given)) return given;
    const digit = Number(given) % 10;
    const table = this.#tables.find((each) => each.digit === digit);
    return table?.bySequence.get({ sequence: Math.floor(Number(given) / 10) })?.id ?? given;
  }
}
