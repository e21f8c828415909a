import { describe, expect, it } from 'vitest';
import type * as z from 'zod';
import {
  esimCancellation,
  loginResponse,
  serviceEsim,
  serviceOrder,
  servicePackage,
  serviceWallet,
  walletTransaction,
} from '#upstream/contract.ts';
import { wireTime } from '#upstream/contract/fields.ts';
import { isAmbiguous, priceForms, VARIANTS as AS_SET, type Variants } from '#upstream/contract/variants.ts';
import { readAnswer, readPage } from '#upstream/reading/answer.ts';

// Settings for a real service must not affect these tests.
const VARIANTS: Variants = {
  ...AS_SET,
  fields: { state: 'status' },
  values: { status: { canceled: 'cancelled' } },
  amounts: 'unstated',
};
const ORDER = { id: 'so_1', status: 'completed', esim_id: 'e_1' };
const PACKAGE = { id: 7, name: 'Europe 1 GB', price_for_reseller: '4.50', currency: 'EUR' };
const TRANSACTION = {
  id: 1,
  type: 'debit',
  amount: '4.50',
  currency: 'EUR',
  reason: 'order',
  created_at: '2026-01-01T10:00:00Z',
};

describe('an order', () => {
  it.each<[string, unknown]>([
    ['as the contract has it', ORDER],
    ['below data', { data: ORDER }],
    ['below data and its name', { data: { order: ORDER } }],
    ['below its name', { order: ORDER }],
    ['beside a status of the answer itself', { status: 'success', data: { order: ORDER } }],
    ['with its status as state', { id: 'so_1', state: 'completed', esim_id: 'e_1' }],
    ['with its status in capitals', { ...ORDER, status: 'COMPLETED' }],
    ['with numbers as ids', { ...ORDER, id: 17, esim_id: 18 }],
    ['with fields that we do not know', { ...ORDER, colour: 'blue', status_text: 'Done' }],
    [
      'wrapped, with money as an object',
      { data: { ...ORDER, price_for_reseller: { amount: '4.50', currency: 'eur' } } },
    ],
  ])('is read %s', (_name, answer) => {
    expect(readAnswer(serviceOrder, answer, 'order')).toMatchObject({
      ok: true,
      value: { status: 'completed' },
      leftOut: [],
    });
  });

  it.each<[string, object, string]>([
    ['a failure that is a text', { failure: 'out of stock' }, 'failure'],
    ['a price that is no amount', { price_for_reseller: '4,50', currency: 'EUR' }, 'price_for_reseller'],
    ['a currency with another name', { price_for_reseller: '4.50', currency: '€' }, 'currency'],
    ['a time that is none', { created_at: 'yesterday' }, 'created_at'],
    ['an eSIM that is an object', { esim_id: { id: 'e_1' } }, 'esim_id'],
    ['a reference that is a number', { external_order_id: 1 }, 'external_order_id'],
  ])('is read without %s, which is counted', (_name, fields, name) => {
    const reading = readAnswer(serviceOrder, { ...ORDER, ...fields }, 'order');
    expect(reading).toMatchObject({ ok: true, value: { id: 'so_1', status: 'completed' }, leftOut: [name] });
    expect(reading.ok && Object.hasOwn(reading.value, name)).toBe(false);
  });

  it.each<[string, unknown, string[]]>([
    ['its id', { status: 'completed' }, ['id']],
    ['its status', { data: { id: '1' } }, ['status']],
    ['a status that we know', { id: '1', status: 'Delivered' }, ['status ("delivered")']],
    ['a status in words', { id: '1', status: '490154203237518' }, ['status']],
    ['anything', {}, ['id', 'status']],
    ['a form', 'completed', ['the object itself']],
  ])('is not read without %s', (_name, answer, lacking) => {
    expect(readAnswer(serviceOrder, answer, 'order')).toEqual({ ok: false, lacking });
  });

  it.each<[string, object]>([
    ['another order', { ...ORDER, order: { id: 'so_2', status: 'failed' } }],
    ['the order that it answers for', { id: 'req_1', status: 'failed', data: { id: 'so_1', status: 'processing' } }],
  ])('is not read from an object that contains %s and may be an order itself', (_name, answer) => {
    expect(readAnswer(serviceOrder, answer, 'order')).toEqual({ ok: false, lacking: ['id', 'status'] });
  });

  it.each<[string, object]>([
    ['success is false', { success: false, data: ORDER }],
    ['it has errors', { errors: [{ code: 'insufficient_balance' }], data: { order: ORDER } }],
    ['its status is error', { status: 'error', data: { order: ORDER } }],
    ['the order has ok: false', { ...ORDER, ok: false }],
  ])('is not read when %s', (_name, answer) => {
    const reading = readAnswer(serviceOrder, answer, 'order');
    expect(reading).toMatchObject({ ok: false, lacking: [expect.stringContaining('error')] });
  });

  it('is read by the mapped names of the contract, wrapped or not', () => {
    const variants = {
      ...VARIANTS,
      fields: { ...VARIANTS.fields, esim_uuid: 'esim_id', reference: 'external_order_id' },
    };
    const order = { id: 'so_1', status: 'completed', esim_uuid: 'e_1', reference: 'r_1' };
    for (const answer of [order, { data: order }]) {
      const reading = readAnswer(serviceOrder, answer, 'order', variants);
      expect(reading).toMatchObject({ value: { esim_id: 'e_1', external_order_id: 'r_1' } });
    }
  });

  it('has no readable value for a field with two mapped names', () => {
    const variants = { ...VARIANTS, fields: { state: 'status', phase: 'status' } };
    const answer = { id: 'so_1', state: 'completed', phase: 'processing' };
    expect(readAnswer(serviceOrder, answer, 'order', variants)).toEqual({ ok: false, lacking: ['status'] });
  });

  it('is not chosen from two candidates', () => {
    const answer = { data: ORDER, result: { ...ORDER, id: 'so_2' } };
    expect(readAnswer(serviceOrder, answer, 'order')).toEqual({ ok: false, lacking: ['id', 'status'] });
  });
});

