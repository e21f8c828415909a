import { afterEach, describe, expect, it } from 'vitest';
import type { AttemptRef } from '#domain/purchase/results.ts';
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

async function bought(on: ActivityBench): Promise<AttemptRef> {
  const ids = await on.beginSubscription();
  await on.buy(ids);
  return ids;
}

describe('the look-up of a VPN subscription', () => {
  it('returns found', async () => {
    expect(await bench.activities.lookUpSubscription(await bought(bench))).toEqual({ kind: 'found' });
  });

  it.each([
    [{ kind: 'rate_limited', retry_after: 30 }, 'rate_limited', 30_000],
    [{ kind: 'connection_reset' }, 'connection_lost', undefined],
    // From a proxy or another server, not an answer of the service.
    [{ kind: 'answer', status: 404, body: '<h1>Not found</h1>' }, 'unreadable_answer', undefined],
    [{ kind: 'answer', status: 200, body: '{"id":"another","status":"active"}' }, 'contract_drift', undefined],
  ] as const)('proves nothing about the subscription when it failed (%o)', async (fault, failure, retryAfterMs) => {
    const ids = await bought(bench);
    await bench.admin.onRequest('getVpnSubscription', fault);
    const answer = await bench.activities.lookUpSubscription(ids);
    const wait = retryAfterMs === undefined ? {} : { retryAfterMs };
    const said = expect.objectContaining({ class: failure, detail: expect.any(String) });
    expect(answer).toEqual({ kind: 'unavailable', failure: said, ...wait });
  });

  it('returns not known when the service clearly knows no such subscription', async () => {
    const ids = await bought(bench);
    const body = '{"error":{"code":"not_found","message":"Unknown."}}';
    await bench.admin.onRequest('getVpnSubscription', { kind: 'answer', status: 404, body });
    expect(await bench.activities.lookUpSubscription(ids)).toMatchObject({ kind: 'not_known' });
  });

  it('is not sent to a service without that call', async () => {
    await using without = await ActivityBench.start({ capabilities: { vpn_subscription_read: false } });
    const ids = await bought(without);
    const before = await without.admin.requests('getVpnSubscription');
    expect(await without.activities.lookUpSubscription(ids)).toMatchObject({ kind: 'not_known' });
    expect(await without.admin.requests('getVpnSubscription')).toEqual(before);
  });
});
