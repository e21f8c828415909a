/** The work that is carried out durably, one table for each kind. */
import { sql } from 'drizzle-orm';
import {
  boolean,
  check,
  index,
  integer,
  jsonb,
  pgTable,
  text,
  uniqueIndex,
  type AnyPgColumn,
} from 'drizzle-orm/pg-core';
import { amount, bytea, inList, instant, unfinished } from '#db/schema/columns.ts';
import type { RefundCondition } from '#domain/cancellation/refund-conditions.ts';
import {
  REFUND_STATUSES,
  type RefundReview,
  type RefundState,
  type RefundStatus,
} from '#domain/cancellation/refund.ts';
import { SUBSCRIPTION_ENDS, type SubscriptionEnd } from '#domain/relay/observation.ts';
import type { AttentionReason } from '#domain/work/attention.ts';
import type { FailureClass } from '#domain/work/failure.ts';
import { statusesOf, type StatusOf, type WorkStatus } from '#domain/work/lifecycle.ts';
import type { RetryOverrides, RetryRule } from '#domain/work/retry-rules.ts';

/** What the row of every kind of work has; `fulfilment/work/update-work.ts` moves it on without knowing the kind. */
export function workColumns<Status extends WorkStatus>() {
  return {
    id: text('id').primaryKey(),
    /** The lineage of the key that it was made with: whose it is. */
    apiKeyId: text('api_key_id').notNull(),
    maxPriceAmount: amount('max_price_amount'),
    maxPriceCurrency: text('max_price_currency'),
    /** Held work fails, without having bought, when this has passed. */
    deadlineAt: instant('deadline_at'),
    /** Attempts that operators have granted beyond the policy. */
    extraAttempts: integer('extra_attempts').notNull().default(0),
    /**
     * How it is tried again, as its workflow was configured for what it failed with; null before it is first sent or
     * held.
     */
    retryRule: jsonb('retry_rule').$type<RetryRule>(),
    /** What an operator has set for it instead; null: nothing. */
    retryOverrides: jsonb('retry_overrides').$type<RetryOverrides>(),
    metadata: jsonb('metadata').$type<Record<string, string>>().notNull().default({}),
    status: text('status').$type<Status | 'accepted'>().notNull().default('accepted'),
    failureClass: text('failure_class').$type<FailureClass>(),
    failureDetail: text('failure_detail'),
    attentionReason: text('attention_reason').$type<AttentionReason>(),
    /** When time brings the next step, if it does. */
    nextStepAt: instant('next_step_at'),
    /** Our id of the eSIM that it is about, once there is one. */
    esimId: text('esim_id'),
    chargedAmount: amount('charged_amount'),
    chargedCurrency: text('charged_currency'),
    createdAt: instant('created_at').notNull().defaultNow(),
    updatedAt: instant('updated_at').notNull().defaultNow(),
    completedAt: instant('completed_at'),
    /**
     * Epoch of the database in which its workflow last compared what it knows with this row; null: not yet. With
     * another one than the present epoch the row may have lost what was recorded.
     */
    comparedEpoch: text('compared_epoch'),
    /** When the sweeper last made sure that a workflow runs. */
    sweptAt: instant('swept_at'),
  };
}

/** For the filters that lists of work of every kind have; a page of such a list reads little more than itself. */
function filterIndexes(
  name: string,
  {
    createdAt,
    id,
    updatedAt,
    failureClass,
    attentionReason,
  }: Readonly<Record<'createdAt' | 'id' | 'updatedAt' | 'failureClass' | 'attentionReason', AnyPgColumn>>,
) {
  return [
    index(`${name}_updated`).on(updatedAt),
    index(`${name}_failure_page`)
      .on(failureClass, sql`${createdAt} desc nulls last`, sql`${id} desc nulls last`)
      .where(sql`${failureClass} is not null`),
    index(`${name}_attention_page`)
      .on(attentionReason, sql`${createdAt} desc nulls last`, sql`${id} desc nulls last`)
      .where(sql`${attentionReason} is not null`),
  ];
}

