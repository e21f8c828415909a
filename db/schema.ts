/**
 * The record of business facts. Uniqueness lives here: a workflow id is unique only for as long as Temporal retains
 * it. Secrets and personal data are `sealed` columns (AES-256-GCM, bound to table, column and row); raw bodies are
 * sealed bytes, never `jsonb`.
 */
import { sql } from 'drizzle-orm';
import {
  bigint,
  bigserial,
  boolean,
  check,
  customType,
  index,
  integer,
  jsonb,
  numeric,
  pgTable,
  primaryKey,
  text,
  timestamp,
  uniqueIndex,
  type AnyPgColumn,
} from 'drizzle-orm/pg-core';
import type { AttentionReason } from '#domain/attention.ts';
import type { FailureClass } from '#domain/failure.ts';
import { FINAL_STATUSES, statusesOf, type StatusOf, type WorkStatus } from '#domain/lifecycle.ts';
import {
  ATTEMPT_STATES,
  SUBSCRIPTION_ENDS,
  type AttemptState,
  type ObservationDecision,
  type ObservedOutcome,
  type SubscriptionEnd,
} from '#domain/observation.ts';
import type { WorkKind } from '#domain/work.ts';

const bytea = customType<{ data: Buffer }>({ dataType: () => 'bytea' });
const instant = (name: string) => timestamp(name, { withTimezone: true, mode: 'date', precision: 3 });
const amount = (name: string) => numeric(name, { precision: 21, scale: 6 });
const inList = (values: readonly string[]) => sql.raw(values.map((value) => `'${value}'`).join(', '));
const unfinished = (status: AnyPgColumn) => sql`${status} not in (${inList(FINAL_STATUSES)})`;

/** One row: which service and environment this database belongs to. Another one is refused at start. */
export const installation = pgTable(
  'installation',
  {
    singleton: boolean('singleton').primaryKey().default(true),
    serviceBaseUrl: text('service_base_url').notNull(),
    serviceMode: text('service_mode').notNull(),
    stampedAt: instant('stamped_at').notNull().defaultNow(),
  },
  (table) => [check('installation_one_row', sql`${table.singleton}`)],
);

/** The service's access token, shared by all processes. `version` is what compare-and-set compares. */
export const serviceTokens = pgTable('service_tokens', {
  environment: text('environment').primaryKey(),
  sealedToken: bytea('sealed_token').notNull(),
  version: integer('version').notNull(),
  expiresAt: instant('expires_at'),
  renewedAt: instant('renewed_at').notNull(),
});

/**
 * Webhook secrets that the service showed us when it made them, which it does once. All verify until their time is over;
 * beside them stand those of the configuration.
 */
export const webhookSecrets = pgTable(
  'webhook_secrets',
  {
    id: bigint('id', { mode: 'bigint' }).primaryKey().generatedAlwaysAsIdentity(),
    /** `production` or `sandbox`. */
    environment: text('environment').notNull(),
    sealedSecret: bytea('sealed_secret').notNull(),
    storedAt: instant('stored_at').notNull().defaultNow(),
    /** Null for the newest: the service signs with it. */
    verifiesUntil: instant('verifies_until'),
  },
  (table) => [uniqueIndex('webhook_secrets_one_newest').on(table.environment).where(sql`${table.verifiesUntil} is null`)],
);

/** What a probe of the service found it able to do. The newest row of an environment counts. */
export const capabilityProfiles = pgTable(
  'capability_profiles',
  {
    id: bigint('id', { mode: 'bigint' }).primaryKey().generatedAlwaysAsIdentity(),
    /** Where it was measured: `production` or `sandbox`. */
    environment: text('environment').notNull(),
    measuredAt: instant('measured_at').notNull(),
    /** By capability: true, false, or null where the probe could not tell. */
    findings: jsonb('findings').$type<Record<string, boolean | null>>().notNull(),
    /** In a sentence for each capability, what was tried and what came of it. */
    evidence: jsonb('evidence').$type<Record<string, string>>().notNull(),
    /** When an operator said that it may be relied upon in production, and who. */
    confirmedAt: instant('confirmed_at'),
    confirmedBy: text('confirmed_by'),
  },
  (table) => [index('capability_profiles_newest').on(table.environment, table.id.desc())],
);

