import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { installLinks, lpaString, parseLpaString, type Activation } from '#domain/esims/activation.ts';
import { backoffMs } from '#domain/policy/settings.ts';
import {
  attemptReference,
  ID_PREFIXES,
  isCallerReference,
  isFormOf,
  isId,
  isImei,
  looselyNames,
  type IdKind,
} from '#domain/work/identifiers.ts';
import { assertForAll, assertForMany } from '#test/support/for-all.ts';

const label = fc.stringMatching(/^[a-z0-9]([a-z0-9-]{0,10}[a-z0-9])?$/);
const activations: fc.Arbitrary<Activation> = fc.record({
  smdpAddress: fc.array(label, { minLength: 2, maxLength: 5 }).map((labels) => labels.join('.')),
  matchingId: fc.stringMatching(/^[0-9A-Z-]{0,40}$/),
  confirmationCodeRequired: fc.boolean(),
});

describe('an activation code', () => {
  it('is parsed to its original, with or without its prefix', () => {
    assertForAll(activations, (activation) => {
      const text = lpaString(activation);
      expect(parseLpaString(text)).toEqual(activation);
      expect(parseLpaString(text.slice('LPA:'.length))).toEqual(activation);
      expect(parseLpaString(`  ${text.replace('LPA:', 'lpa:')}\n`)).toEqual(activation);
    });
  });

  it.each([
    '',
    'LPA:',
    'LPA:2$smdp.example$A',
    'LPA:1$smdp.example',
    'LPA:1$smdp_example$A',
    'LPA:1$smdp$A',
    'LPA:1$-smdp.example$A',
    'LPA:1$smdp.example$A B',
    'LPA:1$smdp.example$A$$1$two words',
    'LPA:1$smdp.example:port$A',
    'LPA:1$smdp.example$A$1$2$3$4$5$6$7',
    'https://smdp.example',
  ])('is not parsed from invalid text: %j', (text) => {
    expect(parseLpaString(text)).toBeUndefined();
  });

  it.each([
    ['LPA:1$smdp.example.$A', 'LPA:1$smdp.example$A'],
    ['LPA:1$smdp.example:8443$A$$1', 'LPA:1$smdp.example:8443$A$$1'],
    ['1$smdp.example$A$$1$', 'LPA:1$smdp.example$A$$1'],
    ['LPA:1$smdp.example$A$1.3.6.1.4.1.31746$1', 'LPA:1$smdp.example$A$1.3.6.1.4.1.31746$1'],
    ['LPA:1$smdp.example$A$$1$81370F5125D0B1D408D4C3B232E6D25E795BEBFB', undefined],
  ])('in the form %j of later versions and of services is kept', (text, kept = text) => {
    const activation = parseLpaString(text);
    expect(activation && lpaString(activation)).toBe(kept);
  });

  it('never throws on any text', () => {
    assertForAll(fc.string({ unit: 'binary' }), (text) => {
      const parsed = parseLpaString(text);
      expect(parsed && parseLpaString(lpaString(parsed))).toEqual(parsed);
    });
  });

  it('is complete in the links that install it with one tap', () => {
    assertForAll(activations, (activation) => {
      for (const link of Object.values(installLinks(activation)))
        expect(new URL(link).searchParams.get('carddata')).toBe(lpaString(activation));
    });
  });
});

describe('references of attempts', () => {
  const callers = fc.stringMatching(/^[!-}]{1,64}$/);
  const numbers = fc.integer({ min: 1, max: 99 });
  /** Caller's reference, its use, and the number of the attempt; often with equal parts. */
  const attempts = fc.tuple(fc.oneof(callers, fc.constant('a')), numbers, numbers);

  it('are unique: no two attempts of any two orders, also of the same reference, have the same', () => {
    assertForMany(2_000, attempts, attempts, (left, right) => {
      expect(attemptReference(...left) === attemptReference(...right)).toBe(isDeepStrictEqual(left, right));
    });
  });

  it("of a first attempt are the caller's, and of a later one cannot be a caller's", () => {
    assertForAll(callers, numbers, numbers, (caller, use, number) => {
      expect(isCallerReference(attemptReference(caller, use, number))).toBe(use === 1 && number === 1);
    });
  });

  const others = ['', ' ', 'a b', 'ü', 'a~2', 'a\n', 'x'.repeat(65), 'a\u0000'];
  it.each(others)('cannot be given by a caller as %j', (text) => {
    expect(isCallerReference(text)).toBe(false);
  });
});

const named = fc.stringMatching(/^r[!-+\--}]{1,64}$/);
const longReference = fc.stringMatching(/^[!-+\--}]{8,64}$/);

describe('a name that may be ours in another form', () => {
  it('is recognized when either name is cut after its eighth character', () => {
    assertForAll(longReference, fc.nat(), (ours, at) => {
      const cut = ours.slice(0, 8 + (at % (ours.length - 7)));
      expect(looselyNames(ours, cut)).toBe(true);
      expect(looselyNames(cut, ours)).toBe(true);
    });
  });

  it('is recognized for every attempt of the same reference', () => {
    assertForAll(longReference, fc.integer({ min: 1, max: 9 }), fc.integer({ min: 1, max: 9 }), (ours, use, number) => {
      expect(looselyNames(attemptReference(ours, use, number), ours)).toBe(true);
    });
  });

  it('has the same beginning as ours, whatever its case', () => {
    assertForAll(named, named, (ours, theirs) => {
      const length = Math.min(ours.length, theirs.length);
      const begin = (name: string) => name.slice(0, length).toLowerCase();
      expect(looselyNames(ours, theirs) && begin(ours) !== begin(theirs)).toBe(false);
    });
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

  it('is compared in the time of its length', () => {
    expect(isFormOf('0017', '17')).toBe(true);
    // An expression that looks for the end after each zero would take half an hour.
    expect(isFormOf('so_1', `${'0'.repeat(1_000_000)}x`)).toBe(false);
  });
});

describe('identifiers', () => {
  it('have the prefix of their kind and no other', () => {
    const ulid = '01JQ8Z5YV7N4M2K3H6T9R0WXCD';
    const kinds = Object.keys(ID_PREFIXES) as IdKind[];
    for (const kind of kinds) {
      for (const other of kinds) expect(isId(kind, `${ID_PREFIXES[other]}_${ulid}`)).toBe(kind === other);
      expect(isId(kind, `${ID_PREFIXES[kind]}_${ulid.toLowerCase()}`)).toBe(false);
      expect(isId(kind, `${ID_PREFIXES[kind]}_${ulid}\n`)).toBe(false);
      expect(isId(kind, `x${ID_PREFIXES[kind]}_${ulid}`)).toBe(false);
    }
    expect(new Set(Object.values(ID_PREFIXES)).size).toBe(kinds.length);
  });

  it('of a device are 14 to 16 digits for an IMEI', () => {
    for (let digits = 1; digits <= 20; digits += 1)
      expect(isImei('1'.repeat(digits))).toBe(digits >= 14 && digits <= 16);
    const others = ['49015420323751 ', '4901542032375a8', '٤٩٠١٥٤٢٠٣٢٣٧٥١٨', '490154203237518\n', '-90154203237518'];
    expect(others.filter((text) => isImei(text))).toEqual([]);
  });
});

describe('growing delays', () => {
  it('double from the first one up to their limit, and stay there', () => {
    expect([1, 2, 3, 4, 5, 10_000].map((n) => backoffMs(100, 1_000, n))).toEqual([100, 200, 400, 800, 1_000, 1_000]);
  });
});
