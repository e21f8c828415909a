import { describe, expect, it } from 'vitest';
import { ORDER } from '#test/support/service-records.ts';
import { esimCancellation, serviceEsim, serviceOrder, serviceWallet } from '#upstream/contract.ts';
import { VARIANTS } from '#upstream/contract/variants.ts';
import { readAnswer, readPage } from '#upstream/reading/answer.ts';

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
  ])('is read %s', (_name, answer) => {
    const reading = readAnswer(serviceOrder, answer, 'order');
    expect(reading).toMatchObject({ ok: true, value: { status: 'completed' }, leftOut: [] });
  });

  it.each<[string, object, string]>([
    ['a failure that is a number', { failure: 7 }, 'failure'],
    ['a price that is no amount', { price_for_reseller: '4,50', currency: 'EUR' }, 'price_for_reseller'],
    ['a currency with another name', { price_for_reseller: '4.50', currency: '€' }, 'currency'],
    ['a time that is none', { created_at: 'yesterday' }, 'created_at'],
    ['an eSIM that is an object', { esim_id: { id: 'e_1' } }, 'esim_id'],
    ['a reference that is a list', { external_order_id: ['shop-1'] }, 'external_order_id'],
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
    ['its status, below its name', { id: 'req_1', data: { order: { id: 'so_1' } } }, ['status']],
    ['its status, beside an empty wrapper', { id: 'so_1', data: {} }, ['status']],
    ['its id, beside a result of the call', { status: 'completed', result: { code: 0, message: 'OK' } }, ['id']],
    ['anything', { data: {} }, ['id', 'status']],
    ['a form', 'completed', ['the object itself']],
  ])('is not read without %s, and only this field is named', (_name, answer, lacking) => {
    expect(readAnswer(serviceOrder, answer, 'order')).toEqual({ ok: false, lacking });
  });

  it.each<[string, object]>([
    ['another order', { ...ORDER, order: { id: 'so_2', status: 'failed' } }],
    ['the order that it answers for', { id: 'req_1', status: 'failed', data: { id: 'so_1', status: 'processing' } }],
    ['two candidates', { data: ORDER, result: { ...ORDER, id: 'so_2' } }],
  ])('is not chosen from an object that contains %s', (_name, answer) => {
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

  it.each<[string, unknown]>([
    ['null', null],
    ['false', false],
    ['0', 0],
    ['"0"', '0'],
    ['an empty text', ''],
    ['an empty list', []],
    ['a list of nothing', [null]],
    ['an object without a content', { code: 0, message: null }],
  ])('is no error with an `error` or `errors` of %s', (_name, nothing) => {
    const body = { error: nothing, errors: nothing, data: { order: ORDER } };
    expect(readAnswer(serviceOrder, body, 'order')).toMatchObject({ ok: true, value: { id: 'so_1' } });
    const list = { error: nothing, errors: nothing, data: [ORDER] };
    expect(readPage(serviceOrder, list, 'order')).toMatchObject({ ok: true, items: [{ id: 'so_1' }] });
  });

  it('is read by the mapped names of the contract, wrapped or not', () => {
    const fields = { ...VARIANTS.fields, esim_uuid: 'esim_id', reference: 'external_order_id' };
    const order = { id: 'so_1', status: 'completed', esim_uuid: 'e_1', reference: 'r_1' };
    for (const answer of [order, { data: order }]) {
      const reading = readAnswer(serviceOrder, answer, 'order', { ...VARIANTS, fields });
      expect(reading).toMatchObject({ value: { esim_id: 'e_1', external_order_id: 'r_1' } });
    }
  });

  it('has no readable value for a field with two mapped names', () => {
    const variants = { ...VARIANTS, fields: { state: 'status', phase: 'status' } };
    const answer = { id: 'so_1', state: 'completed', phase: 'processing' };
    expect(readAnswer(serviceOrder, answer, 'order', variants)).toEqual({ ok: false, lacking: ['status'] });
  });
});

describe('other records', () => {
  it('are read from their wrappers', () => {
    const wallet = { data: { wallet: { balance: { amount: '9.99', currency: 'USD' } } } };
    expect(readAnswer(serviceWallet, wallet, 'wallet')).toMatchObject({ value: { balance: '9.99', currency: 'USD' } });
    const cancellation = { data: { cancellation: { esim_id: 'e_1', status: 'canceled', refund: null } } };
    const read = readAnswer(esimCancellation, cancellation, 'cancellation');
    expect(read).toMatchObject({ value: { status: 'cancelled' } });
  });

  it.each([
    ['Released', 'released'],
    ['Canceled', 'cancelled'],
  ])('keep states outside of the contract, in lower case: %s', (status, expected) => {
    const esim = { id: 'e', iccid: '8944500000000000001', activation_code: 'LPA:1$a$b', status };
    expect(readAnswer(serviceEsim, esim, 'esim')).toMatchObject({ value: { status: expected } });
  });
});
