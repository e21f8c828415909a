import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  announcedChanges,
  type CatalogueChange,
  type CatalogueItem,
  type KnownItem,
  readingResult,
  type ReadingResult,
} from '#domain/catalogue/catalogue.ts';
import { assertForAll } from '#test/support/for-all.ts';

const item: fc.Arbitrary<CatalogueItem> = fc.record({
  id: fc.integer({ min: 1, max: 30 }),
  name: fc.constantFrom('Europe', 'Japan'),
  days: fc.constantFrom(null, 7, 30),
  price: fc.record({ amount: fc.constantFrom('1', '1.00', '2.5'), currency: fc.constantFrom('EUR', 'USD') }),
  available: fc.boolean(),
});
const unique = { selector: ({ id }: CatalogueItem) => id, maxLength: 25 };
const items = fc.uniqueArray(item, unique);
const knownItems = items.chain((all) =>
  fc.tuple(...all.map((each) => fc.boolean().map((isRemoved) => ({ item: each, isRemoved })))),
);
const share = fc.constantFrom(0, 0.1, 0.2, 0.5, 1);
const suspicion = fc.array(fc.integer({ min: 1, max: 30 })).map((ids) => new Set(ids));
const NONE: ReadonlySet<number> = new Set();

/** What is known after a result. */
function applied(known: readonly KnownItem<CatalogueItem>[], { changes }: ReadingResult<CatalogueItem>) {
  const after = new Map(known.map((each) => [each.item.id, each]));
  for (const { kind, after: changed } of changes)
    after.set(changed.id, { item: changed, isRemoved: kind === 'removed' });
  return [...after.values()];
}

const listedIds = (known: readonly KnownItem<CatalogueItem>[]) =>
  new Set(known.filter(({ isRemoved }) => !isRemoved).map(({ item: { id } }) => id));

describe('a reading of a catalogue', () => {
  it('leads to what it shows, if it is complete and not suspicious', () => {
    assertForAll(knownItems, items, suspicion, share, (known, read, suspected, maxDropShare) => {
      const result = readingResult(known, { items: read, complete: true }, { suspected, maxDropShare });
      fc.pre(result.verdict === 'recorded');
      const after = applied(known, result);
      expect(listedIds(after)).toEqual(new Set(read.map(({ id }) => id)));
      for (const each of read) {
        const stored = after.find(({ item: { id } }) => id === each.id)?.item;
        expect({ ...stored, price: undefined }).toEqual({ ...each, price: undefined });
        expect(Number(stored?.price.amount)).toBe(Number(each.price.amount));
      }
    });
  });

  it('changes nothing the second time', () => {
    assertForAll(knownItems, items, fc.boolean(), suspicion, (known, read, complete, suspected) => {
      const reading = { items: read, complete };
      const first = readingResult(known, reading, { suspected, maxDropShare: 0.5 });
      fc.pre(first.verdict !== 'suspicious');
      const second = readingResult(applied(known, first), reading, { suspected: NONE, maxDropShare: 0.5 });
      expect(second.changes).toEqual([]);
    });
  });

  it('removes nothing when it is incomplete, however little it shows', () => {
    assertForAll(knownItems, items, suspicion, share, (known, read, suspected, maxDropShare) => {
      const result = readingResult(known, { items: read, complete: false }, { suspected, maxDropShare });
      expect(result.verdict).toBe('incomplete');
      expect(result.changes.filter(({ kind }) => kind === 'removed')).toEqual([]);
      for (const id of listedIds(known)) expect(listedIds(applied(known, result))).toContain(id);
    });
  });

  it('never removes more unconfirmed items than the share, and changes nothing when it would', () => {
    assertForAll(knownItems, items, suspicion, share, (known, read, suspected, maxDropShare) => {
      const result = readingResult(known, { items: read, complete: true }, { suspected, maxDropShare });
      const unconfirmed = result.missing.filter((id) => !suspected.has(id)).length;
      const isTooMuch = unconfirmed > maxDropShare * listedIds(known).size;
      expect(result.verdict).toBe(isTooMuch ? 'suspicious' : 'recorded');
      expect(isTooMuch ? result.changes : []).toEqual([]);
    });
  });

  it('is confirmed by a second one that lacks the same items', () => {
    assertForAll(knownItems, items, (known, read) => {
      const reading = { items: read, complete: true };
      const first = readingResult(known, reading, { suspected: NONE, maxDropShare: 0.2 });
      fc.pre(first.verdict === 'suspicious');
      const suspected = new Set(first.missing);
      const second = readingResult(known, reading, { suspected, maxDropShare: 0.2 });
      expect(second.verdict).toBe('recorded');
      const removed = second.changes.filter(({ kind }) => kind === 'removed');
      expect(removed.map(({ after }) => after.id)).toEqual(first.missing);
    });
  });

  it('takes the first of two items with one id', () => {
    const one = { id: 1, name: 'Europe', days: 7, price: { amount: '1', currency: 'EUR' }, available: true };
    const read = { items: [one, { ...one, name: 'Japan' }], complete: true };
    const { changes } = readingResult([], read, { suspected: NONE, maxDropShare: 0.2 });
    expect(changes).toEqual([{ kind: 'created', before: undefined, after: one }]);
  });
});

describe('the events of a change', () => {
  const before = { id: 1, name: 'Europe', days: 7, price: { amount: '1.50', currency: 'EUR' }, available: true };
  const costs = (amount: string, currency = 'EUR') => ({ price: { amount, currency } });
  const changed = (after: Partial<CatalogueItem>, was: CatalogueItem = before): CatalogueChange<CatalogueItem> => ({
    kind: 'changed',
    before: was,
    after: { ...before, ...after },
  });

  it.each<[string, CatalogueChange<CatalogueItem>, readonly string[]]>([
    ['a new item', { kind: 'created', before: undefined, after: before }, ['created']],
    ['an item that is listed again at another price', { kind: 'created', before, after: before }, ['created']],
    ['an item that is gone', { kind: 'removed', before, after: { ...before, available: false } }, ['removed']],
    ['another price', changed(costs('1.51')), ['price_changed']],
    ['another currency', changed(costs('1.50', 'USD')), ['price_changed']],
    ['an item that is not sold', changed({ available: false }), ['unavailable']],
    ['an item that is sold again', changed({}, { ...before, available: false }), ['available']],
    ['both at once', changed({ available: false, ...costs('2') }), ['price_changed', 'unavailable']],
    ['another name', changed({ name: 'Europa' }), []],
  ])('of %s', (_, change, events) => {
    expect(announcedChanges(change)).toEqual(events);
  });
});
