import { equalMoney, type Money } from '#domain/money/money.ts';

export const CATALOGUES = ['packages', 'vpn_plans'] as const;

export type CatalogueName = (typeof CATALOGUES)[number];

export interface CatalogueItem {
  readonly id: number;
  readonly name: string;
  /** Days of validity, or of one period; null: not known. */
  readonly days: number | null;
  readonly price: Money;
  readonly available: boolean;
}

export interface CataloguePackage extends CatalogueItem {
  readonly countries: readonly string[];
  readonly dataMb: number | null;
  readonly unlimited: boolean | null;
  readonly publicPrice: Money | null;
}

export interface CatalogueItems {
  readonly packages: CataloguePackage;
  readonly vpn_plans: CatalogueItem;
}

export interface ReadCatalogue<Item extends CatalogueItem> {
  readonly items: readonly Item[];
  /** False when there may be more items. Then a missing item proves nothing. */
  readonly complete: boolean;
  /** Ids of items whose public price was not read, so that it is not known to have changed. */
  readonly withoutPublicPrice?: ReadonlySet<number>;
}

/** `incomplete`: nothing was removed because of it. `suspicious`: it lacks too much, and changed nothing. */
export const READING_VERDICTS = ['recorded', 'incomplete', 'suspicious'] as const;

export type ReadingVerdict = (typeof READING_VERDICTS)[number];

export interface KnownItem<Item> {
  readonly item: Item;
  readonly isRemoved: boolean;
}

export type CatalogueChange<Item> =
  | { readonly kind: 'created'; readonly before: Item | undefined; readonly after: Item }
  | { readonly kind: 'changed'; readonly before: Item; readonly after: Item }
  | { readonly kind: 'removed'; readonly before: Item; readonly after: Item };

export interface ReadingResult<Item> {
  readonly verdict: ReadingVerdict;
  readonly changes: readonly CatalogueChange<Item>[];
  /** Ids of known items that a complete reading lacks. */
  readonly missing: readonly number[];
}

/**
 * @param suspected ids that the last complete reading lacked, if it was suspicious: a second one confirms them.
 * @param maxDropShare share of the items that may disappear without confirmation, from 0 to 1.
 */
export function readingResult<Item extends CatalogueItem>(
  known: readonly KnownItem<Item>[],
  { items, complete }: ReadCatalogue<Item>,
  { suspected, maxDropShare }: { readonly suspected: ReadonlySet<number>; readonly maxDropShare: number },
): ReadingResult<Item> {
  // A list may show an item on two of its pages.
  const read = new Map(items.toReversed().map((item) => [item.id, item]));
  const listed = known.filter(({ isRemoved }) => !isRemoved);
  const gone = complete ? listed.filter(({ item }) => !read.has(item.id)) : [];
  const missing = gone.map(({ item }) => item.id);
  const unconfirmed = missing.filter((id) => !suspected.has(id));
  if (unconfirmed.length > maxDropShare * listed.length) return { verdict: 'suspicious', changes: [], missing };
  const before = new Map(known.map((each) => [each.item.id, each]));
  const changes = [
    ...[...new Set(items.map(({ id }) => id))].flatMap((id) => changeOf(before.get(id), read.get(id)) ?? []),
    ...gone.map(({ item }) => ({ kind: 'removed', before: item, after: { ...item, available: false } }) as const),
  ];
  return { verdict: complete ? 'recorded' : 'incomplete', changes, missing };
}

function changeOf<Item extends CatalogueItem>(
  known: KnownItem<Item> | undefined,
  after: Item | undefined,
): CatalogueChange<Item> | undefined {
  if (after === undefined) return undefined;
  if (known === undefined || known.isRemoved) return { kind: 'created', before: known?.item, after };
  return isSame(known.item, after) ? undefined : { kind: 'changed', before: known.item, after };
}

function isSame<Item extends CatalogueItem>(left: Item, right: Item): boolean {
  const names = new Set([...Object.keys(left), ...Object.keys(right)]);
  return [...names].every((name) => isSameValue(Reflect.get(left, name), Reflect.get(right, name)));
}

function isSameValue(left: unknown, right: unknown): boolean {
  if (isMoney(left) && isMoney(right)) return equalMoney(left, right);
  if (Array.isArray(left) && Array.isArray(right)) {
    return left.length === right.length && left.every((each, index) => each === right[index]);
  }
  return left === right;
}

function isMoney(value: unknown): value is Money {
  return typeof value === 'object' && value !== null && 'amount' in value && 'currency' in value;
}

export function announcedChanges<Item extends CatalogueItem>(
  change: CatalogueChange<Item>,
): readonly ('created' | 'removed' | 'unavailable' | 'available' | 'price_changed')[] {
  if (change.kind !== 'changed') return [change.kind];
  const { before, after } = change;
  return [
    ...(equalMoney(before.price, after.price) ? [] : (['price_changed'] as const)),
    ...(before.available === after.available ? [] : ([after.available ? 'available' : 'unavailable'] as const)),
  ];
}

const LISTS = {
  africa:
    'AO BF BI BJ BW CD CF CG CI CM CV DJ DZ EG EH ER ET GA GH GM GN GQ GW KE KM LR LS LY MA MG ML MR MU MW MZ NA ' +
    'NE NG RE RW SC SD SH SL SN SO SS ST SZ TD TG TN TZ UG YT ZA ZM ZW',
  asia:
    'AE AF AM AZ BD BH BN BT CN CY GE HK ID IL IN IQ IR JO JP KG KH KP KR KW KZ LA LB LK MM MN MO MV MY NP OM PH ' +
    'PK PS QA SA SG SY TH TJ TL TM TR TW UZ VN YE',
  europe:
    'AD AL AT AX BA BE BG BY CH CY CZ DE DK EE ES FI FO FR GB GG GI GR HR HU IE IM IS IT JE LI LT LU LV MC MD ME ' +
    'MK MT NL NO PL PT RO RS RU SE SI SJ SK SM TR UA VA XK',
  north_america:
    'AG AI AW BB BL BM BQ BS BZ CA CR CU CW DM DO GD GL GP GT HN HT JM KN KY LC MF MQ MS MX NI PA PM PR SV SX TC ' +
    'TT US VC VG VI',
  oceania: 'AS AU CC CK CX FJ FM GU KI MH MP NC NF NR NU NZ PF PG PN PW SB TK TO TV UM VU WF WS',
  south_america: 'AR BO BR CL CO EC FK GF GY PE PY SR UY VE',
} as const;

type Region = keyof typeof LISTS;

export const REGIONS = Object.keys(LISTS) as [Region, ...Region[]];

/** Cyprus and Turkey belong to two regions. */
export function countriesOf(region: Region): readonly string[] {
  return LISTS[region].split(' ');
}
