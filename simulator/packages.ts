import * as z from 'zod';
import { CATALOGUE, type CataloguePackage } from '#simulator/catalogue.ts';
import type { Store } from '#simulator/store/store.ts';

const row = z.object({ packageId: z.number(), price: z.string().nullable(), available: z.number().nullable() });

/** What the admin API changes about a package. */
export interface PackageChange {
  readonly price?: string | undefined;
  readonly available?: boolean | undefined;
}

const byId = new Map(CATALOGUE.map((item) => [item.id, item]));

/** The catalogue with the changes of the admin API. */
export class Packages {
  readonly #all;
  readonly #one;
  readonly #change;

  constructor(store: Store) {
    this.#all = store.query(row, 'SELECT * FROM package_changes');
    this.#one = store.query(row, 'SELECT * FROM package_changes WHERE package_id = :id');
    this.#change = store.command(
      `INSERT INTO package_changes (package_id, price, available) VALUES (:id, :price, :available)
       ON CONFLICT (package_id) DO UPDATE SET price = coalesce(excluded.price, price),
         available = coalesce(excluded.available, available)`,
    );
  }

  /** In the order of their ids. */
  list(): CataloguePackage[] {
    const changes = new Map(this.#all.all().map((change) => [change.packageId, change]));
    return CATALOGUE.map((item) => changed(item, changes.get(item.id)));
  }

  get(id: number): CataloguePackage | undefined {
    const item = byId.get(id);
    return item === undefined ? undefined : changed(item, this.#one.get({ id }));
  }

  /** @returns undefined when there is no such package. */
  change(id: number, { price, available }: PackageChange): CataloguePackage | undefined {
    if (!byId.has(id)) return undefined;
    this.#change.run({ id, price: price ?? null, available: available === undefined ? null : Number(available) });
    return this.get(id);
  }
}

function changed(item: CataloguePackage, change: z.output<typeof row> | undefined): CataloguePackage {
  if (change === undefined) return item;
  return {
    ...item,
    price: change.price ?? item.price,
    available: change.available === null ? item.available : change.available === 1,
  };
}