/** Keys of our own API. Only a hash is kept. */
export const apiKeys = pgTable('api_keys', {
  id: text('id').primaryKey(),
  name: text('name').notNull(),
  /** Public part of the key; what a lookup starts from. */
  prefix: text('prefix').notNull().unique(),
  hash: bytea('hash').notNull(),
  scopes: text('scopes').array().notNull(),
  createdAt: instant('created_at').notNull().defaultNow(),
  expiresAt: instant('expires_at'),
  revokedAt: instant('revoked_at'),
  lastUsedAt: instant('last_used_at'),
});

/** Answers to our callers' POST requests, by their Idempotency-Key. Written in the transaction that does the work. */
export const idempotencyKeys = pgTable(
  'idempotency_keys',
  {
    apiKeyId: text('api_key_id').notNull(),
    key: text('key').notNull(),
    /** Keyed hash of method, path and body. */
    requestHash: bytea('request_hash').notNull(),
    responseStatus: integer('response_status').notNull(),
    responseHeaders: jsonb('response_headers').$type<Record<string, string>>().notNull(),
    /** Exact bytes of the first answer, sealed. */
    sealedResponseBody: bytea('sealed_response_body').notNull(),
    createdAt: instant('created_at').notNull().defaultNow(),
  },
  (table) => [
    primaryKey({ columns: [table.apiKeyId, table.key] }),
    index('idempotency_keys_created_at').on(table.createdAt),
  ],
);

/** What the row of every kind of work has; `db/work.ts` moves it on without knowing the kind. */
export function workColumns<Status extends WorkStatus>() {
  return {
    id: text('id').primaryKey(),
    apiKeyId: text('api_key_id').notNull(),
    maxPriceAmount: amount('max_price_amount'),
    maxPriceCurrency: text('max_price_currency'),
    /** Held work fails, without having bought, when this has passed. */
    deadlineAt: instant('deadline_at'),
    /** Attempts that operators have granted beyond the policy. */
    extraAttempts: integer('extra_attempts').notNull().default(0),
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
    /** When the sweeper last made sure that a workflow runs. */
    sweptAt: instant('swept_at'),
  };
}

export const orders = pgTable(
  'orders',
  {
    ...workColumns<StatusOf<'order'>>(),
    externalOrderId: text('external_order_id').notNull().unique(),
    packageId: integer('package_id').notNull(),
    sealedDeviceImei: bytea('sealed_device_imei'),
  },
  (table) => [
    check('orders_status', sql`${table.status} in (${inList(statusesOf('order'))})`),
    check('orders_completed_with_esim', sql`${table.status} <> 'completed' or ${table.esimId} is not null`),
    index('orders_page').on(table.createdAt.desc(), table.id.desc()),
    index('orders_status_page').on(table.status, table.createdAt.desc(), table.id.desc()),
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
    index('topups_esim_page').on(table.esimId, table.createdAt.desc(), table.id.desc()),
    index('topups_unfinished').on(table.updatedAt).where(unfinished(table.status)),
  ],
);

export const vpnSubscriptions = pgTable(
  'vpn_subscriptions',
  {
    ...workColumns<StatusOf<'vpn_subscription'>>(),
    externalSubscriptionId: text('external_subscription_id').notNull().unique(),
    vpnPlanId: integer('vpn_plan_id').notNull(),
    sealedCustomerReference: bytea('sealed_customer_reference').notNull(),
    /** What the customer pays; the service takes it without a currency, so it is read in that of the plan. */
    customerPrice: amount('customer_price').notNull(),
    /** What the customer's device needs, as JSON. */
    sealedAccess: bytea('sealed_access'),
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
    index('vpn_subscriptions_unfinished').on(table.updatedAt).where(unfinished(table.status)),
  ],
);

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
    /** The reference that this attempt gives to the service (`external_order_id`); null where its interface takes none. */
    reference: text('reference'),
    /** The exact bytes of the request body; every send repeats them. */
    sealedRequestBody: bytea('sealed_request_body').notNull(),
    state: text('state').$type<AttemptState>().notNull().default('prepared'),
    sends: integer('sends').notNull().default(0),
    /** True once any send ended without proof of what it did. */
    anyUnknown: boolean('any_unknown').notNull().default(false),
    firstSentAt: instant('first_sent_at'),
    /** One send at a time: who sends, and until when. */
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
    /** Our id of an eSIM, from the first send until the attempt is settled: nothing else is done to that eSIM meanwhile. */
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
    index('attempts_open')
      .on(table.lastHeardAt)
      .where(sql`${table.state} in ('sending', 'unknown', 'processing')`),
  ],
);

