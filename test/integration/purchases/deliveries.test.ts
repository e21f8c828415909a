import { afterEach, describe, expect, it } from 'vitest';
import { disposedAtEnd } from '#test/support/disposed-at-end.ts';
import { ActivityBench } from '#test/support/work/activities/activity-bench.ts';
import { step } from '#test/support/work/activities/steps.ts';

const bench = disposedAtEnd(await ActivityBench.start());
afterEach(() => bench.admin.calm());

it.each([
  ['order', 'completed'],
  ['topup', 'completed'],
  ['vpn_subscription', 'active'],
] as const)('work of the kind %s that the service completes at once is delivered by its send', async (kind, status) => {
  const ref = await bench.beginOf(kind);
  const { outcome, delivered } = await bench.activities.sendPurchase({ ...ref, delivers: true });
  expect([outcome, delivered]).toEqual([{ kind: 'accepted', outcome: 'completed' }, expect.any(Object)]);
  expect((await bench.row(ref)).status).toBe(status);
});

it('an eSIM that cannot be read at once leaves a known purchase, which the delivery completes later', async () => {
  await bench.admin.onRequest('getEsim', { kind: 'server_error' }, { count: 1 });
  const order = await bench.begin();
  const result = await bench.activities.sendPurchase({ ...order, delivers: true });
  expect(result).toMatchObject({ outcome: { kind: 'accepted', outcome: 'completed' } });
  expect(result.delivered).toBeUndefined();
  expect(await bench.attempt(order)).toMatchObject({ state: 'completed', anyUnknown: false });
  expect(await bench.activities.completePurchase({ ...order, applied: [] })).toMatchObject({ kind: 'completed' });
});

describe('a completion whose result did not reach the workflow', () => {
  it('leaves a VPN subscription active, although its workflow recorded a case and continued', async () => {
    const ids = await bench.beginSubscription();
    const { work } = ids;
    expect(await bench.buy(ids)).toEqual({ kind: 'completed' });
    const attention = { reason: 'delivery_unavailable', detail: 'A test.' } as const;
    await bench.activities.recordStep(step(work, { status: 'needs_attention', attention }));
    await bench.activities.recordStep(step(work, { status: 'processing' }));
    expect(await bench.activities.completePurchase({ ...ids, applied: [] })).toEqual({ kind: 'completed' });
    expect((await bench.row(ids)).status).toBe('active');
  });
});

it('a refund with an unreadable wallet is not reported as missing, and the wallet is read again', async () => {
  const ids = await bench.beginCancellation();
  await bench.activities.sendPurchase(ids);
  await bench.admin.onRequest('listWalletTransactions', { kind: 'server_error' }, { count: null });
  const unread = { kind: 'not_yet', reason: 'server_error' };
  expect(await bench.activities.completePurchase({ ...ids, applied: [] })).toMatchObject(unread);
  await bench.admin.calm();
  expect(await bench.activities.completePurchase({ ...ids, applied: [] })).toMatchObject({ kind: 'completed' });
});
