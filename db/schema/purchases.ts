/** Tries to buy, and what they bought. */
import { sql } from 'drizzle-orm';
import { boolean, check, doublePrecision, index, integer, pgTable, text, uniqueIndex } from 'drizzle-orm/pg-core';
import { amount, bytea, inList, instant } from '#db/schema/columns.ts';
import { ATTEMPT_STATES, type AttemptState } from '#domain/relay/observation.ts';
import type { FailureClass } from '#domain/work/failure.ts';
import type { WorkKind } from '#domain/work/kinds.ts';

/**
 * One try to buy, with one idempotency key and one exact body. `subject` is the work that it is bought for.
 */
export const attempts = pgTable(
  'attempts',
  {
    id: text('id').primaryKey(),
    subjectKind: text('subject_kind').$type<WorkKind>().notNull(),
    subjectId: text('subject_id').notNull(),
    number: integer('number').notNull(),
    idempotencyKey: text('idempotency_key').notNull().unique(),
    /**
     * The reference that this attempt gives to the service (`external_order_id`); null where its interface takes none.
     */
    reference: text('reference'),
    /** The exact bytes of the request body; every send repeats them. */
    encryptedRequestBody: bytea('encrypted_request_body').notNull(),
    state: text('state').$type<AttemptState>().notNull().default('prepared'),
    sends: integer('sends').notNull().default(0),
    /** True once any send ended without proof of what it did. */
    anyUnknown: boolean('any_unknown').notNull().default(false),
    firstSentAt: instant('first_sent_at'),
    /**
     * The first send that was not definitely refused, from which the window for sending it again counts; null: there
     * was none.
     */
    firstUnrefusedSendAt: instant('first_unrefused_send_at'),
    /** The most that the caller allowed of all the sends that may have bought it; null: one of them had no limit. */
    limitAmount: amount('limit_amount'),
    limitCurrency: text('limit_currency'),
    /** One send at a time: who sends, and until when by the clock of the database. */
    leaseToken: text('lease_token'),
    leaseUntil: instant('lease_until'),
    failureClass: text('failure_class').$type<FailureClass>(),
    failureDetail: text('failure_detail'),
    /** True once it is certain that a failed attempt cost nothing: by the wallet, or by a person's word. */
    settled: boolean('settled').notNull().default(false),
    /** The service's id of what it made for this attempt: its order or top-up. */
    serviceId: text('service_id'),
    /** The service's id of the eSIM that it sold, or recharges. */
    serviceEsimId: text('service_esim_id'),
    /**
     * Our id of an eSIM, from the first send until the attempt is settled: nothing else is done to that eSIM meanwhile.
     */
    busyEsimId: text('busy_esim_id').unique(),
    chargedAmount: amount('charged_amount'),
    chargedCurrency: text('charged_currency'),
    createdAt: instant('created_at').notNull().defaultNow(),
    /** When the service was last heard of this attempt, by answer, webhook or read. */
    lastHeardAt: instant('last_heard_at'),
    /** When the reconciler last asked. */
    lastAskedAt: instant('last_asked_at'),
  },
  (table) => [
    uniqueIndex('attempts_subject_number').on(table.subjectKind, table.subjectId, table.number),
    uniqueIndex('attempts_reference').on(table.subjectKind, table.reference),
    uniqueIndex('attempts_service_id').on(table.subjectKind, table.serviceId),
    check('attempts_state', sql`${table.state} in (${inList(ATTEMPT_STATES)})`),
    index('attempts_cancellation_esim')
      .on(table.serviceEsimId)
      .where(sql`${table.subjectKind} = 'cancellation'`),
    index('attempts_open')
      .on(table.lastHeardAt)
      .where(sql`${table.state} in ('sending', 'unknown', 'processing')`),
  ],
);

export const esims = pgTable(
  'esims',
  {
    id: text('id').primaryKey(),
    orderId: text('order_id').notNull().unique(),
    serviceEsimId: text('service_esim_id').notNull().unique(),
    iccid: text('iccid').notNull(),
    packageId: integer('package_id').notNull(),
    encryptedActivationCode: bytea('encrypted_activation_code').notNull(),
    status: text('status').notNull(),
    installedAt: instant('installed_at'),
    activatedAt: instant('activated_at'),
    expiresAt: instant('expires_at'),
    /** When these facts were last read from the service. */
    readAt: instant('read_at').notNull(),
    /** When it is looked at next for what runs out; null: it is over. */
    watchDueAt: instant('watch_due_at').defaultNow(),
    createdAt: instant('created_at').notNull().defaultNow(),
    /** When its status or one of its times last changed; a reading that says the same changes nothing. */
    updatedAt: instant('updated_at').notNull().defaultNow(),
  },
  (table) => [
    index('esims_page').on(table.createdAt.desc(), table.id.desc()),
    index('esims_status_page').on(table.status, table.createdAt.desc(), table.id.desc()),
    index('esims_package_page').on(table.packageId, table.createdAt.desc(), table.id.desc()),
    index('esims_iccid').on(table.iccid),
    index('esims_updated').on(table.updatedAt),
    index('esims_watch')
      .on(table.watchDueAt)
      .where(sql`${table.watchDueAt} is not null`),
    index('esims_expiry').on(table.expiresAt, table.id),
  ],
);

/** The newest reading of the data of an eSIM. */
export const esimUsage = pgTable('esim_usage', {
  esimId: text('esim_id').primaryKey(),
  usedMb: doublePrecision('used_mb').notNull(),
  totalMb: doublePrecision('total_mb'),
  /** True: the service says that there is no limit; null: it says nothing. */
  unlimited: boolean('unlimited'),
  /** When the supplier measured it, where the service says so. */
  measuredAt: instant('measured_at'),
  readAt: instant('read_at').notNull(),
});
