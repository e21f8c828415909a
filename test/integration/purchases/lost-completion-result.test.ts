import { randomUUID } from 'node:crypto';
import { afterEach, describe, expect, it } from 'vitest';
import { readWork } from '#db/work/rows.ts';
import { disposedAtEnd } from '#test/support/disposed-at-end.ts';
import { ActivityBench } from '#test/support/work/activities/activity-bench.ts';

const bench = disposedAtEnd(await ActivityBench.start());
afterEach(() => bench.admin.calm());

describe('a completion whose result did not reach the workflow', () => {
  it('leaves a VPN subscription active, although its workflow recorded a case and continued', async () => {
    const ids = await bench.beginSubscription();
    const { work } = ids;
    await bench.activities.sendPurchase(ids);
    expect(await bench.activities.completePurchase({ ...ids, applied: [] })).toEqual({ kind: 'completed' });
    const step = {
      work,
      stepKey: randomUUID(),
      event: 'vpn_subscription.step',
      message: 'A test.',
      attemptNumber: 1,
      applied: [],
    } as const;
    const attention = { reason: 'delivery_unavailable', detail: 'A test.' } as const;
    await bench.activities.recordStep({ ...step, status: 'needs_attention', attention });
    await bench.activities.recordStep({ ...step, stepKey: randomUUID(), status: 'processing' });
    expect(await bench.activities.completePurchase({ ...ids, applied: [] })).toEqual({ kind: 'completed' });
    expect(await bench.database.run((db) => readWork(db, work))).toMatchObject({ status: 'active' });
  });
});

describe('a refund with an unreadable wallet', () => {
  it('is not reported as missing, and the wallet is read again', async () => {
    const ids = await bench.beginCancellation();
    await bench.activities.sendPurchase(ids);
    await bench.admin.onRequest('listWalletTransactions', { kind: 'server_error' }, { count: null });
    expect(await bench.activities.completePurchase({ ...ids, applied: [] })).toMatchObject({
      kind: 'not_yet',
      reason: 'server_error',
    });
    await bench.admin.calm();
    expect(await bench.activities.completePurchase({ ...ids, applied: [] })).toMatchObject({ kind: 'completed' });
  });
});
