import { sql } from 'drizzle-orm';
import {
  boolean,
  check,
  date,
  doublePrecision,
  index,
  integer,
  jsonb,
  pgTable,
  primaryKey,
  text,
  uniqueIndex,
} from 'drizzle-orm/pg-core';
import { amount, inList, instant } from '#db/schema/columns.ts';
import { CIRCUIT_STATES, type CircuitName, type CircuitState } from '#domain/gate/circuit.ts';
import { DRIFT_STOP_STATES, type Canary, type DriftStopState } from '#domain/gate/drift.ts';
import { PAUSE_ORIGINS, type Barrier } from '#domain/gate/purchase-gate.ts';
import type { FailureClass } from '#domain/work/failure.ts';
import type { PurchaseKind, WorkKind } from '#domain/work/kinds.ts';

export const gateWallet = pgTable(
  'gate_wallet',
  {
    singleton: boolean('singleton').primaryKey().default(true),
    /** Numbers the reads in the order of their start, so that no clock decides what a reading covers. */
    readsStarted: integer('reads_started').notNull().default(0),
    /** Null before the first read, and after a purchase without a reservation. */
    reading: integer('reading'),
    balanceAmount: amount('balance_amount'),
    balanceCurrency: text('balance_currency'),
    readAt: instant('read_at'),
    lowSince: instant('low_since'),
    releasedAt: instant('released_at'),
  },
  (table) => [check('gate_wallet_one_row', sql`${table.singleton}`)],
);

export const walletRunway = pgTable(
  'wallet_runway',
  {
    singleton: boolean('singleton').primaryKey().default(true),
    reckonedAt: instant('reckoned_at').notNull(),
    days: doublePrecision('days'),
    lowSince: instant('low_since'),
  },
  (table) => [check('wallet_runway_one_row', sql`${table.singleton}`)],
);

/**
 * Triggers keep `counted` and the totals below; every writer holds the account lock (docs/adr/0010-purchase-gate.md).
 */
export const gateReservations = pgTable(
  'gate_reservations',
  {
    attemptId: text('attempt_id').primaryKey(),
    apiKeyId: text('api_key_id').notNull(),
    day: date('day').notNull(),
    amount: amount('amount').notNull(),
    currency: text('currency').notNull(),
    /** Zero, the amount above, or the charge. Set by a trigger alone. */
    counted: amount('counted').notNull().default('0'),
    madeAt: instant('made_at').notNull(),
    /** The first read that began after the debit was known: later balances contain the debit. */
    coveredByReading: integer('covered_by_reading'),
    /** It counts against no reading, but still for its day. */
    isOver: boolean('is_over').notNull().default(false),
  },
  (table) => [
    index('gate_reservations_open')
      .on(table.currency)
      .where(sql`not ${table.isOver}`),
  ],
);

/** Total by day, currency and API key. Kept by a trigger. */
export const gateSpending = pgTable(
  'gate_spending',
  {
    day: date('day').notNull(),
    currency: text('currency').notNull(),
    /** Empty: all keys together. */
    apiKeyId: text('api_key_id').notNull(),
    amount: amount('amount').notNull(),
  },
  (table) => [primaryKey({ columns: [table.day, table.currency, table.apiKeyId] })],
);

/** Total of the reservations that are not over, by currency. Kept by a trigger. */
export const gateReserved = pgTable('gate_reserved', {
  currency: text('currency').primaryKey(),
  amount: amount('amount').notNull(),
});

/** A missing row counts as closed. */
export const gateCircuits = pgTable(
  'gate_circuits',
  {
    name: text('name').$type<CircuitName>().primaryKey(),
    state: text('state').$type<CircuitState>().notNull().default('closed'),
    failures: integer('failures').notNull().default(0),
    openings: integer('openings').notNull().default(0),
    probeAt: instant('probe_at'),
    canaryUntil: instant('canary_until'),
    canaryKind: text('canary_kind').$type<WorkKind>(),
    canaryId: text('canary_id'),
    detail: text('detail'),
    openedAt: instant('opened_at'),
    changedAt: instant('changed_at').notNull().defaultNow(),
  },
  (table) => [check('gate_circuits_state', sql`${table.state} in (${inList(CIRCUIT_STATES)})`)],
);

