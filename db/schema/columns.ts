import { sql } from 'drizzle-orm';
import {
  type AnyPgColumn,
  customType,
  type ExtraConfigColumn,
  index,
  integer,
  jsonb,
  numeric,
  text,
  timestamp,
} from 'drizzle-orm/pg-core';
import type { RetryOverrides, RetryRule, WhenUsedUp } from '#domain/retry/retry-rules.ts';
import type { AttentionReason } from '#domain/work/attention.ts';
import type { FailureClass, FailureEnd } from '#domain/work/failure.ts';
import { FINAL_STATUSES, type WorkStatus, type TaskPosition } from '#domain/work/lifecycle.ts';

export const bytea = customType<{ data: Buffer }>({ dataType: () => 'bytea' });
export const instant = (name: string) => timestamp(name, { withTimezone: true, mode: 'date', precision: 3 });
export const amount = (name: string) => numeric(name, { precision: 21, scale: 6 });
export const inList = (values: readonly string[]) => sql.raw(values.map((value) => `'${value}'`).join(', '));
export const unfinished = (status: AnyPgColumn) => sql`${status} not in (${inList(FINAL_STATUSES)})`;

/** Newest first, of all statuses and of one. */
export function pageIndexes(
  name: string,
  { status, createdAt, id }: Readonly<Record<'status' | 'createdAt' | 'id', ExtraConfigColumn>>,
) {
  return [
    index(`${name}_page`).on(createdAt.desc(), id.desc()),
    index(`${name}_status_page`).on(status, createdAt.desc(), id.desc()),
  ];
}

export function customerIndex(
  name: string,
  { customerReferenceHash, createdAt, id }: Readonly<Record<'customerReferenceHash' | 'createdAt' | 'id', AnyPgColumn>>,
) {
  return index(`${name}_customer_page`)
    .on(customerReferenceHash, sql`${createdAt} desc nulls last`, sql`${id} desc nulls last`)
    .where(sql`${customerReferenceHash} is not null`);
}

/** `fulfilment/work/change.ts` changes them for all kinds. */
export function workColumns<Status extends WorkStatus>() {
  return {
    id: text('id').primaryKey(),
    apiKeyId: text('api_key_id').notNull(),
    maxPriceAmount: amount('max_price_amount'),
    maxPriceCurrency: text('max_price_currency'),
    /** Work that is held or not sent yet then fails. */
    deadlineAt: instant('deadline_at'),
    extraAttempts: integer('extra_attempts').notNull().default(0),
    retryRule: jsonb('retry_rule').$type<RetryRule>(),
    retryOverrides: jsonb('retry_overrides').$type<RetryOverrides>(),
    metadata: jsonb('metadata').$type<Record<string, string>>().notNull().default({}),
    status: text('status').$type<Status | 'accepted'>().notNull().default('accepted'),
    failureClass: text('failure_class').$type<FailureClass>(),
    failureDetail: text('failure_detail'),
    serviceMessage: text('service_message'),
    failureEnd: text('failure_end').$type<FailureEnd>(),
    /** Null: as the policy has it. */
    whenUsedUp: text('when_used_up').$type<WhenUsedUp>(),
    attentionReason: text('attention_reason').$type<AttentionReason>(),
    nextStepAt: instant('next_step_at'),
    esimId: text('esim_id'),
    chargedAmount: amount('charged_amount'),
    chargedCurrency: text('charged_currency'),
    createdAt: instant('created_at').notNull().defaultNow(),
    updatedAt: instant('updated_at').notNull().defaultNow(),
    completedAt: instant('completed_at'),
    /** The last comparison of its workflow with this row; in another epoch the row may have lost changes. */
    comparedEpoch: text('compared_epoch'),
    /** A step of an earlier task is refused. */
    recordedIn: jsonb('recorded_in').$type<TaskPosition>(),
    sweptAt: instant('swept_at'),
    /** For logs; null: no request did. */
    requestId: text('request_id'),
    /** Null: it was not traced. */
    traceparent: text('traceparent'),
  };
}

export function referenceColumns() {
  return {
    /** From 1: work that ended without buying frees its reference. */
    referenceUse: integer('reference_use').notNull().default(1),
    replacesId: text('replaces_id'),
    /** Keyed hash of caller and Idempotency-Key; null: no request created it. */
    requestKey: bytea('request_key'),
  };
}

/** The reference of the end customer may be personal. */
export function customerColumns() {
  return {
    encryptedCustomerReference: bytea('encrypted_customer_reference'),
    customerReferenceHash: bytea('customer_reference_hash'),
  };
}

export function customerPriceColumns() {
  return { customerPrice: amount('customer_price'), customerPriceCurrency: text('customer_price_currency') };
}
