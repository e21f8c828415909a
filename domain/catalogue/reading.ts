/** What a reading of a catalogue changes: the difference, and what a missing item proves. */
import type { CatalogueItem, ReadCatalogue } from '#domain/catalogue/catalogue.ts';
import { equalMoney } from '#domain/money/money.ts';

/**
 * What became of a reading. `recorded`: all of it counts. `incomplete`: nothing was removed because of it.
 * `suspicious`: it lacks too much, and changed nothing.
 */
export const READING_VERDICTS = ['recorded', 'incomplete', 'suspicious'] as const;

export type ReadingVerdict = (typeof READING_VERDICTS)[number];

/** An item that we know. */
export interface KnownItem<Item> {
  readonly item: Item;
  /** True when the service had stopped listing it. */
  readonly isRemoved: boolean;
}

/** A change of one item. */
export type CatalogueChange<Item> =
  /** Listed for the first time, or again; `before` is what was last known. */
  | { readonly kind: 'created'; readonly before: Item | undefined; readonly after: Item }
  | { readonly kind: 'changed'; readonly before: Item; readonly after: Item }
  /** `after` is not available. */
  | { readonly kind: 'removed'; readonly before: Item; readonly after: Item };

/** The result of a reading. */
export interface ReadingResult<Item> {
  readonly verdict: ReadingVerdict;
  /** In the order of the reading; removed items are last. */
  readonly changes: readonly CatalogueChange<Item>[];
  /** Ids of known items that a complete reading lacks. */
  readonly missing: readonly number[];
}

/**
 * Compares a reading with what is known.
 *
 * @param suspected ids that the complete reading before lacked, if it was suspicious: a second one confirms them.
 * @param maxDropShare share of the listed items that may disappear without confirmation, from 0 to 1.
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

/** True when nothing differs that we keep. Amounts are compared as numbers: `1.5` is `1.50`. */
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

function isMoney(value: unknown): value is { readonly amount: string; readonly currency: string } {
  return typeof value === 'object' && value !== null && 'amount' in value && 'currency' in value;
}

/** The parts of the types of events that a change causes: `created` of `package.created`. */
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
