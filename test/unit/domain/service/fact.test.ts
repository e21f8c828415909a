import { describe, expect, it } from 'vitest';
import { factState, isNotThereYet } from '#domain/service/fact.ts';
import { serviceEsim, serviceOrder, vpnSubscription } from '#upstream/contract.ts';
import { readAnswer } from '#upstream/reading/answer.ts';

const CODE = 'LPA:1$rsp.example.com$MATCH-1';

describe('a fact of a delivery', () => {
  it.each([
    ['known', CODE],
    ['known', '8937204016123456789'],
    ['known', 'esim-1'],
    ['known', 'PENDING-7'],
    ['not_yet', undefined],
    ['not_yet', null],
    ['not_yet', ''],
    ['not_yet', '  '],
    ['not_yet', 'PENDING'],
    ['not_yet', 'pending...'],
    ['not_yet', '<pending>'],
    ['not_yet', 'N/A'],
    ['not_yet', 'Not available yet'],
    ['not_yet', 'in-progress'],
    ['not_yet', 0],
    ['not_yet', '0'],
    ['not_yet', '00000000-0000-0000-0000-000000000000'],
    ['not_yet', '-'],
    ['not_yet', 'LPA:1$$'],
    ['not_yet', 'LPA:1$PENDING$PENDING'],
    ['not_yet', 'LPA:1$rsp.example.com$PENDING'],
    ['not_yet', []],
    ['not_yet', {}],
    ['not_yet', { username: null, password: '' }],
    ['misstated', 'wrong'],
    ['misstated', 7],
    ['misstated', { username: 'u' }],
  ])('is %s: %j', (state, value: unknown) => {
    const isUsable = (given: unknown) => typeof given === 'string' && given !== 'wrong';
    expect(factState(value, isUsable)).toBe(state);
    expect(isNotThereYet(value)).toBe(state === 'not_yet');
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

  it.each([
    [
      { username: 'u', password: 'p' },
      { username: 'u', password: 'p' },
    ],
    [
      { username: 'u', password: 'p', server: 'PENDING' },
      { username: 'u', password: 'p' },
    ],
    [{ username: null, password: null, licence_key: 'K-1' }, { licence_key: 'K-1' }],
    [{ license_key: 'K-1' }, { licence_key: 'K-1' }],
    ['K-1', { licence_key: 'K-1' }],
  ])('reads access data %j', (access, expected) => {
    const read = readAnswer(vpnSubscription, { id: 'v1', status: 'active', access }, 'subscription');
    expect(read).toMatchObject({ ok: true, value: { access: expected } });
    expect(read.ok && read.value.misstated).toBeUndefined();
  });

  it('reports misstated access data', () => {
    const access = { username: 7, password: 'p' };
    const read = readAnswer(vpnSubscription, { id: 'v1', status: 'active', access }, 'subscription');
    expect(read).toMatchObject({ ok: true, value: { misstated: ['access'] } });
  });
});
