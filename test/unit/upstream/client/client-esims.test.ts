import { describe, expect, it } from 'vitest';
import { headerOf, jsonAnswer as json, startTestClient } from '#test/support/upstream-client.ts';

const TOPUP = { id: 't_1', esim_id: 'e_1', package_id: 7, status: 'processing' };
const ESIM = { id: 'e_1', iccid: '8944500000000000001', activation_code: 'LPA:1$a.example$x', status: 'active' };

describe('an eSIM', () => {
  it('may have another id in its own records, which is reported', async () => {
    const usage = { esim_id: ESIM.iccid, data_used_mb: 0 };
    const esim = { ...ESIM, id: 'uuid-1' };
    await using opened = await startTestClient(({ target }) => json(target.endsWith('/usage') ? usage : esim));
    expect(await opened.client.getEsim('e_1')).toMatchObject({ ok: true, value: { id: 'uuid-1' }, differing: ['id'] });
    expect(await opened.client.getEsimUsage('e_1')).toMatchObject({ ok: true, differing: ['esim_id'] });
    expect(opened.events.flatMap(({ differing = [] }) => differing)).toEqual(['id', 'esim_id']);
  });

  const unclear = [{}, { data_used_mb: null }, { data_used_mb: '0' }, { data_used_mb: -1 }];
  it.each(unclear)('has no usage unless the answer clearly states it for this eSIM: %j', async (usage) => {
    await using opened = await startTestClient(() => json(usage));
    expect(await opened.client.getEsimUsage('e_1')).toMatchObject({ failure: 'contract_drift' });
  });
});

it('a top-up with a lost answer is searched by its eSIM, and a top-up without an eSIM may match', async () => {
  const listed: object[] = [TOPUP, { ...TOPUP, id: 't_2', esim_id: 'e_2' }];
  await using opened = await startTestClient(() => json({ data: listed, next_cursor: null }));
  const found = async () => await opened.client.findTopupsOfEsim('e_1');
  expect(await found()).toMatchObject({ value: { items: [{ id: 't_1' }], complete: true } });
  listed.push({ id: 't_3', status: 'completed' });
  expect(await found()).toMatchObject({ value: { items: [{ id: 't_1' }], complete: false } });
});

describe('the cancellation of an eSIM', () => {
  it('has an Idempotency-Key, and no body', async () => {
    await using opened = await startTestClient(() => json({ esim_id: 'e_1', status: 'cancelled' }));
    const cancellation = { idempotencyKey: 'key-1', esimId: 'e_1' };
    expect(await opened.client.cancelEsim(cancellation)).toMatchObject({ ok: true, value: { status: 'cancelled' } });
    const sent = opened.server.requests[1];
    expect(sent?.body).toHaveLength(0);
    expect(headerOf(sent, 'content-length') ?? '0').toBe('0');
    expect(headerOf(sent, 'transfer-encoding')).toBeUndefined();
    expect(headerOf(sent, 'content-type')).toBeUndefined();
    expect(headerOf(sent, 'idempotency-key')).toBe('key-1');
  });
});

describe('a refund', () => {
  it.each(['completed', 'failed', 'processing'])('is read as %s, with its exact amount', async (status) => {
    const refund = { id: 'r_1', esim_id: 'e_1', status, amount: 4.5, currency: 'EUR' };
    await using opened = await startTestClient(() => json(refund));
    expect(await opened.client.getRefund('r_1')).toMatchObject({ value: { status, amount: '4.5', currency: 'EUR' } });
    expect(await opened.client.getRefund('r_2')).toMatchObject({ failure: 'contract_drift' });
  });
});

describe('the sandbox simulation', () => {
  it.each(['installed', 'active', 'consumed'] as const)('sets a sandbox eSIM to %s', async (state) => {
    await using opened = await startTestClient(() => json({ id: 'e_1', status: state }));
    expect(await opened.client.simulateEsim('e_1', state)).toMatchObject({ ok: true, value: { status: state } });
    expect(opened.targets()[1]).toBe('/sandbox/esims/e_1/simulate');
    expect(opened.server.requests[1]?.body.toString()).toBe(`{"state":"${state}"}`);
  });

  it('is refused in production before any request', async () => {
    await using opened = await startTestClient(() => json({ id: 'e_1', status: 'active' }), { mode: 'production' });
    const result = await opened.client.simulateEsim('e_1', 'active');
    expect(result).toMatchObject({ ok: false, kind: 'failure', failure: 'invalid_request' });
    expect(opened.server.connections()).toBe(0);
  });
});
