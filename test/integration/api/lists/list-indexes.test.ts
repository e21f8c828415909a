import { and, eq, gt } from 'drizzle-orm';
import { afterAll, describe, expect, it } from 'vitest';
import type { Executor } from '#db/connection/database.ts';
import { newId } from '#db/connection/ids.ts';
import { pageOfEsims } from '#db/esims/esim-queries.ts';
import { journalPage } from '#db/money/journal-queries.ts';
import { cancellations, esims, orders, refunds, timeline, topups, vpnSubscriptions } from '#db/schema.ts';
import { cancellationReads, pageOfRefunds } from '#db/work/cancellations.ts';
import { orderReads } from '#db/work/orders.ts';
import { topupReads } from '#db/work/topups.ts';
import { vpnSubscriptionReads } from '#db/work/vpn-subscriptions.ts';
import { startTestApi, TEST_NOW } from '#test/support/network/api.ts';
import { planOf } from '#test/support/servers/database.ts';

type List = (db: Executor) => PromiseLike<unknown>;

const api = await startTestApi();
afterAll(() => api[Symbol.asyncDispose]());

describe('a page of a list', () => {
  const page = { limit: 21, after: { createdAt: new Date(TEST_NOW), id: 'x' } };
  const id = 'esim_01JQ8Z6A2B3C4D5E6F7G8H9JKM';
  const several = ['held', 'needs_attention'] as const;
  const cases: [string, List, string][] = [
    [
      'orders of some statuses',
      (db) => orderReads.page(db, undefined, { statuses: several }, page),
      'orders_status_page',
    ],
    ['orders of a package', (db) => orderReads.page(db, undefined, { packageId: 1 }, page), 'orders_package_page'],
    [
      'orders by failure',
      (db) => orderReads.page(db, undefined, { failureClass: 'timeout' }, page),
      'orders_failure_page',
    ],
    [
      'orders by case reason',
      (db) => orderReads.page(db, undefined, { attentionReason: 'contradiction' }, page),
      'orders_attention_page',
    ],
    ['top-ups of a package', (db) => topupReads.page(db, undefined, { packageId: 1 }, page), 'topups_package_page'],
    ['top-ups of an eSIM', (db) => topupReads.page(db, undefined, { esimId: id }, page), 'topups_esim_page'],
    [
      'top-ups of some statuses',
      (db) => topupReads.page(db, undefined, { statuses: several }, page),
      'topups_status_page',
    ],
    [
      'subscriptions of a plan',
      (db) => vpnSubscriptionReads.page(db, undefined, { vpnPlanId: 1 }, page),
      'vpn_subscriptions_plan_page',
    ],
    [
      'subscriptions of a customer',
      (db) => vpnSubscriptionReads.page(db, undefined, { customerReferenceHash: Buffer.alloc(32) }, page),
      'vpn_subscriptions_customer_page',
    ],
    [
      'orders of a customer',
      (db) => orderReads.page(db, undefined, { customerReferenceHash: Buffer.alloc(32) }, page),
      'orders_customer_page',
    ],
    [
      'top-ups of a customer',
      (db) => topupReads.page(db, undefined, { customerReferenceHash: Buffer.alloc(32) }, page),
      'topups_customer_page',
    ],
    [
      'eSIMs of a customer',
      (db) => pageOfEsims(db, undefined, { customerReferenceHash: Buffer.alloc(32) }, page),
      'esims_customer_page',
    ],
    [
      'cancellations of an eSIM',
      (db) => cancellationReads.page(db, undefined, { esimId: id }, page),
      'cancellations_esim_page',
    ],
    [
      'cancellations of some statuses',
      (db) => cancellationReads.page(db, undefined, { statuses: several }, page),
      'cancellations_status_page',
    ],
    ['refunds of an eSIM', (db) => pageOfRefunds(db, undefined, { esimId: id }, page), 'refunds_esim_page'],
    [
      'refunds of some statuses',
      (db) => pageOfRefunds(db, undefined, { statuses: ['expected', 'failed'] }, page),
      'refunds_status_page',
    ],
    ['eSIMs of a package', (db) => pageOfEsims(db, undefined, { packageId: 1 }, page), 'esims_package_page'],
    [
      'eSIMs of some statuses',
      (db) => pageOfEsims(db, undefined, { statuses: ['installed', 'active'] }, page),
      'esims_status_page',
    ],
  ];

  it.each(cases)('of %s reads an index, without sorting more than the page', async (_name, list, index) => {
    const plan = await planWithout(list, ['sort', 'seqscan', 'bitmapscan']);
    expect(plan).toContain(` using ${index} `);
  });

  it('of orders of an eSIM reads only those', async () => {
    const plan = await planWithout(
      (db) => db.select({ id: orders.id }).from(orders).where(eq(orders.esimId, id)),
      ['seqscan'],
    );
    expect(plan).toMatch(/(using|on) orders_esim /);
  });

  it.each([
    ['credits', { direction: 'credit' }, 'journal_credits'],
    ['what was recorded before a time', { before: new Date(TEST_NOW) }, 'journal_recorded_at'],
  ] as const)('of movements that are %s reads no newer rows', async (_name, filter, index) => {
    const plan = await planWithout((db) => journalPage(db, filter, { limit: 21 }), ['seqscan', 'sort', 'bitmapscan']);
    expect(plan).toMatch(new RegExp(`using ${index} `));
  });

  it('of a timeline reads that of its subject', async () => {
    const plan = await planWithout(
      (db) =>
        db
          .select({ id: timeline.id })
          .from(timeline)
          .where(and(eq(timeline.subjectKind, 'order'), eq(timeline.subjectId, id))),
      ['seqscan'],
    );
    expect(plan).toMatch(/(using|on) timeline_dedup /);
  });

  it('of eSIMs by the reference of their order reads only that one', async () => {
    const plan = await planWithout(
      (db) => pageOfEsims(db, undefined, { externalOrderIds: ['shop-1'] }, page),
      ['seqscan'],
    );
    expect(plan).toMatch(/(using|on) orders_reference_in_use /);
    expect(plan).toMatch(/(using|on) esims_order_id_unique /);
  });

  it.each([
    ['an order', { orderId: newId('order') }],
    ['an eSIM', { esimId: id }],
  ])('of movements of %s reads only those', async (_name, filter) => {
    const plan = await planWithout((db) => journalPage(db, filter, { limit: 21 }), ['seqscan']);
    expect(plan).toMatch(/(using|on) journal_one_per_cause /);
  });

  it.each([
    ['orders', orders],
    ['eSIMs', esims],
    ['top-ups', topups],
    ['cancellations', cancellations],
    ['subscriptions', vpnSubscriptions],
    ['refunds', refunds],
  ] as const)('of recently changed %s reads only those', async (_name, table) => {
    const plan = await planWithout(
      (db) =>
        db
          .select({ id: table.id })
          .from(table)
          .where(gt(table.updatedAt, new Date(TEST_NOW))),
      ['seqscan'],
    );
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
