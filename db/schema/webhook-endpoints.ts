/** Where internal systems want to be told of events, and what was delivered there. */
import { sql } from 'drizzle-orm';
import {
  bigint,
  bigserial,
  boolean,
  check,
  index,
  integer,
  pgTable,
  primaryKey,
  text,
  uniqueIndex,
} from 'drizzle-orm/pg-core';
import { bytea, inList, instant } from '#db/schema/columns.ts';
import {
  DELIVERY_STATES,
  type DeliveryState,
  type DisabledReason,
  type TryFailure,
} from '#domain/events/webhook-delivery.ts';

/** Receivers of events. One that is deleted keeps its row, without secrets, for as long as its log is kept. */
export const webhookEndpoints = pgTable(
  'webhook_endpoints',
  {
    id: text('id').primaryKey(),
    /** Whose it is: the key that made it, by its line. */
    apiKeyId: text('api_key_id').notNull(),
    /** Whose events alone it gets; null: everybody's. */
    ownerId: text('owner_id'),
    url: text('url').notNull(),
    description: text('description'),
    /** Patterns of event types. */
    eventTypes: text('event_types').array().notNull(),
    /** Null while it is enabled. */
    disabledReason: text('disabled_reason').$type<DisabledReason>(),
    disabledAt: instant('disabled_at'),
    /** Tries that failed since the last success, over all deliveries. */
    failures: integer('failures').notNull().default(0),
    failingSince: instant('failing_since'),
    /** A clause such as "it answered 503". */
    lastFailure: text('last_failure'),
    lastDeliveredAt: instant('last_delivered_at'),
    /** Nothing is sent before this. */
    retryAt: instant('retry_at'),
    /** While what it missed is queued piece by piece: when the first of the events happened that are not queued yet. */
    missedSince: instant('missed_since'),
    /** How often its workflow was to be woken, and how often it was: a count cannot be overtaken as a mark can. */
    wakesWanted: bigint('wakes_wanted', { mode: 'bigint' })
      .notNull()
      .default(sql`0`),
    wakesGiven: bigint('wakes_given', { mode: 'bigint' })
      .notNull()
      .default(sql`0`),
    /** True when a person waits for it: then it is woken although it waits for the end of an outage. */
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
      .where(sql`${table.wakesWanted} > ${table.wakesGiven}`),
    index('webhook_endpoints_owner').on(table.ownerId, table.id),
  ],
);

/** What signs the deliveries of an endpoint: its newest secret, and former ones until their overlap ends. */
export const webhookEndpointSecrets = pgTable(
  'webhook_endpoint_secrets',
  {
    id: bigserial('id', { mode: 'bigint' }).primaryKey(),
    endpointId: text('endpoint_id')
      .notNull()
      .references(() => webhookEndpoints.id),
    encryptedSecret: bytea('encrypted_secret').notNull(),
    createdAt: instant('created_at').notNull(),
    /** Null: the newest. */
    signsUntil: instant('signs_until'),
  },
  (table) => [
    index('webhook_endpoint_secrets_endpoint').on(table.endpointId, table.id),
    uniqueIndex('webhook_endpoint_secrets_newest')
      .on(table.endpointId)
      .where(sql`${table.signsUntil} is null`),
  ],
);

/** An event that an endpoint is to get: once for the two of them, however often it is replayed. */
export const webhookDeliveries = pgTable(
  'webhook_deliveries',
  {
    id: text('id').primaryKey(),
    endpointId: text('endpoint_id')
      .notNull()
      .references(() => webhookEndpoints.id),
    eventId: text('event_id').notNull(),
    state: text('state').$type<DeliveryState>().notNull().default('pending'),
    /** Since when it is tried: its publication, or its last replay. */
    triedSince: instant('tried_since').notNull(),
    /** Tries since then that failed. */
    failedTries: integer('failed_tries').notNull().default(0),
    /** Tries ever. */
    tries: integer('tries').notNull().default(0),
    nextTryAt: instant('next_try_at'),
    /** A try has it to itself until then. */
    leasedUntil: instant('leased_until'),
    createdAt: instant('created_at').notNull(),
    endedAt: instant('ended_at'),
    /** What came of the last try. */
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

/** Every try of a delivery. */
export const webhookTries = pgTable(
  'webhook_tries',
  {
    deliveryId: text('delivery_id')
      .notNull()
      .references(() => webhookDeliveries.id, { onDelete: 'cascade' }),
    /** From 1. */
    number: integer('number').notNull(),
    at: instant('at').notNull(),
    durationMs: integer('duration_ms').notNull(),
    status: integer('status'),
    failure: text('failure').$type<TryFailure>(),
    /** Beginning of the answer's body, encrypted: nobody knows what a receiver says. */
    encryptedExcerpt: bytea('encrypted_excerpt'),
  },
  (table) => [primaryKey({ columns: [table.deliveryId, table.number] })],
);
