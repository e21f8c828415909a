import * as z from 'zod';
import type { Query, Store } from '#simulator/store/store.ts';

/** Last digit of the numbers of each table, so that no two things have the same number. */
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

/** Numbers that stand for ids in text, for shapes whose ids are numbers: stable, and different for all things. */
export class IdNumbers {
  readonly #tables: readonly NumberedTable[];

  constructor(store: Store) {
    this.#tables = TABLES.map(([digit, table]) => ({
      digit,
      bySequence: store.query(id, `SELECT id FROM ${table} WHERE sequence = :sequence`),
      byId: store.query(sequence, `SELECT sequence FROM ${table} WHERE id = :id`),
    }));
  }

  /** @returns undefined for an id that nothing has. */
  numberOf(text: string): number | undefined {
    for (const { digit, byId } of this.#tables) {
      const found = byId.get({ id: text });
      if (found !== undefined) return found.sequence * 10 + digit;
    }
    return undefined;
  }

  /** @returns the id that a number stands for, or what was given when it stands for none. */
  textOf(given: string): string {
    if (!/^[1-9]\d{1,14}$/.test(given)) return given;
    const digit = Number(given) % 10;
    const table = this.#tables.find((each) => each.digit === digit);
    return table?.bySequence.get({ sequence: Math.floor(Number(given) / 10) })?.id ?? given;
  }
}
