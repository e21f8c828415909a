import { afterEach, describe, expect, it } from 'vitest';
import { checkWebhookArrival } from '#cli/doctor/checks/webhooks.ts';
import { missedWebhooks } from '#db/queues/inbox.ts';
import { createMetrics } from '#telemetry/metrics.ts';
import { ActivityBench } from '#test/support/work/activities/activity-bench.ts';
import { deliverTestEvent } from '#test/support/work/order-rows.ts';
import { databaseGauges } from '#worker/gauges.ts';

const HOUR = 3_600_000;

let bench: ActivityBench;
afterEach(() => bench[Symbol.asyncDispose]());

/** Orders that are bought at a time. More would wait for a connection longer than the product does. */
const TOGETHER = 5;

/** Buys orders without any later report of the service. */
async function silence(count: number): Promise<void> {
  await bench.admin.nextPurchases({ outcome: 'stay_processing', count });
  for (let left = count; left > 0; left -= TOGETHER) {
    await Promise.all(
      Array.from({ length: Math.min(left, TOGETHER) }, async () => {
        await bench.activities.sendPurchase(await bench.begin());
      }),
    );
  }
}

describe('the reconciler of silent work', () => {
  it('looks up many silent orders with one call per page of their list', async () => {
    bench = await ActivityBench.start({ reconcile: { listPages: 40 } });
    const silent = 120;
    await silence(silent);
    const sold = await bench.admin.orders();
    for (const { id } of sold.slice(0, 60)) await bench.admin.completeOrder(id);
    await bench.pass(10 * 60_000);
    const result = await bench.activities.reconcileSilentWork();
    expect(result).toEqual({ lookedUp: silent, newReports: 60 });
    expect(await bench.admin.requests('listOrders')).toHaveLength(Math.ceil(silent / 100));
    expect(await bench.admin.requests('getOrder')).toHaveLength(0);
    // Looked up once, so the next run has nothing to do.
    expect(await bench.activities.reconcileSilentWork()).toEqual({ lookedUp: 0, newReports: 0 });
    // Five missed webhooks in a row count as missing webhooks, until the first webhook arrives.
    const policy = { windowMs: 60 * 60_000, reports: 5 };
    const missed = () => bench.database.run((db) => missedWebhooks(db, policy, new Date()));
    expect(await missed()).toBe(5);
    expect(bench.log.join('')).toContain('webhooks do not arrive');
    const metrics = createMetrics({ processMetrics: false });
    metrics.refreshWith(databaseGauges(bench.database, metrics, { webhookSilence: policy, now: Date.now }));
    expect((await metrics.render()).body).toContain('reseller_webhooks_missed 5');
    const records = { webhooksMissed: await missed(), refusedPrefix: undefined };
    expect(checkWebhookArrival(records)).toMatchObject({ status: 'warning' });
    // Old reports do not count.
    expect(await bench.database.run((db) => missedWebhooks(db, policy, new Date(Date.now() + 2 * HOUR)))).toBe(0);
    await deliverTestEvent(bench.database, { outcome: 'processing', serviceId: 'so-any', reference: 'any' });
    expect(await missed()).toBe(0);
    expect((await metrics.render()).body).toContain('reseller_webhooks_missed 0');
  });

  it('looks up orders outside of the list one by one, up to its limit', async () => {
    bench = await ActivityBench.start({ reconcile: { listFrom: 10, listPages: 1, readsPerRun: 7 } });
    await silence(130);
    await bench.pass(10 * 60_000);
    expect(await bench.activities.reconcileSilentWork()).toEqual({ lookedUp: 107, newReports: 0 });
    expect(await bench.admin.requests('listOrders')).toHaveLength(1);
    expect(await bench.admin.requests('getOrder')).toHaveLength(7);
  });

  it.each([
    ['the list cannot be read', true, 1],
    ['the service has no list of orders', false, 0],
  ])('looks up orders one by one when %s', async (_why, hasList, listed) => {
    bench = await ActivityBench.start({ capabilities: { order_list: hasList } });
    await silence(12);
    await bench.pass(10 * 60_000);
    await bench.admin.onRequest('listOrders', { kind: 'server_error' });
    expect(await bench.activities.reconcileSilentWork()).toEqual({ lookedUp: 12, newReports: 0 });
    expect(await bench.admin.requests('listOrders')).toHaveLength(listed);
    expect(await bench.admin.requests('getOrder')).toHaveLength(12);
  });
});