export const esims = pgTable('esims', {
  id: text('id').primaryKey(),
  orderId: text('order_id').notNull().unique(),
  serviceEsimId: text('service_esim_id').notNull().unique(),
  iccid: text('iccid').notNull(),
  packageId: integer('package_id').notNull(),
  sealedActivationCode: bytea('sealed_activation_code').notNull(),
  status: text('status').notNull(),
  installedAt: instant('installed_at'),
  activatedAt: instant('activated_at'),
  expiresAt: instant('expires_at'),
  /** When these facts were last read from the service. */
  factsReadAt: instant('facts_read_at').notNull(),
  createdAt: instant('created_at').notNull().defaultNow(),
});

/** What happened to a thing, in plain words, in order. */
export const timeline = pgTable(
  'timeline',
  {
    id: bigserial('id', { mode: 'bigint' }).primaryKey(),
    subjectKind: text('subject_kind').notNull(),
    subjectId: text('subject_id').notNull(),
    at: instant('at').notNull().defaultNow(),
    /** Stable name: `order.accepted`, `attempt.sent`, … */
    event: text('event').notNull(),
    /** A sentence; never personal data. */
    message: text('message').notNull(),
    detail: jsonb('detail').$type<Record<string, string | number | boolean | null>>().notNull().default({}),
    /** Makes an activity that runs twice write one entry. */
    dedupKey: text('dedup_key'),
  },
  (table) => [
    index('timeline_subject').on(table.subjectKind, table.subjectId, table.id),
    uniqueIndex('timeline_dedup').on(table.subjectKind, table.subjectId, table.dedupKey),
  ],
);

/** What waits for a person. At most one open case per subject and reason. */
export const cases = pgTable(
  'cases',
  {
    id: text('id').primaryKey(),
    subjectKind: text('subject_kind').notNull(),
    subjectId: text('subject_id').notNull(),
    reason: text('reason').$type<AttentionReason>().notNull(),
    /** The attempt that it is about; null where it is about no single one. */
    attemptId: text('attempt_id'),
    detail: text('detail').notNull(),
    openedAt: instant('opened_at').notNull().defaultNow(),
    closedAt: instant('closed_at'),
    resolution: text('resolution'),
  },
  (table) => [
    uniqueIndex('cases_one_open').on(table.subjectKind, table.subjectId, table.reason).where(sql`${table.closedAt} is null`),
    index('cases_open').on(table.openedAt).where(sql`${table.closedAt} is null`),
  ],
);

/**
 * What became of a delivery. `pending` waits for the relay, `relayed` was handed to a workflow, `applied` changed or
 * confirmed a row, `unmatched` names nothing of ours yet, `quarantined` is kept and not acted upon, `replayed` is
 * signed content that came before under another delivery id, `ignored` needs no action (`ping`).
 */
export const INBOX_STATES = ['pending', 'relayed', 'applied', 'unmatched', 'quarantined', 'replayed', 'ignored'] as const;
export type InboxState = (typeof INBOX_STATES)[number];

