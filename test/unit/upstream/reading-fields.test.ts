import { describe, expect, it } from 'vitest';
import { ORDER, PACKAGE, TRANSACTION } from '#test/support/service-records.ts';
import {
  esimCancellation,
  serviceOrder,
  servicePackage,
  serviceWallet,
  walletTransaction,
} from '#upstream/contract.ts';
import { wireTime } from '#upstream/contract/fields.ts';
import { isAmbiguous, priceForms, VARIANTS, type Variants } from '#upstream/contract/variants.ts';
import { readAnswer, readPage } from '#upstream/reading/answer.ts';

describe('money', () => {
  const priced = (fields: object) => readAnswer(serviceOrder, { ...ORDER, ...fields }, 'order');

  it.each<[string, object]>([
    ['text', { price_for_reseller: '4.50', currency: 'EUR' }],
    ['a number', { price_for_reseller: 4.5, currency: 'EUR' }],
    ['an object', { price_for_reseller: { amount: 4.5, currency: 'EUR' } }],
    ['an object beside the same currency', { price_for_reseller: { value: '4.50', currency: 'eur' }, currency: 'EUR' }],
    ['lower case', { price_for_reseller: '4.50', currency: 'eur' }],
  ])('is read from %s', (_name, fields) => {
    const reading = priced(fields);
    expect(reading.ok && [Number(reading.value.price_for_reseller), reading.value.currency]).toEqual([4.5, 'EUR']);
  });

  it.each<[string, object]>([
    ['an object without a currency', { price_for_reseller: { amount: '4.50' } }],
    ['an object that names two amounts', { price_for_reseller: { amount: '4.50', value: '5', currency: 'EUR' } }],
    ['an object beside another currency', { price_for_reseller: { amount: '4.50', currency: 'USD' }, currency: 'EUR' }],
    ['cents under another name', { price_for_reseller: { amount_minor: 450, currency: 'EUR' } }],
    ['an object with an exponent', { price_for_reseller: { amount: 320, exponent: 2, currency: 'EUR' } }],
    ['more digits than JSON can keep', { price_for_reseller: 12_345.678_901_234_567, currency: 'EUR' }],
  ])('is not guessed from %s', (_name, fields) => {
    expect(priced(fields)).toMatchObject({ ok: true, leftOut: ['price_for_reseller'] });
  });

  it.each<[string | undefined, unknown, string | undefined]>([
    ['EUR', 450, '4.50'],
    ['EUR', '5', '0.05'],
    ['JPY', 450, '450'],
    ['KWD', 4_500, '4.500'],
    [undefined, { amount: '450', currency: 'EUR' }, '4.50'],
    [undefined, { value: 450, currency: 'EUR' }, '4.50'],
    [undefined, { amount: 4_500, currency: 'KWD' }, '4.500'],
    ['EUR', '4.50', undefined],
    ['', 450, undefined],
  ])('in minor units of %s reads %j once, as %s, if the contract has this unit', (currency, price, expected) => {
    const variants = { ...VARIANTS, amounts: 'minor_units' } as const;
    const reading = readAnswer(serviceOrder, { ...ORDER, currency, price_for_reseller: price }, 'order', variants);
    expect(reading.ok && reading.value.price_for_reseller).toBe(expected);
  });

  it('has a name and a unit for each record: prices of packages in cents, all else in decimals', () => {
    const variants: Variants = {
      ...VARIANTS,
      records: {
        package: { fields: { amount: 'price_for_reseller' }, amounts: 'minor_units' },
        order: { fields: { amount: 'price_for_reseller' } },
      },
    };
    const money = { amount: '4.50', currency: 'EUR' };
    const { price_for_reseller: _, ...item } = PACKAGE;
    const page = readPage(servicePackage, { data: [{ ...item, amount: 450 }] }, 'package', variants);
    expect(page).toMatchObject({ items: [{ price_for_reseller: '4.50' }] });
    const order = readAnswer(serviceOrder, { ...ORDER, ...money }, 'order', variants);
    expect(order).toMatchObject({ value: { price_for_reseller: '4.50' } });
    const movement = readPage(walletTransaction, { data: [{ ...TRANSACTION, ...money }] }, 'transaction', variants);
    expect(movement).toMatchObject({ items: [money] });
  });

  it.each([
    [10_000, 45_000, '4.5000'],
    [1, 45, '45'],
    [100, '4.50', undefined],
    [60, 450, undefined],
  ])('with the divisor %i reads %j as %s', (amounts, balance, expected) => {
    const variants = { ...VARIANTS, records: { wallet: { amounts } } };
    const reading = readAnswer(serviceWallet, { balance, currency: 'EUR' }, 'wallet', variants);
    expect(reading.ok ? reading.value.balance : undefined).toBe(expected);
  });

  it('of a refund in a cancellation has the unit of refunds', () => {
    const variants = { ...VARIANTS, records: { refund: { amounts: 100 } } };
    const refund = { id: 'r_1', status: 'completed', amount: 450, currency: 'EUR' };
    const answer = { esim_id: 'e_1', status: 'cancelled', refund };
    const reading = readAnswer(esimCancellation, answer, 'cancellation', variants);
    expect(reading).toMatchObject({ value: { refund: { amount: '4.50' } } });
  });

  it.each<[unknown, unknown, string | undefined]>([
    [450, 100, '4.50'],
    [450, '100', '4.50'],
    ['4.50', 1, '4.50'],
    [4.5, 1, '4.5'],
    ...[true, [100], '', 'x', null, 60].map((divisor): [unknown, unknown, undefined] => [450, divisor, undefined]),
  ])('of %j with its own divisor %j is %s', (amount, divisor, expected) => {
    const reading = priced({ price_for_reseller: { amount, divisor, currency: 'EUR' } });
    const read = reading.ok ? reading.value.price_for_reseller : undefined;
    expect(expected === undefined ? /\d/.test(String(read)) : read).toBe(expected ?? false);
  });

  it.each<[string, unknown[], boolean]>([
    ['whole numbers alone', [450, 1_200], true],
    ['one whole number', ['450'], true],
    ['whole numbers beside a text without a price', [320, 'on request', ' 500 '], true],
    ['one with a fraction', [4.5, 12], false],
    ['one with a decimal point', ['5.00', 5], false],
    ['none', [], false],
  ])('of a price list with %s (%j) has an unknown unit: %s', (_name, prices, expected) => {
    const forms = priceForms(prices.map((price_for_reseller) => ({ ...PACKAGE, price_for_reseller })));
    expect(isAmbiguous(forms, 'unstated')).toBe(expected);
    expect(isAmbiguous(forms, 'decimal')).toBe(false);
  });

  it('keeps the currency of its amount', () => {
    const reading = priced({ price_for_reseller: '5.00', price: { amount: '9.00', currency: 'EUR' } });
    expect(reading).toMatchObject({ ok: true, value: { price_for_reseller: '5.00' } });
    expect(reading.ok && reading.value.currency).toBeUndefined();
  });

  it('of a credit is refused when it is negative, and of a debit is accepted', () => {
    const page = (type: string) =>
      readPage(walletTransaction, { data: [{ ...TRANSACTION, type, amount: '-4.50' }] }, 'transaction');
    expect(page('credit')).toMatchObject({ ok: false });
    expect(page('debit')).toMatchObject({ ok: true, dropped: 0 });
  });
});