export const orders = pgTable(
  'orders',
  {
    ...workColumns<StatusOf<'order'>>(),
    externalOrderId: text('external_order_id').notNull().unique(),
    packageId: integer('package_id').notNull(),
    encryptedDeviceImei: bytea('encrypted_device_imei'),
  },
  (table) => [
    check('orders_status', sql`${table.status} in (${inList(statusesOf('order'))})`),
    check('orders_completed_with_esim', sql`${table.status} <> 'completed' or ${table.esimId} is not null`),
    index('orders_page').on(table.createdAt.desc(), table.id.desc()),
    index('orders_status_page').on(table.status, table.createdAt.desc(), table.id.desc()),
    index('orders_owner_page').on(table.apiKeyId, table.createdAt.desc(), table.id.desc()),
    index('orders_package_page').on(table.packageId, table.createdAt.desc(), table.id.desc()),
    index('orders_esim').on(table.esimId),
    ...filterIndexes('orders', table),
    index('orders_unfinished').on(table.updatedAt).where(unfinished(table.status)),
  ],
);

export const topups = pgTable(
  'topups',
  {
    ...workColumns<StatusOf<'topup'>>(),
    /** The caller's own reference; the service takes none. */
    externalTopupId: text('external_topup_id').unique(),
    packageId: integer('package_id').notNull(),
  },
  (table) => [
    check('topups_status', sql`${table.status} in (${inList(statusesOf('topup'))})`),
    check('topups_of_esim', sql`${table.esimId} is not null`),
    index('topups_page').on(table.createdAt.desc(), table.id.desc()),
    index('topups_status_page').on(table.status, table.createdAt.desc(), table.id.desc()),
    index('topups_owner_page').on(table.apiKeyId, table.createdAt.desc(), table.id.desc()),
    index('topups_package_page').on(table.packageId, table.createdAt.desc(), table.id.desc()),
    ...filterIndexes('topups', table),
    index('topups_esim_page').on(table.esimId, table.createdAt.desc(), table.id.desc()),
    index('topups_unfinished').on(table.updatedAt).where(unfinished(table.status)),
  ],
);

/**
 * Cancellations of eSIMs, each with the refund of what the eSIM cost. They spend nothing, so the columns of prices stay
 * empty.
 */
export const cancellations = pgTable(
  'cancellations',
  {
    ...workColumns<StatusOf<'cancellation'>>(),
    /** Why the caller cancels, in the caller's words; never personal data. */
    reason: text('reason'),
    /** The caller wants it cancelled even where no refund comes. */
    acceptWithoutRefund: boolean('accept_without_refund').notNull(),
    /** The conditions of the refund as they were judged before the newest send. */
    preflight: jsonb('preflight').$type<readonly RefundCondition[]>(),
    /** When the eSIM was first known to be cancelled. */
    cancelledAt: instant('cancelled_at'),
  },
  (table) => [
    check('cancellations_status', sql`${table.status} in (${inList(statusesOf('cancellation'))})`),
    check('cancellations_of_esim', sql`${table.esimId} is not null`),
    // One that was refused or given up leaves the eSIM as it was: it may be tried again.
    uniqueIndex('cancellations_one_of_esim')
      .on(table.esimId)
      .where(sql`${table.status} not in ('refused', 'abandoned')`),
    index('cancellations_page').on(table.createdAt.desc(), table.id.desc()),
    index('cancellations_status_page').on(table.status, table.createdAt.desc(), table.id.desc()),
    index('cancellations_owner_page').on(table.apiKeyId, table.createdAt.desc(), table.id.desc()),
    ...filterIndexes('cancellations', table),
    index('cancellations_esim_page').on(table.esimId, table.createdAt.desc(), table.id.desc()),
    index('cancellations_unfinished').on(table.updatedAt).where(unfinished(table.status)),
  ],
);