/** By kind of purchase; a missing row counts as open. */
export const gateLines = pgTable(
  'gate_lines',
  {
    kind: text('kind').$type<PurchaseKind>().primaryKey(),
    state: text('state').$type<DriftStopState>().notNull().default('open'),
    drifts: integer('drifts').notNull().default(0),
    stoppedProducts: jsonb('stopped_products').$type<readonly number[]>().notNull().default([]),
    stoppedAt: instant('stopped_at'),
    canaries: jsonb('canaries').$type<readonly Canary[]>().notNull().default([]),
    isStarted: boolean('is_started').notNull().default(false),
    since: instant('since'),
    detail: text('detail'),
    longestFillMs: doublePrecision('longest_fill_ms').notNull().default(0),
  },
  (table) => [check('gate_lines_state', sql`${table.state} in (${inList(DRIFT_STOP_STATES)})`)],
);

export const gateDrifts = pgTable(
  'gate_drifts',
  {
    subjectKind: text('subject_kind').$type<PurchaseKind>().notNull(),
    subjectId: text('subject_id').notNull(),
    attemptId: text('attempt_id').notNull(),
    product: integer('product').notNull(),
    /** The first read that lacked the delivery; null: it was there, and wrong. */
    unfilledSince: instant('unfilled_since'),
    /** Null: it is no drift yet. */
    driftedAt: instant('drifted_at'),
    detail: text('detail').notNull(),
    /** Found whole, or ended otherwise. */
    settledAt: instant('settled_at'),
  },
  (table) => [
    primaryKey({ columns: [table.subjectKind, table.subjectId] }),
    index('gate_drifts_open')
      .on(table.subjectKind)
      .where(sql`${table.settledAt} is null`),
  ],
);

/** A released pause stays as a record. */
export const gatePauses = pgTable(
  'gate_pauses',
  {
    id: text('id').primaryKey(),
    origin: text('origin').$type<(typeof PAUSE_ORIGINS)[number]>().notNull().default('operator'),
    kind: text('kind').$type<WorkKind>(),
    failureClass: text('failure_class').$type<FailureClass>(),
    reason: text('reason').notNull(),
    pausedBy: text('paused_by').notNull(),
    pausedAt: instant('paused_at').notNull(),
    releasedAt: instant('released_at'),
    releasedBy: text('released_by'),
    releaseReason: text('release_reason'),
  },
  (table) => [
    uniqueIndex('gate_pauses_one_active')
      .on(table.origin, sql`coalesce(${table.kind}, '')`, sql`coalesce(${table.failureClass}, '')`)
      .where(sql`${table.releasedAt} is null`),
    check('gate_pauses_origin', sql`${table.origin} in (${inList(PAUSE_ORIGINS)})`),
  ],
);

/** Held work, and possible purchases that wait for their resend. A row is deleted when the work continues. */
export const gateWaits = pgTable(
  'gate_waits',
  {
    subjectKind: text('subject_kind').$type<WorkKind>().notNull(),
    subjectId: text('subject_id').notNull(),
    barrier: text('barrier').$type<Barrier>().notNull(),
    failureClass: text('failure_class').$type<FailureClass>().notNull(),
    /** The oldest goes first. */
    acceptedAt: instant('accepted_at').notNull(),
    since: instant('since').notNull(),
    /** A canary without a result must not be chosen for ever. */
    probes: integer('probes').notNull().default(0),
    apiKeyId: text('api_key_id').notNull(),
    /** It waits for its resend and is not held, and its money is reserved already. */
    mayHaveBought: boolean('may_have_bought').notNull().default(false),
    /** As compared by the gate, or from the stored catalogue. */
    priceAmount: amount('price_amount'),
    priceCurrency: text('price_currency'),
  },
  (table) => [
    primaryKey({ columns: [table.subjectKind, table.subjectId] }),
    index('gate_waits_queue').on(table.barrier, table.probes, table.acceptedAt),
    index('gate_waits_oldest').on(table.barrier, table.acceptedAt, table.subjectId),
    index('gate_waits_of_key').on(table.barrier, table.apiKeyId, table.acceptedAt, table.subjectId),
  ],
);

/** Valid until the work has passed or was stopped by a barrier that no override lifts. */
export const gateOverrides = pgTable(
  'gate_overrides',
  {
    subjectKind: text('subject_kind').$type<WorkKind>().notNull(),
    subjectId: text('subject_id').notNull(),
    grantedBy: text('granted_by').notNull(),
    grantedAt: instant('granted_at').notNull(),
  },
  (table) => [primaryKey({ columns: [table.subjectKind, table.subjectId] })],
);
