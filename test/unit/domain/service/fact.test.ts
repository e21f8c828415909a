import { describe, expect, it } from 'vitest';
import { isNotThereYet } from '#domain/service/fact.ts';
import { serviceEsim, serviceOrder, vpnSubscription } from '#upstream/contract.ts';
import { readAnswer } from '#upstream/reading/answer.ts';

const CODE = 'LPA:1$rsp.example.com$MATCH-1';

describe('a fact of a delivery', () => {
  it.each([
    [true, CODE],
    [true, '8937204016123456789'],
    [true, 'esim-1'],
    [true, 'PENDING-7'],
    [false, undefined],
    [false, null],
    [false, ''],
    [false, '  '],
    [false, 'PENDING'],
    [false, 'pending...'],
    [false, '<pending>'],
    [false, 'N/A'],
    [false, 'Not available yet'],
    [false, 'in-progress'],
    [false, 0],
    [false, '0'],
    [false, '00000000-0000-0000-0000-000000000000'],
    [false, '-'],
    [false, 'LPA:1$$'],
    [false, 'LPA:1$PENDING$PENDING'],
    [false, 'LPA:1$rsp.example.com$PENDING'],
    [false, []],
    [false, {}],
    [false, { username: null, password: '' }],
    [true, 'wrong'],
    [true, 7],
    [true, { username: 'u' }],
  ])('is there: %s, %j', (isThere, value: unknown) => {
    expect(isNotThereYet(value)).toBe(!isThere);
  });
});

describe('the reading of a record', () => {
  const esim = { id: 'e1', status: 'available', iccid: '8937204016123456789', activation_code: CODE };

  it.each([null, '', 'PENDING', 'LPA:1$$', undefined])('takes %j as a code that is not there yet', (code) => {
    const read = readAnswer(serviceEsim, { ...esim, activation_code: code }, 'esim');
    expect(read).toMatchObject({ ok: true, value: { id: 'e1', iccid: esim.iccid }, leftOut: [] });
    expect(read.ok && (read.value.activation_code ?? null)).toBeNull();
    expect(read.ok && read.value.misstated).toBeUndefined();
  });

  it.each([
    ['iccid', 'not digits'],
    ['iccid', 12],
    ['activation_code', 'no code'],
    ['activation_code', { qr: 'x' }],
  ])('reports a misstated %s: %j', (field, value) => {
    const read = readAnswer(serviceEsim, { ...esim, [field]: value }, 'esim');
    expect(read).toMatchObject({ ok: true, value: { misstated: [field] } });
  });

  it('keeps other fields, whatever they look like', () => {
    const order = { id: 'none', external_order_id: 'pending', status: 'completed', esim_id: 'PENDING' };
    const read = readAnswer(serviceOrder, order, 'order');
    expect(read).toMatchObject({ ok: true, value: { id: 'none', external_order_id: 'pending' } });
    expect(read.ok && read.value.esim_id).toBeNull();
  });

  const login = { username: 'u', password: 'p' };
  const readAccess = (access: unknown) =>
    readAnswer(vpnSubscription, { id: 'v1', status: 'active', access }, 'subscription');

  it.each([
    [login, login],
    [{ ...login, server: 'PENDING' }, login],
    [{ username: null, password: null, licence_key: 'K-1' }, { licence_key: 'K-1' }],
    [{ license_key: 'K-1' }, { licence_key: 'K-1' }],
    ['K-1', { licence_key: 'K-1' }],
  ])('reads access data %j', (access, expected) => {
    const read = readAccess(access);
    expect(read).toMatchObject({ ok: true, value: { access: expected } });
    expect(read.ok && read.value.misstated).toBeUndefined();
  });

  it('reports misstated access data', () => {
    const read = readAccess({ ...login, username: 7 });
    expect(read).toMatchObject({ ok: true, value: { misstated: ['access'] } });
  });
});