/** What becomes of the money of a cancelled eSIM; one row for each cancellation that the service has taken up. */
export const refunds = pgTable(
  'refunds',
  {
    id: text('id').primaryKey(),
    cancellationId: text('cancellation_id').notNull().unique(),
    esimId: text('esim_id').notNull(),
    /** Ours: the order whose price comes back. */
    orderId: text('order_id').notNull(),
    serviceRefundId: text('service_refund_id').unique(),
    status: text('status').$type<RefundStatus>().notNull(),
    /** What the service says of it; null before it says anything. */
    serviceState: text('service_state').$type<RefundState>(),
    review: text('review').$type<RefundReview>(),
    /** What a person says of it, whatever the service says. */
    verdict: text('verdict').$type<'refunded' | 'dismissed'>(),
    amount: amount('amount'),
    currency: text('currency'),
    createdAt: instant('created_at').notNull().defaultNow(),
    updatedAt: instant('updated_at').notNull().defaultNow(),
    /** When the money was found in the wallet, or a person saw it there. */
    completedAt: instant('completed_at'),
  },
  (table) => [
    check('refunds_status', sql`${table.status} in (${inList(REFUND_STATUSES)})`),
    index('refunds_page').on(table.createdAt.desc(), table.id.desc()),
    index('refunds_status_page').on(table.status, table.createdAt.desc(), table.id.desc()),
    index('refunds_esim_page').on(table.esimId, table.createdAt.desc(), table.id.desc()),
    index('refunds_updated').on(table.updatedAt),
  ],
);

export const vpnSubscriptions = pgTable(
  'vpn_subscriptions',
  {
    ...workColumns<StatusOf<'vpn_subscription'>>(),
    externalSubscriptionId: text('external_subscription_id').notNull().unique(),
    vpnPlanId: integer('vpn_plan_id').notNull(),
    encryptedCustomerReference: bytea('encrypted_customer_reference').notNull(),
    /**
     * Keyed hash of the customer reference, to find a customer's subscriptions by; null in rows from before it was
     * kept.
     */
    customerReferenceHash: bytea('customer_reference_hash'),
    /** What the customer pays; the service takes it without a currency, so it is read in that of the plan. */
    customerPrice: amount('customer_price').notNull(),
    /** What the customer's device needs, as JSON. */
    encryptedAccess: bytea('encrypted_access'),
    startedAt: instant('started_at'),
    expiresAt: instant('expires_at'),
    /** How it ended at the service, once that is known. */
    endedAs: text('ended_as').$type<SubscriptionEnd>(),
    /** When its customer ended it; it is cancelled at the service from then on. */
    cancelRequestedAt: instant('cancel_requested_at'),
    /** When the service accepted the cancellation. */
    cancelAcceptedAt: instant('cancel_accepted_at'),
  },
  (table) => [
    check('vpn_subscriptions_status', sql`${table.status} in (${inList(statusesOf('vpn_subscription'))})`),
    check('vpn_subscriptions_ended_as', sql`${table.endedAs} in (${inList(SUBSCRIPTION_ENDS)})`),
    index('vpn_subscriptions_page').on(table.createdAt.desc(), table.id.desc()),
    index('vpn_subscriptions_status_page').on(table.status, table.createdAt.desc(), table.id.desc()),
    index('vpn_subscriptions_owner_page').on(table.apiKeyId, table.createdAt.desc(), table.id.desc()),
    index('vpn_subscriptions_expiry')
      .on(table.expiresAt, table.id)
      .where(sql`${table.status} = 'active'`),
    index('vpn_subscriptions_plan_page').on(table.vpnPlanId, table.createdAt.desc(), table.id.desc()),
    index('vpn_subscriptions_customer_page').on(table.customerReferenceHash, table.createdAt.desc(), table.id.desc()),
    ...filterIndexes('vpn_subscriptions', table),
    index('vpn_subscriptions_unfinished').on(table.updatedAt).where(unfinished(table.status)),
  ],
);