describe('a time', () => {
  it.each<[unknown, string | undefined]>([
    ['2026-01-01T10:00:00Z', '2026-01-01T10:00:00.000Z'],
    ['2026-01-01T10:00:00.5+02:00', '2026-01-01T08:00:00.500Z'],
    ['2026-01-01T10:00:00+0200', '2026-01-01T08:00:00.000Z'],
    ['2026-01-01 10:00:00', '2026-01-01T10:00:00.000Z'],
    ['2026-01-01T10:00:00.123456', '2026-01-01T10:00:00.123Z'],
    ['2026-01-01t10:00z', '2026-01-01T10:00:00.000Z'],
    [1_767_261_600, '2026-01-01T10:00:00.000Z'],
    [1_767_261_600_000, '2026-01-01T10:00:00.000Z'],
    ['1767261600', '2026-01-01T10:00:00.000Z'],
    [0, undefined],
    [-1, undefined],
    ['', undefined],
    ['2026-01-01', undefined],
    ['2026-02-31T10:00:00Z', undefined],
    ['0000-00-00 00:00:00', undefined],
    ['01.01.2026 10:00', undefined],
    [Number.NaN, undefined],
    [1e15, undefined],
    ['20261123103151', undefined],
    [20_261_123, undefined],
  ])('%j is read as %s', (wire, expected) => {
    const reading = wireTime.safeParse(wire);
    expect(reading.success ? reading.data : undefined).toBe(expected);
  });
});

describe('an id', () => {
  const NONE = ['', ' ', 0, '0', '000', '00000000-0000-0000-0000-000000000000'];

  it.each(NONE)('of %j is none in a movement, which stays readable and certain', (none) => {
    const ids = ['order_id', 'topup_id', 'esim_id', 'refund_id', 'vpn_subscription_id'];
    const named = Object.fromEntries(ids.map((name) => [name, none]));
    const page = readPage(walletTransaction, { data: [{ ...TRANSACTION, ...named }] }, 'transaction');
    expect(page).toMatchObject({ ok: true, uncertain: 0, dropped: 0, leftOut: [] });
    const [movement] = page.ok ? page.items : [];
    expect(ids.map((name): unknown => Reflect.get(movement ?? {}, name))).toEqual(ids.map(() => null));
  });

  it.each(NONE)('of %j is none in a record, and the record itself is unreadable under it', (none) => {
    const reading = readAnswer(serviceOrder, { ...ORDER, esim_id: none }, 'order');
    expect(reading).toMatchObject({ ok: true, value: { esim_id: null }, leftOut: [] });
    expect(readAnswer(serviceOrder, { ...ORDER, id: none }, 'order')).toMatchObject({ ok: false, lacking: ['id'] });
  });

  it('of one zero among other figures is an id', () => {
    const reading = readAnswer(serviceOrder, { ...ORDER, id: '10', esim_id: '0a' }, 'order');
    expect(reading).toMatchObject({ value: { id: '10', esim_id: '0a' } });
  });

  it('of our own may be 0, and an empty one is none', () => {
    const referenceOf = (external_order_id: string) => {
      const reading = readAnswer(serviceOrder, { ...ORDER, external_order_id }, 'order');
      return reading.ok ? reading.value.external_order_id : undefined;
    };
    expect(['0', ''].map(referenceOf)).toEqual(['0', null]);
  });
});
