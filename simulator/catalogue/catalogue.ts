import * as z from 'zod';
import type { Store } from '#simulator/store/store.ts';

/** The currency of all prices and both wallets. */
export const CURRENCY = 'USD';

const row = z.object({
  id: z.number(),
  price: z.string().nullable(),
  available: z.number().nullable(),
  removed: z.number().nullable(),
  added: z.string().nullable(),
});
type Change = z.output<typeof row>;

/** A change of a package or VPN plan by the admin API. */
export interface ItemChange {
  readonly price?: string | undefined;
  readonly available?: boolean | undefined;
}

interface Item {
  readonly id: number;
  readonly price: string;
  readonly available: boolean;
}

/** A list of items for sale, with the changes of the admin API applied. */
export class Catalogue<Sold extends Item> {
  readonly #kind: 'package' | 'vpn_plan';
  readonly #schema: z.ZodType<Sold>;
  readonly #first: ReadonlyMap<number, Sold>;
  /** Added items by their text: reading thousands of them for each page would be slow. */
  readonly #parsed = new Map<string, Sold>();
  readonly #all;
  readonly #one;
  readonly #change;

  /**
   * @param schema of items that the admin API adds.
   * @param items those of a first start.
   */
  constructor(store: Store, kind: 'package' | 'vpn_plan', schema: z.ZodType<Sold>, items: readonly Sold[]) {
    this.#kind = kind;
    this.#schema = schema;
    this.#first = new Map(items.map((item) => [item.id, item]));
    const columns = 'id, price, available, removed, added';
    this.#all = store.query(row, `SELECT ${columns} FROM item_changes WHERE kind = :kind`);
    this.#one = store.query(row, `SELECT ${columns} FROM item_changes WHERE kind = :kind AND id = :id`);
    this.#change = store.command(
      `INSERT INTO item_changes (kind, id, price, available, removed, added)
       VALUES (:kind, :id, :price, :available, :removed, :added)
       ON CONFLICT (kind, id) DO UPDATE SET price = coalesce(excluded.price, price),
         available = coalesce(excluded.available, available), removed = coalesce(excluded.removed, removed),
         added = coalesce(excluded.added, added)`,
    );
  }

  /** All listed items in the order of their ids. */
  list(): Sold[] {
    const changes = new Map(this.#all.all({ kind: this.#kind }).map((change) => [change.id, change]));
    return [...new Set([...this.#first.keys(), ...changes.keys()])]
      .filter((id) => changes.get(id)?.removed !== 1)
      .toSorted((left, right) => left - right)
      .flatMap((id) => this.#changed(id, changes.get(id)) ?? []);
  }

  /** A listed item. */
  get(id: number): Sold | undefined {
    return this.#one.get({ kind: this.#kind, id })?.removed === 1 ? undefined : this.everSold(id);
  }

  /** An item, also a removed one: what was sold keeps its terms. */
  everSold(id: number): Sold | undefined {
    return this.#changed(id, this.#one.get({ kind: this.#kind, id }));
  }

  /** @returns the changed item; undefined when no listed item has this id. */
  change(id: number, { price, available }: ItemChange): Sold | undefined {
    if (this.get(id) === undefined) return undefined;
    this.#write(id, { price: price ?? null, available: available === undefined ? null : Number(available) });
    return this.get(id);
  }

  /** Lists an item, in place of an earlier one with its id. */
  add(item: Sold): Sold {
    const { id, price, available } = item;
    this.#write(id, { price, available: Number(available), removed: 0, added: JSON.stringify(item) });
    return item;
  }

  /** @returns false when no listed item has this id. */
  remove(id: number): boolean {
    if (this.get(id) === undefined) return false;
    this.#write(id, { removed: 1 });
    return true;
  }

  #write(id: number, change: Partial<Omit<Change, 'id'>>): void {
    this.#change.run({ kind: this.#kind, id, price: null, available: null, removed: null, added: null, ...change });
  }

  #read(added: string): Sold {
    const known = this.#parsed.get(added);
    if (known !== undefined) return known;
    const item = this.#schema.parse(JSON.parse(added));
    this.#parsed.set(added, item);
    return item;
  }

  #changed(id: number, change: Change | undefined): Sold | undefined {
    const added = change?.added ?? null;
    const item = added === null ? this.#first.get(id) : this.#read(added);
    if (item === undefined || change === undefined) return item;
    return {
      ...item,
      price: change.price ?? item.price,
      available: change.available === null ? item.available : change.available === 1,
    };
  }
}
