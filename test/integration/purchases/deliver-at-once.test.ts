import { expect, it } from 'vitest';
import { findAttemptById } from '#db/work/attempts.ts';
import { readWork } from '#db/work/rows.ts';
import { disposedAtEnd } from '#test/support/disposed-at-end.ts';
import { ActivityBench } from '#test/support/work/activities/activity-bench.ts';

const COMPLETED_AT_ONCE = 2001;

const bench = disposedAtEnd(await ActivityBench.start());

it('an order that the service completes at once is delivered by the activity of its send', async () => {
  const order = await bench.begin(COMPLETED_AT_ONCE);
  const result = await bench.activities.sendPurchase({ ...order, delivers: true });
  expect(result).toMatchObject({ outcome: { kind: 'accepted', outcome: 'completed' }, delivered: {} });
  const row = await bench.database.run((db) => readWork(db, order.work));
  expect(row).toMatchObject({ status: 'completed', esimId: result.delivered?.esimId });
});

it('a top-up and a VPN subscription are delivered the same way', async () => {
  for (const ref of [await bench.beginTopup(), await bench.beginSubscription()]) {
    const { delivered } = await bench.activities.sendPurchase({ ...ref, delivers: true });
    const { status } = await bench.database.run((db) => readWork(db, ref.work));
    expect([ref.work.kind, delivered !== undefined, status]).toEqual(
      ref.work.kind === 'topup' ? ['topup', true, 'completed'] : ['vpn_subscription', true, 'active'],
    );
  }
});

it('an eSIM that cannot be read at once leaves a known purchase, which the delivery completes later', async () => {
  await bench.admin.onRequest('getEsim', { kind: 'server_error' }, { count: 1 });
  const order = await bench.begin(COMPLETED_AT_ONCE);
  const result = await bench.activities.sendPurchase({ ...order, delivers: true });
  expect(result).toMatchObject({ outcome: { kind: 'accepted', outcome: 'completed' } });
  expect(result.delivered).toBeUndefined();
  expect(await bench.database.run((db) => findAttemptById(db, order.attemptId))).toMatchObject({
    state: 'completed',
    anyUnknown: false,
  });
  expect(await bench.activities.completePurchase({ ...order, applied: [] })).toMatchObject({ kind: 'completed' });
});
