import * as z from 'zod';
import type { Behaviour } from '#simulator/behaviour/behaviours.ts';
import type { ItemChange } from '#simulator/store/rows.ts';
import type { Store } from '#simulator/store/store.ts';

export const CURRENCY = 'USD';

interface Item {
  readonly id: number;
  readonly price: string;
  readonly available: boolean;
}

export class Catalogue<Sold extends Item> {
  readonly #kind: 'package' | 'vpn_plan';
  readonly #schema: z.ZodType<Sold>;
  readonly #first: ReadonlyMap<number, Sold>;
  /** Reading thousands for each page would be slow. */
  readonly #parsed = new Map<string, Sold>();
  readonly #store: Store;

  constructor(store: Store, kind: 'package' | 'vpn_plan', schema: z.ZodType<Sold>, items: readonly Sold[]) {
    this.#kind = kind;
    this.#schema = schema;
    this.#first = new Map(items.map((item) => [item.id, item]));
    this.#store = store;
  }

  list(): Sold[] {
    const rows = this.#store.rows('item_changes', 'WHERE kind = :kind', { kind: this.#kind });
    const changes = new Map(rows.map((change) => [change.id, change]));
    return [...new Set([...this.#first.keys(), ...changes.keys()])]
      .filter((id) => changes.get(id)?.removed !== 1)
      .toSorted((left, right) => left - right)
      .flatMap((id) => this.#changed(id, changes.get(id)) ?? []);
  }

  get(id: number): Sold | undefined {
    const change = this.#change(id);
    return change?.removed === 1 ? undefined : this.#changed(id, change);
  }

  /** What was sold keeps its terms, so removed items count, too. */
  everSold(id: number): Sold {
    const item = this.#changed(id, this.#change(id));
    if (item === undefined) throw new Error(`There is no ${this.#kind} ${id}.`);
    return item;
  }

  change(
    id: number,
    { price, available }: { price?: string | undefined; available?: boolean | undefined },
  ): Sold | undefined {
    if (this.get(id) === undefined) return undefined;
    this.#write(id, { price: price ?? null, available: available === undefined ? null : Number(available) });
    return this.get(id);
  }

  add(item: Sold): Sold {
    const { id, price, available } = item;
    this.#write(id, { price, available: Number(available), removed: 0, added: JSON.stringify(item) });
    return item;
  }

  remove(id: number): boolean {
    if (this.get(id) === undefined) return false;
    this.#write(id, { removed: 1 });
    return true;
  }

  #change(id: number): ItemChange | undefined {
    return this.#store.get('item_changes', { kind: this.#kind, id });
  }

  #write(id: number, change: Partial<ItemChange>): void {
    this.#store.run(
      `INSERT INTO item_changes (kind, id, price, available, removed, added)
       VALUES (:kind, :id, :price, :available, :removed, :added)
       ON CONFLICT (kind, id) DO UPDATE SET price = coalesce(excluded.price, price),
         available = coalesce(excluded.available, available), removed = coalesce(excluded.removed, removed),
         added = coalesce(excluded.added, added)`,
      { kind: this.#kind, id, price: null, available: null, removed: null, added: null, ...change },
    );
  }

  #read(added: string): Sold {
    const known = this.#parsed.get(added);
    if (known !== undefined) return known;
    const item = this.#schema.parse(JSON.parse(added));
    this.#parsed.set(added, item);
    return item;
  }

  #changed(id: number, change: ItemChange | undefined): Sold | undefined {
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

export const addedPackage = z.object({
  id: z.number(),
  name: z.string(),
  /** ISO 3166-1 alpha-2 codes. */
  countries: z.array(z.string()).readonly(),
  /** Megabytes; null means unlimited. */
  dataMb: z.number().nullable(),
  validityDays: z.number(),
  price: z.string(),
  publicPrice: z.string(),
  available: z.boolean(),
});

/** A rule of the admin API overrides it. */
interface Behaving {
  readonly behaviour?: Behaviour;
}

export type CataloguePackage = Readonly<z.output<typeof addedPackage>> & Behaving;

const GB = 1_024;

const EUROPE = 'AT BE CH CZ DE DK ES FI FR GB GR HU IE IT NL NO PL PT SE';
const ASIA = 'ID JP KR MY PH SG TH TW VN';
const AMERICAS = 'AR BR CA CL CO MX PE US';

/** Id, place, country codes, then data in MB (null: unlimited), days and price. */
const SOLD: readonly (readonly [number, string, string, number | null, number, string])[] = [
  [1001, 'Spain', 'ES', GB, 7, '2.40'],
  [1002, 'Spain', 'ES', 3 * GB, 30, '5.10'],
  [1003, 'Spain', 'ES', 10 * GB, 30, '11.90'],
  [1004, 'Italy', 'IT', GB, 7, '2.35'],
  [1005, 'Italy', 'IT', 5 * GB, 30, '7.25'],
  [1006, 'France', 'FR', GB, 7, '2.55'],
  [1007, 'France', 'FR', 10 * GB, 30, '12.40'],
  [1008, 'Germany', 'DE', GB, 7, '2.60'],
  [1009, 'Germany', 'DE', 5 * GB, 30, '8.10'],
  [1010, 'United Kingdom', 'GB', 3 * GB, 30, '5.45'],
  [1011, 'United Kingdom', 'GB', null, 10, '19.00'],
  [1012, 'Portugal', 'PT', 3 * GB, 15, '4.875'],
  [1013, 'Greece', 'GR', 5 * GB, 30, '7.95'],
  [1014, 'Turkey', 'TR', GB, 7, '2.15'],
  [1015, 'Turkey', 'TR', 10 * GB, 30, '13.20'],
  [1016, 'Switzerland', 'CH', GB, 7, '3.90'],
  [1017, 'Netherlands', 'NL', 5 * GB, 30, '8.05'],
  [1018, 'United States', 'US', GB, 7, '3.05'],
  [1019, 'United States', 'US', 10 * GB, 30, '17.50'],
  [1020, 'United States', 'US', null, 15, '34.00'],
  [1021, 'Canada', 'CA', 3 * GB, 30, '8.6250'],
  [1022, 'Mexico', 'MX', 3 * GB, 30, '9.30'],
  [1023, 'Brazil', 'BR', GB, 7, '4.15'],
  [1024, 'Argentina', 'AR', 2 * GB, 15, '6.80'],
  [1025, 'Japan', 'JP', GB, 7, '2.45'],
  [1026, 'Japan', 'JP', 10 * GB, 30, '14.10'],
  [1027, 'Japan', 'JP', null, 7, '18.75'],
  [1028, 'South Korea', 'KR', 5 * GB, 30, '9.05'],
  [1029, 'Thailand', 'TH', 3 * GB, 10, '3.3333'],
  [1030, 'Thailand', 'TH', 50 * GB, 10, '9.99'],
  [1031, 'Vietnam', 'VN', 3 * GB, 10, '3.60'],
  [1032, 'Indonesia', 'ID', 5 * GB, 30, '7.40'],
  [1033, 'Singapore', 'SG', 5 * GB, 15, '6.20'],
  [1034, 'India', 'IN', 3 * GB, 28, '6.55'],
  [1035, 'Australia', 'AU', 5 * GB, 30, '9.85'],
  [1036, 'United Arab Emirates', 'AE', GB, 7, '4.70'],
  [1037, 'Egypt', 'EG', GB, 7, '4.05'],
  [1038, 'Morocco', 'MA', GB, 7, '4.30'],
  [1039, 'South Africa', 'ZA', 3 * GB, 30, '10.25'],
  [2001, 'Europe', EUROPE, GB, 7, '3.20'],
  [2002, 'Europe', EUROPE, 10 * GB, 30, '16.80'],
  [2003, 'Europe', EUROPE, null, 15, '39.50'],
  [2004, 'Asia', ASIA, 5 * GB, 30, '12.60'],
  [2005, 'Americas', AMERICAS, 5 * GB, 30, '18.20'],
  [2006, 'World', `${EUROPE} ${ASIA} ${AMERICAS}`, 3 * GB, 30, '19.75'],
];

export const PACKAGES: readonly CataloguePackage[] = [
  ...SOLD.map(([id, place, codes, dataMb, validityDays, price]) => {
    const data = dataMb === null ? 'unlimited' : `${dataMb / GB} GB`;
    const name = `${place} ${data}, ${validityDays} days`;
    const countries = codes.split(' ');
    return { id, name, countries, dataMb, validityDays, price, publicPrice: publicPriceOf(price), available: true };
  }),
  ...special(9000, 'completed').map((item) => {
    const price = '1.50';
    return { ...item, countries: ['ES'], dataMb: GB, validityDays: 7, price, publicPrice: publicPriceOf(price) };
  }),
];

/** 9001 to 9006 and 391 to 396: `docs/simulator.md` lists them. @param end of a purchase that succeeds. */
function special(base: number, end: string) {
  const item = (number: number, what: string, behaviour: Behaviour, available = true) => ({
    id: base + number,
    name: `Simulation: ${what}`,
    available,
    behaviour,
  });
  return [
    item(1, `processing, then ${end}`, { outcome: 'processing_then_completed' }),
    item(2, 'processing, then failed and credited back', { outcome: 'processing_then_failed' }),
    item(3, 'failed at once and credited back', { outcome: 'failed_at_once' }),
    item(4, 'stays processing', { outcome: 'stay_processing' }),
    item(5, 'processing, then failed without a credit', { outcome: 'processing_then_failed', credit_after_ms: null }),
    item(6, 'unavailable', { outcome: 'completed' }, false),
  ];
}

/** Times 1.5, rounded up to the next .99. */
export function publicPriceOf(price: string): string {
  return (Math.ceil(Number(price) * 1.5) - 0.01).toFixed(2);
}

export const addedPlan = z.object({
  id: z.number(),
  name: z.string(),
  durationDays: z.number(),
  price: z.string(),
  available: z.boolean(),
});

export type VpnPlanItem = Readonly<z.output<typeof addedPlan>> & Behaving;

export const VPN_PLANS: readonly VpnPlanItem[] = [
  { id: 301, name: 'VPN, 30 days', durationDays: 30, price: '2.90', available: true },
  { id: 302, name: 'VPN, 90 days', durationDays: 90, price: '7.425', available: true },
  { id: 303, name: 'VPN, 365 days', durationDays: 365, price: '24.00', available: true },
  ...special(390, 'active').map((item) => ({ ...item, durationDays: 30, price: '1.90' })),
];
