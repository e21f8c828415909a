import { sql } from 'drizzle-orm';
import {
  type AnyPgColumn,
  check,
  type ExtraConfigColumn,
  index,
  integer,
  jsonb,
  pgTable,
  text,
  uniqueIndex,
} from 'drizzle-orm/pg-core';
import {
  amount,
  bytea,
  customerIndex,
  inList,
  instant,
  pageIndexes,
  unfinished,
  customerColumns,
  customerPriceColumns,
  referenceColumns,
  workColumns,
} from '#db/schema/columns.ts';
import type { OnUnmetConditions, RefundCondition } from '#domain/cancellation/refund-conditions.ts';
import {
  REFUND_STATUSES,
  type RefundReview,
  type RefundState,
  type RefundStatus,
} from '#domain/cancellation/refund.ts';
import type { Money } from '#domain/money/money.ts';
import { SUBSCRIPTION_ENDS, type SubscriptionEnd } from '#domain/relay/observation.ts';
import { FREES_REFERENCE } from '#domain/work/identifiers.ts';
import { statusesOf, type StatusOf } from '#domain/work/lifecycle.ts';

/** One use of each number, one successor, and one piece of work that may buy. */
function referenceIndexes(
  name: string,
  reference: AnyPgColumn,
  { status, referenceUse, replacesId }: Readonly<Record<'status' | 'referenceUse' | 'replacesId', AnyPgColumn>>,
) {
  return [
    uniqueIndex(`${name}_reference_use`).on(reference, referenceUse),
    uniqueIndex(`${name}_reference_in_use`)
      .on(reference)
      .where(sql`${status} not in (${inList(FREES_REFERENCE)})`),
    uniqueIndex(`${name}_replaces`)
      .on(replacesId)
      .where(sql`${replacesId} is not null`),
  ];
}

/** For the lists of all kinds of work, and for what looks for unfinished work. */
function workIndexes(name: string, table: Readonly<Record<keyof ReturnType<typeof workColumns>, ExtraConfigColumn>>) {
  const { apiKeyId, status, createdAt, id, updatedAt, failureClass, attentionReason, metadata } = table;
  return [
    ...pageIndexes(name, table),
    index(`${name}_owner_page`).on(apiKeyId, createdAt.desc(), id.desc()),
    index(`${name}_updated`).on(updatedAt),
    index(`${name}_failure_page`)
      .on(failureClass, sql`${createdAt} desc nulls last`, sql`${id} desc nulls last`)
      .where(sql`${failureClass} is not null`),
    index(`${name}_attention_page`)
      .on(attentionReason, sql`${createdAt} desc nulls last`, sql`${id} desc nulls last`)
      .where(sql`${attentionReason} is not null`),
    index(`${name}_metadata`)
      .using('gin', sql`${metadata} jsonb_path_ops`)
      .where(sql`${metadata} <> '{}'::jsonb`),
    index(`${name}_unfinished`).on(updatedAt).where(unfinished(status)),
  ];
}

export const orders = pgTable(
  'orders',
  {
    ...workColumns<StatusOf<'order'>>(),
    externalOrderId: text('external_order_id').notNull(),
    ...referenceColumns(),
    ...customerColumns(),
    packageId: integer('package_id').notNull(),
    ...customerPriceColumns(),
    encryptedDeviceImei: bytea('encrypted_device_imei'),
    batchId: text('batch_id'),
    batchPosition: integer('batch_position'),
  },
  (table) => [
    check('orders_status', sql`${table.status} in (${inList(statusesOf('order'))})`),
    check('orders_completed_with_esim', sql`${table.status} <> 'completed' or ${table.esimId} is not null`),
    index('orders_package_page').on(table.packageId, table.createdAt.desc(), table.id.desc()),
    customerIndex('orders', table),
    uniqueIndex('orders_batch')
      .on(table.batchId, table.batchPosition)
      .where(sql`${table.batchId} is not null`),
    index('orders_esim')
      .on(table.esimId)
      .where(sql`${table.esimId} is not null`),
    ...referenceIndexes('orders', table.externalOrderId, table),
    ...workIndexes('orders', table),
  ],
);

export const topups = pgTable(
  'topups',
  {
    ...workColumns<StatusOf<'topup'>>(),
    /** The service takes none. */
    externalTopupId: text('external_topup_id'),
    ...referenceColumns(),
    ...customerColumns(),
    packageId: integer('package_id').notNull(),
    ...customerPriceColumns(),
  },
  (table) => [
    check('topups_status', sql`${table.status} in (${inList(statusesOf('topup'))})`),
    check('topups_of_esim', sql`${table.esimId} is not null`),
    index('topups_package_page').on(table.packageId, table.createdAt.desc(), table.id.desc()),
    customerIndex('topups', table),
    ...referenceIndexes('topups', table.externalTopupId, table),
    ...workIndexes('topups', table),
    index('topups_esim_page').on(table.esimId, table.createdAt.desc(), table.id.desc()),
  ],
);

