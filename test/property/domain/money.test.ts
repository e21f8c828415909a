import Big from 'big.js';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  addMoney,
  compareMoney,
  equalMoney,
  isDecimal,
  isUnsignedDecimal,
  moneyOf,
  negateMoney,
  paddedMoney,
  parseDecimal,
  plainAmount,
  plainMoney,
  plainText,
  subtractMoney,
  sumByCurrency,
  type Money,
} from '#domain/money/money.ts';
import { assertForAll } from '#test/support/for-all.ts';

/** Whole millionths, so the expected sums are exact integers. */
const millionths = fc.bigInt({ min: -(10n ** 18n), max: 10n ** 18n });
const dollars = (amount: string): Money => ({ amount, currency: 'USD' });
const usd = (units: bigint) => dollars(text(units));

function text(units: bigint): string {
  const digits = (units < 0n ? -units : units).toString().padStart(7, '0');
  return `${units < 0n ? '-' : ''}${digits.slice(0, -6)}.${digits.slice(-6)}`;
}

const units = ({ amount }: Money): bigint => BigInt(new Big(amount).times(1_000_000).toFixed());

describe('money', () => {
  it('is added and subtracted exactly, unlike floats', () => {
    expect(addMoney(dollars('0.1'), dollars('0.2'))).toEqual(dollars('0.3'));
    assertForAll(millionths, millionths, (left, right) => {
      expect(units(addMoney(usd(left), usd(right)))).toBe(left + right);
      expect(units(subtractMoney(usd(left), usd(right)))).toBe(left - right);
    });
  });

  it('is compared by value, independent of its notation', () => {
    assertForAll(millionths, millionths, (left, right) => {
      expect(compareMoney(usd(left), usd(right))).toBe(left < right ? -1 : left > right ? 1 : 0);
      expect(equalMoney(usd(left), usd(right))).toBe(left === right);
    });
    expect(equalMoney(dollars('1.5'), dollars('1.500000'))).toBe(true);
  });

  it('equals itself after two negations', () => {
    assertForAll(millionths, (value) => units(negateMoney(negateMoney(usd(value)))) === value);
    expect(negateMoney(dollars('0')).amount).toMatch(/^-?0$/);
  });

  it('of two currencies is neither added nor compared nor equal', () => {
    const eur = { amount: '1', currency: 'EUR' };
    const dollar = dollars('1');
    expect(() => addMoney(eur, dollar)).toThrow(new RangeError('cannot combine EUR with USD'));
    expect(() => subtractMoney(eur, dollar)).toThrow(RangeError);
    expect(() => compareMoney(eur, dollar)).toThrow(RangeError);
    expect(equalMoney(eur, dollar)).toBe(false);
    expect(sumByCurrency([eur, dollar, { ...eur, amount: '0.50' }])).toEqual([{ ...eur, amount: '1.5' }, dollar]);
  });
});

describe('the parser of amounts', () => {
  it('keeps a decimal text unchanged', () => {
    const short = millionths.filter((value) => value > -(10n ** 15n) && value < 10n ** 15n);
    assertForAll(short, (value) => parseDecimal(text(value)) === text(value));
  });

  it('removes surrounding space, and reports unreadable text', () => {
    expect(parseDecimal(' 12.50\n')).toBe('12.50');
    expect(() => parseDecimal('1,5')).toThrow(new RangeError('not a decimal amount: "1,5"'));
    expect(() => parseDecimal(Number.NaN)).toThrow(new RangeError('not a decimal amount: NaN'));
  });

  it('reads a JSON number in its shortest decimal form, without an exponent', () => {
    expect(parseDecimal(12.5)).toBe('12.5');
    expect(parseDecimal(1e-6)).toBe('0.000001');
    assertForAll(fc.integer({ min: -1_000_000_000, max: 1_000_000_000 }), (cents) => {
      expect(new Big(parseDecimal(cents / 100)).eq(new Big(cents).div(100))).toBe(true);
    });
  });

  it.each([
    '',
    ' ',
    'abc',
    '1e3',
    '0x10',
    '01',
    '1.',
    '.5',
    '+1',
    '--1',
    '1,5',
    '1.1234567',
    '1234567890123456',
    'NaN',
    'Infinity',
    '1 2',
    '１',
  ])('refuses %j', (notAnAmount) => {
    expect(() => parseDecimal(notAnAmount)).toThrow(RangeError);
    expect(isDecimal(notAnAmount)).toBe(false);
  });

  const numbers = [Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, 1e21, 1e-7];
  it.each(numbers)('refuses the number %s', (value) => {
    expect(() => parseDecimal(value)).toThrow(RangeError);
  });
});

describe('the notation of an amount', () => {
  it.each([
    ['12.50', true],
    ['0', true],
    ['-1', false],
    ['-0.01', false],
    ['1-', false],
    ['twelve', false],
    ['', false],
  ])('without a sign permits %j: %s', (text, may) => {
    expect(isUnsignedDecimal(text)).toBe(may);
  });

  it.each([
    ['12.500000', '12.50'],
    ['12.500', '12.50'],
    ['12.5', '12.5'],
    ['12.00', '12.00'],
    ['12.000000', '12.00'],
    ['12.345600', '12.3456'],
    ['12.305000', '12.305'],
    ['12.3405', '12.3405'],
    ['100', '100'],
    ['100.00', '100.00'],
  ])('shows %s as %s', (stored, shown) => {
    expect(plainAmount(stored)).toBe(shown);
  });

  it('is missing without a currency', () => {
    expect(plainMoney('2.400000', 'USD')).toEqual(dollars('2.40'));
    expect(plainMoney(null, 'USD')).toBeNull();
    expect(plainMoney('2.40', null)).toBeNull();
    expect(plainMoney(null, null)).toBeNull();
    expect(moneyOf('2.400000', 'USD')).toEqual(dollars('2.400000'));
    expect([moneyOf(null, 'USD'), moneyOf('2.40', null)]).toEqual([undefined, undefined]);
  });

  it.each([
    ['12', '12.00'],
    ['12.5', '12.50'],
    ['12.50', '12.50'],
    ['12.500000', '12.50'],
    ['12.34', '12.34'],
    ['12.3456', '12.3456'],
  ])('has at least two places for %s: %s', (amount, padded) => {
    expect(paddedMoney({ amount, currency: 'EUR' })).toEqual({ amount: padded, currency: 'EUR' });
    expect(plainText({ amount, currency: 'EUR' })).toBe(`${padded} EUR`);
  });
});
