import { sql } from 'drizzle-orm';
import {
  bigint,
  bigserial,
  index,
  jsonb,
  pgTable,
  primaryKey,
  text,
  uniqueIndex,
  boolean,
  check,
  integer,
} from 'drizzle-orm/pg-core';
import { instant, bytea, inList } from '#db/schema/columns.ts';
import type { EventSubjectKind, EventType } from '#domain/events/event-types.ts';
import {
  DELIVERY_STATES,
  type DeliveryState,
  type DisabledReason,
  type TryFailure,
} from '#domain/events/webhook-delivery.ts';

/** Short, plain, without personal data. */
export type EventData = Readonly<
  Record<string, string | number | boolean | null | { readonly amount: string; readonly currency: string }>
>;

/**
 * A sequence number is assigned before the commit, so a reader may skip an event that is committed later. The relay
 * therefore assigns positions, one publication at a time; events without one are not visible.
 */
export const events = pgTable(
  'events',
  {
    sequence: bigserial('sequence', { mode: 'bigint' }).primaryKey(),
    id: text('id').notNull().unique(),
    /** Without gaps; null until published. */
    position: bigint('position', { mode: 'bigint' }),
    type: text('type').$type<EventType>().notNull(),
    subjectKind: text('subject_kind').$type<EventSubjectKind>().notNull(),
    subjectId: text('subject_id').notNull(),
    apiKeyId: text('api_key_id'),
    data: jsonb('data').$type<EventData>().notNull(),
    occurredAt: instant('occurred_at').notNull(),
    /** Null: none, or not traced. */
    traceparent: text('traceparent'),
  },
  (table) => [
    uniqueIndex('events_position').on(table.position),
    index('events_unpublished')
      .on(table.sequence)
      .where(sql`${table.position} is null`),
    index('events_subject').on(table.subjectId, table.sequence),
    index('events_type').on(table.type, table.position),
    index('events_owner_type').on(table.apiKeyId, table.type, table.position),
    index('events_occurred').on(table.occurredAt, table.position),
  ],
);

/** Once for a subject; kept longer than their events. */
export const announcements = pgTable(
  'announcements',
  {
    subjectId: text('subject_id').notNull(),
    key: text('key').notNull(),
    announcedAt: instant('announced_at').notNull(),
  },
  (table) => [primaryKey({ columns: [table.subjectId, table.key] })],
);

/** A deleted one keeps its row, without secrets, as long as its log is kept. */
export const webhookEndpoints = pgTable(
  'webhook_endpoints',
  {
    id: text('id').primaryKey(),
    apiKeyId: text('api_key_id').notNull(),
    ownerId: text('owner_id'),
    url: text('url').notNull(),
    description: text('description'),
    eventTypes: text('event_types').array().notNull(),
    disabledReason: text('disabled_reason').$type<DisabledReason>(),
    disabledAt: instant('disabled_at'),
    /** Position of the newest event at that time: later ones are missed. */
    disabledAfter: bigint('disabled_after', { mode: 'bigint' }),
    failures: integer('failures').notNull().default(0),
    failingSince: instant('failing_since'),
    lastFailure: text('last_failure'),
    lastDeliveredAt: instant('last_delivered_at'),
    retryAt: instant('retry_at'),
    /** Time of the first missed event that is not queued yet. */
    missedSince: instant('missed_since'),
    /** A counter, unlike a flag, cannot lose a concurrent request. */
    wakesRequested: bigint('wakes_requested', { mode: 'bigint' })
      .notNull()
      .default(sql`0`),
    wakesSent: bigint('wakes_sent', { mode: 'bigint' })
      .notNull()
      .default(sql`0`),
    /** A caller waits: the workflow is woken even during an outage of the endpoint. */
    wakeIsUrgent: boolean('wake_is_urgent').notNull().default(false),
    createdAt: instant('created_at').notNull(),
    updatedAt: instant('updated_at').notNull(),
    deletedAt: instant('deleted_at'),
  },
  (table) => [
    index('webhook_endpoints_receiving')
      .on(table.id)
      .where(sql`${table.disabledAt} is null and ${table.deletedAt} is null`),
    index('webhook_endpoints_to_wake')
      .on(table.id)
      .where(sql`${table.wakesRequested} > ${table.wakesSent}`),
    index('webhook_endpoints_owner').on(table.ownerId, table.id),
  ],
);

/** Former ones until their overlap ends. */
export const webhookEndpointSecrets = pgTable(
  'webhook_endpoint_secrets',
  {
    id: bigserial('id', { mode: 'bigint' }).primaryKey(),
    endpointId: text('endpoint_id')
      .notNull()
      .references(() => webhookEndpoints.id),
    encryptedSecret: bytea('encrypted_secret').notNull(),
    createdAt: instant('created_at').notNull(),
    signsUntil: instant('signs_until'),
  },
  (table) => [
    index('webhook_endpoint_secrets_endpoint').on(table.endpointId, table.id),
    uniqueIndex('webhook_endpoint_secrets_newest')
      .on(table.endpointId)
      .where(sql`${table.signsUntil} is null`),
  ],
);

/** One for each event and endpoint, however often it is replayed. */
export const webhookDeliveries = pgTable(
  'webhook_deliveries',
  {
    id: text('id').primaryKey(),
    endpointId: text('endpoint_id')
      .notNull()
      .references(() => webhookEndpoints.id),
    eventId: text('event_id').notNull(),
    state: text('state').$type<DeliveryState>().notNull().default('pending'),
    /** Starts with the publication, or with the last replay. */
    triedSince: instant('tried_since').notNull(),
    failedTries: integer('failed_tries').notNull().default(0),
    tries: integer('tries').notNull().default(0),
    nextTryAt: instant('next_try_at'),
    leasedUntil: instant('leased_until'),
    createdAt: instant('created_at').notNull(),
    endedAt: instant('ended_at'),
    lastStatus: integer('last_status'),
    lastFailure: text('last_failure').$type<TryFailure>(),
  },
  (table) => [
    check('webhook_deliveries_state', sql`${table.state} in (${inList(DELIVERY_STATES)})`),
    check('webhook_deliveries_pending', sql`(${table.state} = 'pending') = (${table.nextTryAt} is not null)`),
    uniqueIndex('webhook_deliveries_once').on(table.endpointId, table.eventId),
    index('webhook_deliveries_due')
      .on(table.endpointId, table.nextTryAt)
      .where(sql`${table.state} = 'pending'`),
    index('webhook_deliveries_list').on(table.endpointId, table.id),
    index('webhook_deliveries_by_state').on(table.endpointId, table.state, table.id),
    index('webhook_deliveries_ended')
      .on(table.endedAt)
      .where(sql`${table.state} <> 'pending'`),
  ],
);

export const webhookTries = pgTable(
  'webhook_tries',
  {
    deliveryId: text('delivery_id')
      .notNull()
      .references(() => webhookDeliveries.id, { onDelete: 'cascade' }),
    number: integer('number').notNull(),
    at: instant('at').notNull(),
    durationMs: integer('duration_ms').notNull(),
    status: integer('status'),
    failure: text('failure').$type<TryFailure>(),
    /** Encrypted: the content is not under our control. */
    encryptedExcerpt: bytea('encrypted_excerpt'),
  },
  (table) => [primaryKey({ columns: [table.deliveryId, table.number] })],
);