/** They spend nothing, so the price columns stay empty. */
export const cancellations = pgTable(
  'cancellations',
  {
    ...workColumns<StatusOf<'cancellation'>>(),
    reason: text('reason'),
    onUnmetConditions: text('on_unmet_conditions').$type<OnUnmetConditions>().notNull().default('refuse'),
    preflight: jsonb('preflight').$type<readonly RefundCondition[]>(),
    /** First known to be cancelled. */
    cancelledAt: instant('cancelled_at'),
  },
  (table) => [
    check('cancellations_status', sql`${table.status} in (${inList(statusesOf('cancellation'))})`),
    check('cancellations_of_esim', sql`${table.esimId} is not null`),
    // A refused or abandoned cancellation leaves the eSIM unchanged.
    uniqueIndex('cancellations_one_of_esim')
      .on(table.esimId)
      .where(sql`${table.status} not in ('refused', 'abandoned')`),
    ...workIndexes('cancellations', table),
    index('cancellations_esim_page').on(table.esimId, table.createdAt.desc(), table.id.desc()),
  ],
);

/** One row for each cancellation that the service has accepted. */
export const refunds = pgTable(
  'refunds',
  {
    id: text('id').primaryKey(),
    cancellationId: text('cancellation_id').notNull().unique(),
    esimId: text('esim_id').notNull(),
    orderId: text('order_id').notNull(),
    serviceRefundId: text('service_refund_id').unique(),
    status: text('status').$type<RefundStatus>().notNull(),
    serviceState: text('service_state').$type<RefundState>(),
    review: text('review').$type<RefundReview>(),
    /** By an operator, whatever the service reports. */
    verdict: text('verdict').$type<'refunded' | 'dismissed'>(),
    amount: amount('amount'),
    currency: text('currency'),
    createdAt: instant('created_at').notNull().defaultNow(),
    updatedAt: instant('updated_at').notNull().defaultNow(),
    /** The money was found in the wallet, or an operator saw it there. */
    completedAt: instant('completed_at'),
  },
  (table) => [
    check('refunds_status', sql`${table.status} in (${inList(REFUND_STATUSES)})`),
    ...pageIndexes('refunds', table),
    index('refunds_esim_page').on(table.esimId, table.createdAt.desc(), table.id.desc()),
    index('refunds_updated').on(table.updatedAt),
  ],
);

export const vpnSubscriptions = pgTable(
  'vpn_subscriptions',
  {
    ...workColumns<StatusOf<'vpn_subscription'>>(),
    externalSubscriptionId: text('external_subscription_id').notNull(),
    ...referenceColumns(),
    vpnPlanId: integer('vpn_plan_id').notNull(),
    encryptedCustomerReference: bytea('encrypted_customer_reference').notNull(),
    customerReferenceHash: bytea('customer_reference_hash').notNull(),
    /** The service takes it without a currency. */
    customerPrice: amount('customer_price').notNull(),
    customerPriceCurrency: text('customer_price_currency').notNull(),
    /** JSON for the customer's device. */
    encryptedAccess: bytea('encrypted_access'),
    startedAt: instant('started_at'),
    expiresAt: instant('expires_at'),
    endedAs: text('ended_as').$type<SubscriptionEnd>(),
    cancelRequestedAt: instant('cancel_requested_at'),
    cancelAcceptedAt: instant('cancel_accepted_at'),
  },
  (table) => [
    check('vpn_subscriptions_status', sql`${table.status} in (${inList(statusesOf('vpn_subscription'))})`),
    check('vpn_subscriptions_ended_as', sql`${table.endedAs} in (${inList(SUBSCRIPTION_ENDS)})`),
    index('vpn_subscriptions_expiry')
      .on(table.expiresAt, table.id)
      .where(sql`${table.status} = 'active'`),
    index('vpn_subscriptions_plan_page').on(table.vpnPlanId, table.createdAt.desc(), table.id.desc()),
    index('vpn_subscriptions_customer_page').on(table.customerReferenceHash, table.createdAt.desc(), table.id.desc()),
    ...referenceIndexes('vpn_subscriptions', table.externalSubscriptionId, table),
    ...workIndexes('vpn_subscriptions', table),
  ],
);

export const orderBatches = pgTable(
  'order_batches',
  {
    id: text('id').primaryKey(),
    apiKeyId: text('api_key_id').notNull(),
    externalBatchId: text('external_batch_id').notNull().unique(),
    items: jsonb('items')
      .$type<readonly { readonly packageId: number; readonly quantity: number; readonly maxPrice: Money | null }[]>()
      .notNull(),
    metadata: jsonb('metadata').$type<Record<string, string>>().notNull().default({}),
    size: integer('size').notNull(),
    /** Counted in the transaction that ends the order. */
    completed: integer('completed').notNull().default(0),
    failed: integer('failed').notNull().default(0),
    abandoned: integer('abandoned').notNull().default(0),
    createdAt: instant('created_at').notNull(),
    completedAt: instant('completed_at'),
    /** Since then, no order that has bought nothing is sent. */
    cancelRequestedAt: instant('cancel_requested_at'),
    cancelRequestedBy: text('cancel_requested_by'),
    cancelReason: text('cancel_reason'),
  },
  (table) => [
    check('order_batches_ended', sql`${table.completed} + ${table.failed} + ${table.abandoned} <= ${table.size}`),
    index('order_batches_page').on(table.createdAt.desc(), table.id.desc()),
    index('order_batches_owner_page').on(table.apiKeyId, table.createdAt.desc(), table.id.desc()),
  ],
);
