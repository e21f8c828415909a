import type { Environment } from '#simulator/store/store.ts';

/** Increase it with each change of the tables. A file of another version is refused. */
export const SCHEMA_VERSION = 3;

interface Column<Value> {
  readonly sql: string;
  readonly words?: readonly string[];
  /** Only for the type. */
  readonly value?: Value;
}

const column = <Value>(sql: string): Column<Value> => ({ sql });
const word = <Word extends string>(...words: readonly Word[]): Column<Word> => ({ sql: 'TEXT NOT NULL', words });
const wordOrNull = <Word extends string>(...words: readonly Word[]): Column<Word | null> => ({ sql: 'TEXT', words });

const sequence = column<number>('INTEGER PRIMARY KEY AUTOINCREMENT');
const environment = column<Environment>('TEXT NOT NULL');
const text = column<string>('TEXT NOT NULL');
const unique = column<string>('TEXT NOT NULL UNIQUE');
const textOrNull = column<string | null>('TEXT');
const integer = column<number>('INTEGER NOT NULL');
const integerOrNull = column<number | null>('INTEGER');
const count = column<number>('INTEGER NOT NULL DEFAULT 0');

export const SALE_KINDS = ['order', 'topup', 'vpn'] as const;
export const DELIVERY_STATUSES = ['pending', 'delivered', 'exhausted', 'lost', 'no_target'] as const;

const movementSubject = {
  order_id: textOrNull,
  external_order_id: textOrNull,
  esim_id: textOrNull,
  topup_id: textOrNull,
  refund_id: textOrNull,
  vpn_subscription_id: textOrNull,
  external_subscription_id: textOrNull,
};

/**
 * Columns are named as on the wire, where the service shows them. Times are epoch milliseconds, amounts exact decimals
 * as text.
 */
const TABLES = {
  settings: { name: text, value: text },
  tokens: { hash: text, environment, device_name: text, created_at: integer, expires_at: integer },
  item_changes: {
    kind: word('package', 'vpn_plan'),
    id: integer,
    price: textOrNull,
    available: integerOrNull,
    removed: integerOrNull,
    added: textOrNull,
  },
  idempotency_keys: { environment, key: text, fingerprint: text, status: integer, body: text, created_at: integer },
  sales: {
    sequence,
    id: unique,
    environment,
    kind: word(...SALE_KINDS),
    /** A top-up has none. */
    reference: textOrNull,
    item_id: integer,
    status: word('processing', 'completed', 'failed'),
    price: text,
    currency: text,
    /** Delivered by an order, or recharged by a top-up. */
    esim_id: textOrNull,
    failure_code: textOrNull,
    failure_message: textOrNull,
    /** Counts from the failure; null for no credit. */
    credit_after_ms: integerOrNull,
    due_at: integerOrNull,
    due_outcome: wordOrNull('completed', 'failed'),
    credit_due_at: integerOrNull,
    created_at: integer,
    updated_at: integer,
  },
  esims: {
    sequence,
    id: unique,
    environment,
    order_id: unique,
    package_id: integer,
    iccid: unique,
    activation_code: unique,
    status: word('available', 'installed', 'active', 'consumed', 'cancelled'),
    installed_at: integerOrNull,
    activated_at: integerOrNull,
    expires_at: integerOrNull,
    /** Until `used_at`. An active eSIM has used more since. */
    used_mb: count,
    used_at: integerOrNull,
    created_at: integer,
  },
  refunds: {
    sequence,
    id: unique,
    environment,
    esim_id: text,
    order_id: text,
    cancellation: word('processing', 'cancelled', 'refused'),
    status: word('processing', 'completed', 'failed'),
    review: wordOrNull('accepted', 'refused', 'manual_review'),
    amount: text,
    currency: text,
    /** JSON: the conditions that were not met when the cancellation was requested. */
    unmet: text,
    due_at: integerOrNull,
    /** The end of the review, or the payment of the refund. */
    due_step: wordOrNull('accept', 'refuse', 'review', 'pay', 'fail'),
    created_at: integer,
    updated_at: integer,
  },
  /** Before it is active, only its sale exists. */
  vpn_subscriptions: {
    id: text,
    status: word('active', 'cancelled', 'expired'),
    username: text,
    password: text,
    server: text,
    started_at: integer,
    expires_at: integer,
    cancelled_at: integerOrNull,
    /** When an accepted cancellation takes effect. */
    cancel_due_at: integerOrNull,
  },
  ledger: {
    sequence,
    id: unique,
    environment,
    type: word('debit', 'credit'),
    amount: text,
    currency: text,
    balance_after: text,
    /** `order`, `topup`, `vpn`, `refund`, `deposit` or another text. */
    reason: text,
    ...movementSubject,
    created_at: integer,
  },
  deliveries: {
    sequence,
    id: unique,
    environment,
    event: text,
    /** Deliveries of one subject are sent one after the other. */
    subject: textOrNull,
    header_event: text,
    body: column<Uint8Array>('BLOB NOT NULL'),
    /** Intended defects, as JSON. */
    fault: textOrNull,
    status: word(...DELIVERY_STATUSES),
    attempts: count,
    /** 1: waits until another event of its subject is delivered. */
    held: count,
    sending: count,
    /** First signature, by the machine's clock. */
    signed_at: integerOrNull,
    next_attempt_at: integerOrNull,
    created_at: integer,
  },
  delivery_attempts: {
    sequence,
    delivery_id: text,
    sent_at: integer,
    timestamp: text,
    status: integerOrNull,
    error: textOrNull,
    duration_ms: integer,
  },
  /** The body is not stored: it may contain an IMEI or a password. */
  requests: {
    sequence,
    environment,
    method: text,
    path: text,
    /** Null for requests outside the contract. */
    endpoint: textOrNull,
    idempotency_key: textOrNull,
    body_sha256: text,
    body_bytes: integer,
    received_at: integer,
    /** Null when no work was executed. */
    result_status: integerOrNull,
    /** Null when no answer was sent. */
    status: integerOrNull,
    faults: textOrNull,
  },
  fault_rules: { sequence, id: unique, target: text, rule: text, profile: count, hits: count, fired: count },
  behaviours: { sequence, id: unique, rule: text, used: count },
};

