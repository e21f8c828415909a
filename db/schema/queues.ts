import { sql, type SQL } from 'drizzle-orm';
import { type AnyPgColumn, bigserial, check, index, integer, pgTable, text, uniqueIndex } from 'drizzle-orm/pg-core';
import { bytea, inList, instant } from '#db/schema/columns.ts';
import type { ObservationDecision, ObservedOutcome } from '#domain/relay/observation.ts';
import { INBOX_STATES, type InboxState } from '#domain/relay/relay-decision.ts';
import type { WorkKind } from '#domain/work/kinds.ts';

/** Processed ones of ended work are deleted after a year or more. */
export const inbox = pgTable(
  'inbox',
  {
    id: bigserial('id', { mode: 'bigint' }).primaryKey(),
    source: text('source').$type<'webhook' | 'read'>().notNull(),
    /** X-Service-Delivery, or a derived id for a look-up. */
    deliveryId: text('delivery_id').notNull(),
    bodyHash: bytea('body_hash').notNull(),
    /** Hash of timestamp and body: the same under another delivery id is a replay. */
    signedHash: bytea('signed_hash').notNull(),
    encryptedBody: bytea('encrypted_body').notNull(),
    /** X-Service-Event is not signed, so it decides nothing. */
    headerEvent: text('header_event'),
    event: text('event'),
    state: text('state').$type<InboxState>().notNull(),
    note: text('note'),
    reference: text('reference'),
    serviceId: text('service_id'),
    serviceEsimId: text('service_esim_id'),
    outcome: text('outcome').$type<ObservedOutcome>(),
    /** Kept, so that a further hand-over does not judge it again. */
    decision: text('decision').$type<ObservationDecision>(),
    attemptId: text('attempt_id'),
    subjectKind: text('subject_kind').$type<WorkKind>(),
    subjectId: text('subject_id'),
    receivedAt: instant('received_at').notNull().defaultNow(),
    /** Null: a look-up, or not traced. */
    traceparent: text('traceparent'),
    appliedAt: instant('applied_at'),
    tries: integer('tries').notNull().default(0),
    availableAt: instant('available_at').notNull().defaultNow(),
    lastError: text('last_error'),
    /** Too many quarantine the row. */
    lastingErrors: integer('lasting_errors').notNull().default(0),
  },
  (table) => [
    uniqueIndex('inbox_delivery_body').on(table.deliveryId, table.bodyHash),
    uniqueIndex('inbox_signed_content')
      .on(table.signedHash)
      .where(sql`${table.state} <> 'replayed'`),
    check('inbox_state', sql`${table.state} in (${inList(INBOX_STATES)})`),
    index('inbox_pending')
      .on(table.availableAt, table.id)
      .where(sql`${table.state} = 'pending'`),
    index('inbox_unapplied')
      .on(table.subjectId)
      .where(sql`${table.state} in ('pending', 'relayed', 'quarantined') and ${table.subjectId} is not null`),
    index('inbox_quarantined')
      .on(table.id)
      .where(sql`${table.state} = 'quarantined'`),
    index('inbox_unmatched')
      .on(table.id)
      .where(sql`${table.state} = 'unmatched'`),
    // A claim looks for these rows, and an id that becomes known brings them back.
    index('inbox_open_reference').on(table.reference).where(isOpenWith(table.reference)),
    index('inbox_open_service_esim_id').on(table.serviceEsimId).where(isOpenWith(table.serviceEsimId)),
    index('inbox_open_service_id').on(table.serviceId).where(isOpenWith(table.serviceId)),
  ],
);

function isOpenWith(name: AnyPgColumn): SQL {
  return sql`state in ('pending', 'relayed', 'quarantined', 'unmatched') and ${name} is not null`;
}

/** Written in the transaction that needs them; deleted after the hand-over. */
export const outbox = pgTable(
  'outbox',
  {
    id: bigserial('id', { mode: 'bigint' }).primaryKey(),
    topic: text('topic').$type<'start_work' | 'wake_work'>().notNull(),
    subjectKind: text('subject_kind').$type<WorkKind>().notNull(),
    subjectId: text('subject_id').notNull(),
    createdAt: instant('created_at').notNull().defaultNow(),
    availableAt: instant('available_at').notNull().defaultNow(),
    tries: integer('tries').notNull().default(0),
    lastError: text('last_error'),
    lastingErrors: integer('lasting_errors').notNull().default(0),
    quarantinedAt: instant('quarantined_at'),
  },
  (table) => [
    uniqueIndex('outbox_topic_subject').on(table.topic, table.subjectKind, table.subjectId),
    index('outbox_available')
      .on(table.availableAt, table.id)
      .where(sql`${table.quarantinedAt} is null`),
    index('outbox_quarantined')
      .on(table.id)
      .where(sql`${table.quarantinedAt} is not null`),
  ],
);
