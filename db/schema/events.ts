/** Events for internal systems. */
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

/** Data of an event: short, plain, without personal data. */
export type EventData = Readonly<
  Record<string, string | number | boolean | null | { readonly amount: string; readonly currency: string }>
>;

/**
 * Events, written in the transaction that causes them. A sequence number is assigned before the commit, so a reader
 * that follows it may skip an event that is committed later. Therefore the relay assigns each committed event its
 * position, one publication at a time; events without a position are not visible.
 */
export const events = pgTable(
  'events',
  {
    sequence: bigserial('sequence', { mode: 'bigint' }).primaryKey(),
    id: text('id').notNull().unique(),
    /** Position in the feed, without gaps; null until published. */
    position: bigint('position', { mode: 'bigint' }),
    type: text('type').$type<EventType>().notNull(),
    subjectKind: text('subject_kind').$type<EventSubjectKind>().notNull(),
    subjectId: text('subject_id').notNull(),
    /** The API key of the work; null for the whole account. */
    apiKeyId: text('api_key_id'),
    data: jsonb('data').$type<EventData>().notNull(),
    occurredAt: instant('occurred_at').notNull(),
    /** `traceparent` of the work that it is about; null: none, or not traced. */
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

/** Announcements that happen once for a subject; kept longer than their events. */
export const announcements = pgTable(
  'announcements',
  {
    subjectId: text('subject_id').notNull(),
    key: text('key').notNull(),
    announcedAt: instant('announced_at').notNull(),
  },
  (table) => [primaryKey({ columns: [table.subjectId, table.key] })],
);

/** Endpoints. A deleted one keeps its row, without secrets, as long as its log is kept. */
export const webhookEndpoints = pgTable(
  'webhook_endpoints',
  {
    id: text('id').primaryKey(),
    apiKeyId: text('api_key_id').notNull(),
    /** Lineage whose events it gets; null: all. */
    ownerId: text('owner_id'),
    url: text('url').notNull(),
    description: text('description'),
    eventTypes: text('event_types').array().notNull(),
    disabledReason: text('disabled_reason').$type<DisabledReason>(),
    disabledAt: instant('disabled_at'),
    /** Failed tries since the last success, over all deliveries. */
    failures: integer('failures').notNull().default(0),
    failingSince: instant('failing_since'),
    lastFailure: text('last_failure'),
    lastDeliveredAt: instant('last_delivered_at'),
    retryAt: instant('retry_at'),
    /** While missed events are queued piece by piece: time of the first one that is not queued yet. */
    missedSince: instant('missed_since'),
    /** Requested and completed wakes: a counter, unlike a flag, cannot lose a concurrent request. */
    wakesRequested: bigint('wakes_requested', { mode: 'bigint' })
      .notNull()
      .default(sql`0`),
    wakesSent: bigint('wakes_sent', { mode: 'bigint' })
      .notNull()
      .default(sql`0`),
    /** True when a caller waits: the workflow is then woken even during an outage of the endpoint. */
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

/** Secrets of an endpoint: the newest, and former ones until their overlap ends. */
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

/** Deliveries: one for each event and endpoint, however often it is replayed. */
export const webhookDeliveries = pgTable(
  'webhook_deliveries',
  {
    id: text('id').primaryKey(),
    endpointId: text('endpoint_id')
      .notNull()
      .references(() => webhookEndpoints.id),
    eventId: text('event_id').notNull(),
    state: text('state').$type<DeliveryState>().notNull().default('pending'),
    /** Start of the tries: its publication, or its last replay. */
    triedSince: instant('tried_since').notNull(),
    /** Failed tries since then. */
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
    /** Beginning of the answer's body, encrypted: its content is not under our control. */
    encryptedExcerpt: bytea('encrypted_excerpt'),
  },
  (table) => [primaryKey({ columns: [table.deliveryId, table.number] })],
);
