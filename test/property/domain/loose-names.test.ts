import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { attemptReference, isFormOf, looselyNames } from '#domain/work/identifiers.ts';

const named = fc.stringMatching(/^r[!-+\--}]{1,64}$/);
const longReference = fc.stringMatching(/^[!-+\--}]{8,64}$/);

describe('a name that may be ours in another form', () => {
  it('is recognized when either name is cut after its eighth character', () => {
    fc.assert(
      fc.property(longReference, fc.nat(), (ours, at) => {
        const cut = ours.slice(0, 8 + (at % (ours.length - 7)));
        expect(looselyNames(ours, cut)).toBe(true);
        expect(looselyNames(cut, ours)).toBe(true);
      }),
    );
  });

  it('is recognized for every attempt of the same reference', () => {
    fc.assert(
      fc.property(
        longReference,
        fc.integer({ min: 1, max: 9 }),
        fc.integer({ min: 1, max: 9 }),
        (ours, use, number) => {
          expect(looselyNames(attemptReference(ours, use, number), ours)).toBe(true);
        },
      ),
    );
  });

  it('has the same beginning as ours, whatever its case', () => {
    fc.assert(
      fc.property(named, named, (ours, theirs) => {
        const length = Math.min(ours.length, theirs.length);
        const begin = (name: string) => name.slice(0, length).toLowerCase();
        expect(looselyNames(ours, theirs) && begin(ours) !== begin(theirs)).toBe(false);
      }),
    );
  });

  it.each([
    ['in another case, with spaces around it', 'Order-17', '\n oRDER-17\t'],
    ['as a number', '17', 17],
    ['as a number without the zeros at its beginning', '00017', 17],
  ])('is recognized %s', (_what, ours, theirs) => {
    expect(looselyNames(ours, theirs)).toBe(true);
  });

  it.each([
    ['shorter than eight characters and cut', 'order-1', 'order-17'],
    ['empty', '', 'order-17'],
    ['absent', 'order-17', null],
    ['only spaces', 'order-17', '   '],
    ['without zeros behind letters', 'order-00017', 'order-17'],
    ['another one of the same length', 'order-2026-17', 'order-2026-18'],
  ])('is not one that is %s', (_what, ours, theirs) => {
    expect(looselyNames(ours, theirs)).toBe(false);
  });
});

describe('the answer to our own send', () => {
  it('may cut our reference, and never extend it', () => {
    expect(isFormOf('order-2026-17', 'ORDER-2026')).toBe(true);
    expect(isFormOf('order-2026', 'order-2026-17')).toBe(false);
  });
});