type Row<Columns> = {
  readonly [Name in keyof Columns]: Columns[Name] extends Column<infer Value> ? Value : never;
};
export type Tables = { [Name in keyof typeof TABLES]: Row<(typeof TABLES)[Name]> };

export type ItemChange = Tables['item_changes'];
export type KeyedResult = Tables['idempotency_keys'];
export type Sale = Tables['sales'];
export type SaleKind = Sale['kind'];
export type Esim = Tables['esims'];
export type Refund = Tables['refunds'];
export type Subscription = Tables['vpn_subscriptions'];
export type Movement = Tables['ledger'];
/** What a movement names. */
export type MovementSubject = Partial<Row<typeof movementSubject>>;
export type Delivery = Tables['deliveries'];
export type LoggedRequest = Tables['requests'];

/** Of the tables without a sequence. */
const PRIMARY_KEYS: Readonly<Record<string, string>> = {
  settings: 'name',
  tokens: 'hash',
  item_changes: 'kind, id',
  idempotency_keys: 'environment, key',
  vpn_subscriptions: 'id',
};

const INDEXES = `
CREATE INDEX sales_by_kind ON sales (environment, kind, sequence);
CREATE INDEX sales_by_reference ON sales (environment, kind, reference) WHERE reference IS NOT NULL;
CREATE INDEX sales_by_esim ON sales (esim_id) WHERE esim_id IS NOT NULL;
CREATE INDEX sales_due ON sales (due_at) WHERE due_at IS NOT NULL;
CREATE INDEX sales_credit_due ON sales (credit_due_at) WHERE credit_due_at IS NOT NULL;
CREATE UNIQUE INDEX topups_in_flight ON sales (esim_id) WHERE kind = 'topup' AND status = 'processing';
CREATE INDEX refunds_by_esim ON refunds (esim_id);
CREATE INDEX refunds_due ON refunds (due_at) WHERE due_at IS NOT NULL;
CREATE UNIQUE INDEX cancellations_in_flight ON refunds (esim_id) WHERE cancellation = 'processing';
CREATE UNIQUE INDEX refunds_once ON refunds (order_id) WHERE status = 'completed';
CREATE INDEX vpn_subscriptions_expiring ON vpn_subscriptions (expires_at) WHERE status = 'active';
CREATE INDEX vpn_subscriptions_cancelling ON vpn_subscriptions (cancel_due_at) WHERE cancel_due_at IS NOT NULL;
CREATE INDEX ledger_by_environment ON ledger (environment, sequence);
CREATE INDEX ledger_by_order ON ledger (order_id) WHERE order_id IS NOT NULL;
CREATE INDEX ledger_by_reference ON ledger (environment, external_order_id) WHERE external_order_id IS NOT NULL;
CREATE INDEX deliveries_due ON deliveries (next_attempt_at) WHERE status = 'pending' AND sending = 0;
CREATE INDEX deliveries_sending ON deliveries (subject) WHERE sending = 1;
CREATE INDEX deliveries_held ON deliveries (subject) WHERE held = 1;
CREATE INDEX delivery_attempts_by_delivery ON delivery_attempts (delivery_id);
CREATE INDEX requests_by_key ON requests (idempotency_key) WHERE idempotency_key IS NOT NULL;
`;

export const SCHEMA = Object.entries(TABLES).map(createTable).join('\n') + INDEXES;

function createTable([table, columns]: [string, Readonly<Record<string, Column<unknown>>>]): string {
  const key = PRIMARY_KEYS[table];
  const parts = Object.entries(columns).map(([name, { sql, words }]) => {
    return words === undefined ? `${name} ${sql}` : `${name} ${sql} CHECK (${name} IN ('${words.join("', '")}'))`;
  });
  if (key === undefined) return `CREATE TABLE ${table} (${parts.join(', ')}) STRICT;`;
  return `CREATE TABLE ${table} (${[...parts, `PRIMARY KEY (${key})`].join(', ')}) STRICT, WITHOUT ROWID;`;
}

/** Even a bug of the simulator cannot change the ledger. */
export const LEDGER_GUARD = `
CREATE TRIGGER ledger_no_update BEFORE UPDATE ON ledger BEGIN SELECT raise(ABORT, 'the ledger is append-only'); END;
CREATE TRIGGER ledger_no_delete BEFORE DELETE ON ledger BEGIN SELECT raise(ABORT, 'the ledger is append-only'); END;
`;

export const LIFT_LEDGER_GUARD = 'DROP TRIGGER ledger_no_update; DROP TRIGGER ledger_no_delete;';
