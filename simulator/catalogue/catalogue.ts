import * as z from 'zod';
import type { Store } from '#simulator/store/store.ts';

/** The currency of all prices and both wallets. */
export const CURRENCY = 'USD';

const row = z.object({ id: z.number(), price: z.string().nullable(), available: z.number().nullable() });

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
  readonly #items: readonly Sold[];
  readonly #byId: ReadonlyMap<number, Sold>;
  readonly #all;
  readonly #one;
  readonly #change;

  /** @param items in the order of their ids. */
  constructor(store: Store, kind: 'package' | 'vpn_plan', items: readonly Sold[]) {
    this.#kind = kind;
    this.#items = items;
    this.#byId = new Map(items.map((item) => [item.id, item]));
    this.#all = store.query(row, 'SELECT id, price, available FROM item_changes WHERE kind = :kind');
    this.#one = store.query(row, 'SELECT id, price, available FROM item_changes WHERE kind = :kind AND id = :id');
    this.#change = store.command(
      `INSERT INTO item_changes (kind, id, price, available) VALUES (:kind, :id, :price, :available)
       ON CONFLICT (kind, id) DO UPDATE SET price = coalesce(excluded.price, price),
         available = coalesce(excluded.available, available)`,
    );
  }

  /** All items in the order of their ids. */
  list(): Sold[] {
    const changes = new Map(this.#all.all({ kind: this.#kind }).map((change) => [change.id, change]));
    return this.#items.map((item) => changed(item, changes.get(item.id)));
  }

  get(id: number): Sold | undefined {
    const item = this.#byId.get(id);
    return item === undefined ? undefined : changed(item, this.#one.get({ kind: this.#kind, id }));
  }

  /** @returns the changed item; undefined when no item has this id. */
  change(id: number, { price, available }: ItemChange): Sold | undefined {
    if (!this.#byId.has(id)) return undefined;
    const change = { price: price ?? null, available: available === undefined ? null : Number(available) };
    this.#change.run({ kind: this.#kind, id, ...change });
    return this.get(id);
  }
}

function changed<Sold extends Item>(item: Sold, change: z.output<typeof row> | undefined): Sold {
  if (change === undefined) return item;
  return {
    ...item,
    price: change.price ?? item.price,
    available: change.available === null ? item.available : change.available === 1,
  };
}