describe('money', () => {
  const priced = (fields: object) => readAnswer(serviceOrder, { ...ORDER, ...fields }, 'order');

  it.each<[string, object]>([
    ['text', { price_for_reseller: '4.50', currency: 'EUR' }],
    ['a number', { price_for_reseller: 4.5, currency: 'EUR' }],
    ['an object', { price_for_reseller: { amount: 4.5, currency: 'EUR' } }],
    ['an object beside the same currency', { price_for_reseller: { value: '4.50', currency: 'eur' }, currency: 'EUR' }],
    ['lower case', { price_for_reseller: '4.50', currency: 'eur' }],
  ])('is read from %s', (_name, fields) => {
    const { value } = priced(fields) as { value: z.output<typeof serviceOrder> };
    expect([Number(value.price_for_reseller), value.currency]).toEqual([4.5, 'EUR']);
  });

  it.each<[string, object]>([
    ['an object without a currency', { price_for_reseller: { amount: '4.50' } }],
    ['an object that names two amounts', { price_for_reseller: { amount: '4.50', value: '5', currency: 'EUR' } }],
    ['an object beside another currency', { price_for_reseller: { amount: '4.50', currency: 'USD' }, currency: 'EUR' }],
    ['cents under another name', { price_for_reseller: { amount_minor: 450, currency: 'EUR' } }],
  ])('is not guessed from %s', (_name, fields) => {
    expect(priced(fields)).toMatchObject({ ok: true, leftOut: ['price_for_reseller'] });
  });

  it.each<[string, unknown, string]>([
    ['EUR', 450, '4.50'],
    ['EUR', '5', '0.05'],
    ['JPY', 450, '450'],
    ['KWD', 4_500, '4.500'],
  ])('in minor units of %s reads %j as %s if the contract has this unit', (currency, price_for_reseller, expected) => {
    const variants = { ...VARIANTS, amounts: 'minor_units' } as const;
    const reading = readAnswer(serviceOrder, { ...ORDER, currency, price_for_reseller }, 'order', variants);
    expect(reading).toMatchObject({ ok: true, value: { price_for_reseller: expected } });
  });

  it.each([
    ['EUR', '4.50'],
    ['', 450],
  ])('in minor units is not read from %j %j, which contradict the unit', (currency, price_for_reseller) => {
    const variants = { ...VARIANTS, amounts: 'minor_units' } as const;
    const reading = readAnswer(serviceOrder, { ...ORDER, currency, price_for_reseller }, 'order', variants);
    expect(reading.ok && reading.value.price_for_reseller).toBeUndefined();
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
    expect(isAmbiguous(forms, VARIANTS)).toBe(expected);
    expect(isAmbiguous(forms, { ...VARIANTS, amounts: 'decimal' })).toBe(false);
  });

  it('keeps the currency of its amount', () => {
    const answer = { price_for_reseller: '5.00', price: { amount: '9.00', currency: 'EUR' } };
    expect(readAnswer(serviceOrder, { ...ORDER, ...answer }, 'order')).toMatchObject({
      ok: true,
      value: { price_for_reseller: '5.00' },
    });
    const { currency } = (
      readAnswer(serviceOrder, { ...ORDER, ...answer }, 'order') as { value: { currency?: string } }
    ).value;
    expect(currency).toBeUndefined();
  });

  it('is not read from an object with an exponent', () => {
    expect(priced({ price_for_reseller: { amount: 320, exponent: 2, currency: 'EUR' } })).toMatchObject({
      leftOut: ['price_for_reseller'],
    });
  });

  it('is not read from a number with more digits than its JSON can keep', () => {
    expect(priced({ price_for_reseller: 12_345.678_901_234_567, currency: 'EUR' })).toMatchObject({
      leftOut: ['price_for_reseller'],
    });
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

describe('a login', () => {
  it.each(['bearer', 'Bearer', 'Token', null])('is read with any type of token: %j', (token_type) => {
    expect(readAnswer(loginResponse, { access_token: 'abc', token_type }, 'access')).toMatchObject({ ok: true });
  });

  it('is read below data', () => {
    expect(readAnswer(loginResponse, { data: { access_token: 'abc' } }, 'access')).toMatchObject({
      value: { access_token: 'abc' },
    });
  });
});

describe('other records', () => {
  it('are read from their wrappers', () => {
    expect(
      readAnswer(serviceWallet, { data: { wallet: { balance: { amount: '9.99', currency: 'USD' } } } }, 'wallet'),
    ).toMatchObject({
      value: { balance: '9.99', currency: 'USD' },
    });
    const cancellation = { data: { cancellation: { esim_id: 'e_1', status: 'canceled', refund: null } } };
    expect(readAnswer(esimCancellation, cancellation, 'cancellation')).toMatchObject({
      value: { status: 'cancelled' },
    });
  });

  it.each([
    ['Released', 'released'],
    ['Canceled', 'cancelled'],
  ])('keep states outside of the contract, in lower case: %s', (status, expected) => {
    const esim = { id: 'e', iccid: '8944500000000000001', activation_code: 'LPA:1$a$b', status };
    expect(readAnswer(serviceEsim, esim, 'esim')).toMatchObject({ value: { status: expected } });
  });
});

describe('a page of a list', () => {
  it.each<[string, unknown]>([
    ['data', { data: [PACKAGE] }],
    ['its name below data', { data: { packages: [PACKAGE] }, meta: { total: 1 } }],
    ['items', { items: [PACKAGE] }],
    ['results', { results: [PACKAGE] }],
    ['its name', { packages: [PACKAGE] }],
    ['the body itself', [PACKAGE]],
  ])('is found in %s', (_name, body) => {
    expect(readPage(servicePackage, body, 'package')).toMatchObject({ ok: true, items: [{ id: 7 }], dropped: 0 });
  });

  it.each<[string, unknown]>([
    ['an object', { data: { id: 7 } }],
    ['a text', 'none'],
    ['two lists', { data: [PACKAGE], items: [PACKAGE] }],
  ])('is not found in %s', (_name, body) => {
    expect(readPage(servicePackage, body, 'package')).toEqual({
      ok: false,
      problem: 'its body lacks or misstates data',
    });
  });

  it('drops and counts unreadable items', () => {
    const data = [PACKAGE, { ...PACKAGE, id: 'seven' }, null, { ...PACKAGE, id: 8, countries: null }];
    expect(readPage(servicePackage, { data }, 'package')).toMatchObject({
      ok: true,
      items: [{ id: 7 }, { id: 8, countries: [] }],
      dropped: 2,
      leftOut: ['data[].countries', 'data[].id', 'data[]'],
    });
  });

  it('omits unreadable items of a list inside an item', () => {
    const data = [{ ...PACKAGE, countries: ['DE', null, 'FR'] }];
    expect(readPage(servicePackage, { data }, 'package')).toMatchObject({
      items: [{ countries: ['DE', 'FR'] }],
      leftOut: ['data[].countries[]'],
    });
  });

  it('without a readable item is refused', () => {
    const data = [{ ...TRANSACTION, amount: { cents: 450 } }];
    expect(readPage(walletTransaction, { data }, 'transaction')).toEqual({
      ok: false,
      problem: 'its body lacks or misstates data[].amount',
    });
  });

  it.each<[string, object]>([
    ['success is false', { success: false, data: [] }],
    ['it has an error', { error: { code: 'internal_error' }, data: [], next_cursor: null }],
    ['its status is error', { status: 'error', data: [] }],
  ])('is no list where %s', (_name, body) => {
    expect(readPage(walletTransaction, body, 'transaction')).toEqual({
      ok: false,
      problem: 'its body says that it is an error',
    });
  });

  it.each<[string, object, number]>([
    ['an id that could not be read', { data: [{ ...TRANSACTION, order_id: { id: 'so_1' } }] }, 1],
    ['a reference that is a number', { data: [{ ...TRANSACTION, external_order_id: 12_345 }] }, 1],
    ['a further list beside it', { data: { transactions: [], pending_transactions: [TRANSACTION] } }, 1],
    ['nothing of the kind', { data: [TRANSACTION], warnings: [], tags: ['a'] }, 0],
  ])('counts reasons for uncertainty: %s', (_name, body, uncertain) => {
    expect(readPage(walletTransaction, body, 'transaction')).toMatchObject({ ok: true, uncertain });
  });

  it('with too many items, or a record with too many faults, is not read', () => {
    const many = Array.from({ length: 5_001 }, () => ({}));
    expect(readPage(servicePackage, { data: many }, 'package')).toMatchObject({
      ok: false,
      problem: expect.stringContaining('5000'),
    });
    const countries = Array.from({ length: 2_000 }, () => null);
    expect(readAnswer(servicePackage, { ...PACKAGE, countries }, 'package')).toMatchObject({ ok: false });
  });

  it('that is empty is read', () => {
    expect(readPage(walletTransaction, { data: [] }, 'transaction')).toMatchObject({ ok: true, items: [], dropped: 0 });
  });
});
