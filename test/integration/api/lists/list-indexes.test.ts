import { and, eq, gt } from 'drizzle-orm';
import { describe, expect, it } from 'vitest';
import type { Executor } from '#db/connection/database.ts';
import { newId } from '#db/connection/ids.ts';
import { pageOfEsims } from '#db/esims/esim-queries.ts';
import { journalPage } from '#db/money/journal-queries.ts';
import { cancellations, esims, orders, refunds, timeline, topups, vpnSubscriptions } from '#db/schema.ts';
import { cancellationReads, pageOfRefunds } from '#db/work/cancellations.ts';
import { orderReads } from '#db/work/orders.ts';
import { topupReads } from '#db/work/topups.ts';
import { vpnSubscriptionReads } from '#db/work/vpn-subscriptions.ts';
import { disposedAtEnd } from '#test/support/disposed-at-end.ts';
import { startTestApi, TEST_NOW } from '#test/support/network/api.ts';
import { planOf } from '#test/support/servers/database.ts';

type List = (db: Executor) => PromiseLike<unknown>;

const api = disposedAtEnd(await startTestApi());

describe('a page of a list', () => {
  const page = { limit: 21, after: { createdAt: new Date(TEST_NOW), id: 'x' } };
  const id = 'esim_01JQ8Z6A2B3C4D5E6F7G8H9JKM';
  const statuses = ['held', 'needs_attention'] as const;
  const customerReferenceHash = Buffer.alloc(32);
  /** The pages of a list by a filter. */
  const pages =
    <Filter>(list: (db: Executor, owner: undefined, filter: Filter, of: typeof page) => PromiseLike<unknown>) =>
    (filter: Filter): List =>
    (db) =>
      list(db, undefined, filter, page);
  const [ofOrders, ofTopups] = [pages(orderReads.page), pages(topupReads.page)];
  const [ofVpn, ofCancellations] = [pages(vpnSubscriptionReads.page), pages(cancellationReads.page)];
  const [ofEsims, ofRefunds] = [pages(pageOfEsims), pages(pageOfRefunds)];

  it.each<[string, List, string]>([
    ['orders of some statuses', ofOrders({ statuses }), 'orders_status_page'],
    ['orders of a package', ofOrders({ packageId: 1 }), 'orders_package_page'],
    ['orders by failure', ofOrders({ failureClass: 'timeout' }), 'orders_failure_page'],
    ['orders by case reason', ofOrders({ attentionReason: 'contradiction' }), 'orders_attention_page'],
    ['orders of a customer', ofOrders({ customerReferenceHash }), 'orders_customer_page'],
    ['top-ups of a package', ofTopups({ packageId: 1 }), 'topups_package_page'],
    ['top-ups of an eSIM', ofTopups({ esimId: id }), 'topups_esim_page'],
    ['top-ups of some statuses', ofTopups({ statuses }), 'topups_status_page'],
    ['top-ups of a customer', ofTopups({ customerReferenceHash }), 'topups_customer_page'],
    ['subscriptions of a plan', ofVpn({ vpnPlanId: 1 }), 'vpn_subscriptions_plan_page'],
    ['subscriptions of a customer', ofVpn({ customerReferenceHash }), 'vpn_subscriptions_customer_page'],
    ['eSIMs of a customer', ofEsims({ customerReferenceHash }), 'esims_customer_page'],
    ['eSIMs of a package', ofEsims({ packageId: 1 }), 'esims_package_page'],
    ['eSIMs of some statuses', ofEsims({ statuses: ['installed', 'active'] }), 'esims_status_page'],
    ['cancellations of an eSIM', ofCancellations({ esimId: id }), 'cancellations_esim_page'],
    ['cancellations of some statuses', ofCancellations({ statuses }), 'cancellations_status_page'],
    ['refunds of an eSIM', ofRefunds({ esimId: id }), 'refunds_esim_page'],
    ['refunds of some statuses', ofRefunds({ statuses: ['expected', 'failed'] }), 'refunds_status_page'],
  ])('of %s reads an index, without sorting more than the page', async (_name, list, index) => {
    const plan = await planWithout(list, ['sort', 'seqscan', 'bitmapscan']);
    expect(plan).toContain(` using ${index} `);
  });

  it.each([
    ['credits', { direction: 'credit' }, 'journal_credits'],
    ['what was recorded before a time', { before: new Date(TEST_NOW) }, 'journal_recorded_at'],
  ] as const)('of movements that are %s reads no newer rows', async (_name, filter, index) => {
    const plan = await planWithout((db) => journalPage(db, filter, { limit: 21 }), ['seqscan', 'sort', 'bitmapscan']);
    expect(plan).toContain(`using ${index} `);
  });

  const ordersOfEsim: List = (db) => db.select({ id: orders.id }).from(orders).where(eq(orders.esimId, id));
  const ofSubject = and(eq(timeline.subjectKind, 'order'), eq(timeline.subjectId, id));
  const timelineOfOne: List = (db) => db.select({ id: timeline.id }).from(timeline).where(ofSubject);
  const ofReference = ofEsims({ externalOrderIds: ['shop-1'] });
  const orderId = newId('order');
  it.each<[string, List, ...string[]]>([
    ['orders of an eSIM', ordersOfEsim, 'orders_esim'],
    ['the timeline of a subject', timelineOfOne, 'timeline_dedup'],
    ['eSIMs by the reference of their order', ofReference, 'orders_reference_in_use', 'esims_order_id_unique'],
    ['movements of an order', (db) => journalPage(db, { orderId }, { limit: 21 }), 'journal_one_per_cause'],
    ['movements of an eSIM', (db) => journalPage(db, { esimId: id }, { limit: 21 }), 'journal_one_per_cause'],
  ])('of %s reads only those', async (_name, list, ...indexes) => {
    const plan = await planWithout(list, ['seqscan']);
    for (const index of indexes) expect(plan).toMatch(new RegExp(`(using|on) ${index} `));
  });

  it.each([
    ['orders', orders],
    ['eSIMs', esims],
    ['top-ups', topups],
    ['cancellations', cancellations],
    ['subscriptions', vpnSubscriptions],
    ['refunds', refunds],
  ] as const)('of recently changed %s reads only those', async (_name, table) => {
    const changed = gt(table.updatedAt, new Date(TEST_NOW));
    const plan = await planWithout((db) => db.select({ id: table.id }).from(table).where(changed), ['seqscan']);
    expect(plan).toMatch(/(using|on) \w+_updated /);
  });
});

/**
 * The possible plan of PostgreSQL. With few rows other plans are cheaper, so they are disabled. @param list a query as
 * it is sent. @param without further disabled plan nodes, such as `seqscan`.
 */
async function planWithout(list: List, without: readonly string[]): Promise<string> {
  return api.database.transaction(async (tx) => {
    for (const each of without) await tx.execute(`set local enable_${each} = off`);
    return planOf(tx, list);
  });
}