/** Everything the service told us, by webhook or in answer to the reconciler. Rows are kept for good. */
export const inbox = pgTable(
  'inbox',
  {
    id: bigserial('id', { mode: 'bigint' }).primaryKey(),
    source: text('source').$type<'webhook' | 'read'>().notNull(),
    /** X-Service-Delivery, or a derived id for a read. */
    deliveryId: text('delivery_id').notNull(),
    bodyHash: bytea('body_hash').notNull(),
    /** Hash of the signed content (timestamp and body): the same under another delivery id is a replay. */
    signedHash: bytea('signed_hash').notNull(),
    sealedBody: bytea('sealed_body').notNull(),
    /** X-Service-Event: not signed, so only held against the body. */
    headerEvent: text('header_event'),
    event: text('event'),
    state: text('state').$type<InboxState>().notNull(),
    /** Why it is quarantined, or what the state machine made of it. */
    note: text('note'),
    /** What the body names, for matching. */
    reference: text('reference'),
    /** The service's id of it. */
    serviceId: text('service_id'),
    serviceEsimId: text('service_esim_id'),
    outcome: text('outcome').$type<ObservedOutcome>(),
    /** What it meant when it was first judged; kept, so that handing it over again does not judge it anew. */
    decision: text('decision').$type<ObservationDecision>(),
    attemptId: text('attempt_id'),
    /** The kind of work that it speaks of; null where that is not known. */
    subjectKind: text('subject_kind').$type<WorkKind>(),
    subjectId: text('subject_id'),
    receivedAt: instant('received_at').notNull().defaultNow(),
    appliedAt: instant('applied_at'),
    tries: integer('tries').notNull().default(0),
    availableAt: instant('available_at').notNull().defaultNow(),
    lastError: text('last_error'),
  },
  (table) => [
    uniqueIndex('inbox_delivery_body').on(table.deliveryId, table.bodyHash),
    uniqueIndex('inbox_signed_content').on(table.signedHash).where(sql`${table.state} <> 'replayed'`),
    check('inbox_state', sql`${table.state} in (${inList(INBOX_STATES)})`),
    index('inbox_pending').on(table.availableAt, table.id).where(sql`${table.state} = 'pending'`),
    index('inbox_unapplied').on(table.subjectKind, table.subjectId).where(sql`${table.state} in ('pending', 'relayed')`),
    index('inbox_unmatched').on(table.reference).where(sql`${table.state} = 'unmatched'`),
    index('inbox_unmatched_service_id').on(table.serviceId).where(sql`${table.state} = 'unmatched'`),
  ],
);

/** `start_work`: its workflow is to run. `wake_work`: a person acted on it, and its workflow is to look. */
export const OUTBOX_TOPICS = ['start_work', 'wake_work'] as const;
export type OutboxTopic = (typeof OUTBOX_TOPICS)[number];

/** Work to hand to Temporal, written in the transaction that makes it necessary. A row is deleted once handed over. */
export const outbox = pgTable(
  'outbox',
  {
    id: bigserial('id', { mode: 'bigint' }).primaryKey(),
    topic: text('topic').$type<OutboxTopic>().notNull(),
    subjectKind: text('subject_kind').$type<WorkKind>().notNull(),
    subjectId: text('subject_id').notNull(),
    createdAt: instant('created_at').notNull().defaultNow(),
    availableAt: instant('available_at').notNull().defaultNow(),
    tries: integer('tries').notNull().default(0),
    lastError: text('last_error'),
  },
  (table) => [
    uniqueIndex('outbox_topic_subject').on(table.topic, table.subjectKind, table.subjectId),
    index('outbox_available').on(table.availableAt, table.id),
  ],
);

/** Our books: append-only (a trigger refuses updates and deletes), one row per movement of the service's wallet. */
export const journal = pgTable(
  'journal',
  {
    id: bigint('id', { mode: 'bigint' }).primaryKey().generatedAlwaysAsIdentity(),
    direction: text('direction').$type<'debit' | 'credit'>().notNull(),
    amount: amount('amount').notNull(),
    currency: text('currency').notNull(),
    causeKind: text('cause_kind').$type<'attempt'>().notNull(),
    causeId: text('cause_id').notNull(),
    recordedAt: instant('recorded_at').notNull().defaultNow(),
  },
  (table) => [
    uniqueIndex('journal_one_per_cause').on(table.causeKind, table.causeId, table.direction),
    check('journal_positive', sql`${table.amount} >= 0`),
    check('journal_direction', sql`${table.direction} in ('debit', 'credit')`),
  ],
);

/** Who did what, including each reveal of an activation code. */
export const auditLog = pgTable(
  'audit_log',
  {
    id: bigserial('id', { mode: 'bigint' }).primaryKey(),
    at: instant('at').notNull().defaultNow(),
    actor: text('actor').notNull(),
    action: text('action').notNull(),
    subjectKind: text('subject_kind').notNull(),
    subjectId: text('subject_id').notNull(),
    /** Why, in that person's words. */
    reason: text('reason'),
  },
  (table) => [index('audit_log_subject').on(table.subjectKind, table.subjectId, table.id)],
);
