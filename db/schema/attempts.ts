import { sql } from 'drizzle-orm';
import {
  bigint,
  boolean,
  check,
  index,
  integer,
  pgTable,
  text,
  uniqueIndex,
  bigserial,
  jsonb,
} from 'drizzle-orm/pg-core';
import { amount, bytea, inList, instant } from '#db/schema/columns.ts';
import { ATTEMPT_STATES, type AttemptState } from '#domain/relay/observation.ts';
import type { AttentionReason } from '#domain/work/attention.ts';
import type { FailureClass } from '#domain/work/failure.ts';
import type { WorkKind } from '#domain/work/kinds.ts';

/** One idempotency key and one exact body. `subject` is its work. */
export const attempts = pgTable(
  'attempts',
  {
    id: text('id').primaryKey(),
    subjectKind: text('subject_kind').$type<WorkKind>().notNull(),
    subjectId: text('subject_id').notNull(),
    number: integer('number').notNull(),
    idempotencyKey: text('idempotency_key').notNull().unique(),
    /** `external_order_id`; null when the interface takes none. */
    reference: text('reference'),
    /** Every send repeats these exact bytes. */
    encryptedRequestBody: bytea('encrypted_request_body').notNull(),
    state: text('state').$type<AttemptState>().notNull().default('prepared'),
    sends: integer('sends').notNull().default(0),
    anyUnknown: boolean('any_unknown').notNull().default(false),
    firstSentAt: instant('first_sent_at'),
    /** Start of the resend window; null: every send was refused. */
    firstUnrefusedSendAt: instant('first_unrefused_send_at'),
    lastSentAt: instant('last_sent_at'),
    failedAt: instant('failed_at'),
    /** 0: not known, because records were lost. A proof that it cost nothing begins at this reading. */
    readingBefore: bigint('reading_before', { mode: 'number' }),
    /** The highest limit of all sends that may have bought; null: one of them had no limit. */
    limitAmount: amount('limit_amount'),
    limitCurrency: text('limit_currency'),
    /** The price as listed at the first of these sends, to compare the charge with. */
    priceAmount: amount('price_amount'),
    priceCurrency: text('price_currency'),
    /** Ends by the database's clock. */
    leaseToken: text('lease_token'),
    leaseUntil: instant('lease_until'),
    failureClass: text('failure_class').$type<FailureClass>(),
    failureDetail: text('failure_detail'),
    serviceMessage: text('service_message'),
    /** It failed and certainly cost nothing: by the wallet, or by a verdict. */
    settled: boolean('settled').notNull().default(false),
    serviceId: text('service_id'),
    serviceEsimId: text('service_esim_id'),
    /** Set from the first send until the attempt is settled: no other attempt of that eSIM is sent meanwhile. */
    busyEsimId: text('busy_esim_id'),
    chargedAmount: amount('charged_amount'),
    chargedCurrency: text('charged_currency'),
    createdAt: instant('created_at').notNull().defaultNow(),
    lastReportAt: instant('last_report_at'),
    lastLookUpAt: instant('last_look_up_at'),
  },
  (table) => [
    uniqueIndex('attempts_subject_number').on(table.subjectKind, table.subjectId, table.number),
    uniqueIndex('attempts_reference').on(table.subjectKind, table.reference),
    uniqueIndex('attempts_service_id').on(table.subjectKind, table.serviceId),
    uniqueIndex('attempts_busy_esim')
      .on(table.busyEsimId)
      .where(sql`${table.busyEsimId} is not null`),
    check('attempts_state', sql`${table.state} in (${inList(ATTEMPT_STATES)})`),
    index('attempts_service_esim')
      .on(table.serviceEsimId)
      .where(sql`${table.serviceEsimId} is not null`),
    index('attempts_open')
      .on(table.lastReportAt)
      .where(sql`${table.state} in ('sending', 'unknown', 'processing')`),
    index('attempts_failed')
      .on(table.subjectKind, table.id)
      .where(sql`${table.state} in ('failed', 'refused')`),
  ],
);

export const timeline = pgTable(
  'timeline',
  {
    id: bigserial('id', { mode: 'bigint' }).primaryKey(),
    subjectKind: text('subject_kind').notNull(),
    subjectId: text('subject_id').notNull(),
    at: instant('at').notNull().defaultNow(),
    event: text('event').notNull(),
    /** Never personal data. */
    message: text('message').notNull(),
    detail: jsonb('detail').$type<Record<string, string | number | boolean | null>>().notNull().default({}),
    /** An activity that runs twice writes one entry. */
    dedupKey: text('dedup_key'),
  },
  (table) => [
    // Also finds the timeline of a subject, which is short.
    uniqueIndex('timeline_dedup').on(table.subjectKind, table.subjectId, table.dedupKey),
  ],
);

/** At most one open case for each subject and reason, and for each product and reason. */
export const cases = pgTable(
  'cases',
  {
    id: text('id').primaryKey(),
    subjectKind: text('subject_kind').$type<WorkKind | 'delivery'>().notNull(),
    subjectId: text('subject_id').notNull(),
    reason: text('reason').$type<AttentionReason>().notNull(),
    attemptId: text('attempt_id'),
    product: integer('product'),
    detail: text('detail').notNull(),
    openedAt: instant('opened_at').notNull().defaultNow(),
    closedAt: instant('closed_at'),
    resolution: text('resolution'),
  },
  (table) => [
    uniqueIndex('cases_one_open')
      .on(table.subjectKind, table.subjectId, table.reason)
      .where(sql`${table.closedAt} is null`),
    uniqueIndex('cases_one_open_of_product')
      .on(table.subjectKind, table.product, table.reason)
      .where(sql`${table.closedAt} is null and ${table.product} is not null`),
    index('cases_open')
      .on(table.openedAt)
      .where(sql`${table.closedAt} is null`),
  ],
);
