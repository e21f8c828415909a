/** Increase it with each change of the tables. A file of another version is refused. */
export const SCHEMA_VERSION = 3;

/** Times are epoch milliseconds, amounts exact decimals as text. */
export const SCHEMA = `
CREATE TABLE settings (
  name TEXT PRIMARY KEY,
  value TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE tokens (
  hash TEXT PRIMARY KEY,
  environment TEXT NOT NULL,
  device_name TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE item_changes (
  kind TEXT NOT NULL CHECK (kind IN ('package', 'vpn_plan')),
  id INTEGER NOT NULL,
  price TEXT,
  available INTEGER,
  removed INTEGER,
  added TEXT,
  PRIMARY KEY (kind, id)
) STRICT, WITHOUT ROWID;

CREATE TABLE idempotency_keys (
  environment TEXT NOT NULL,
  key TEXT NOT NULL,
  fingerprint TEXT NOT NULL,
  status INTEGER NOT NULL,
  body TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  PRIMARY KEY (environment, key)
) STRICT, WITHOUT ROWID;

CREATE TABLE sales (
  sequence INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  environment TEXT NOT NULL,
  kind TEXT NOT NULL CHECK (kind IN ('order', 'topup', 'vpn')),
  reference TEXT,
  item_id INTEGER NOT NULL,
  status TEXT NOT NULL CHECK (status IN ('processing', 'completed', 'failed')),
  price TEXT NOT NULL,
  currency TEXT NOT NULL,
  esim_id TEXT,
  failure_code TEXT,
  failure_message TEXT,
  credit_after_ms INTEGER,
  due_at INTEGER,
  due_outcome TEXT CHECK (due_outcome IN ('completed', 'failed')),
  credit_due_at INTEGER,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL
) STRICT;
CREATE INDEX sales_by_kind ON sales (environment, kind, sequence);
CREATE INDEX sales_by_reference ON sales (environment, kind, reference) WHERE reference IS NOT NULL;
CREATE INDEX sales_by_esim ON sales (esim_id) WHERE esim_id IS NOT NULL;
CREATE INDEX sales_due ON sales (due_at) WHERE due_at IS NOT NULL;
CREATE INDEX sales_credit_due ON sales (credit_due_at) WHERE credit_due_at IS NOT NULL;
CREATE UNIQUE INDEX topups_in_flight ON sales (esim_id) WHERE kind = 'topup' AND status = 'processing';

CREATE TABLE esims (
  sequence INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  environment TEXT NOT NULL,
  order_id TEXT NOT NULL UNIQUE,
  package_id INTEGER NOT NULL,
  iccid TEXT NOT NULL UNIQUE,
  activation_code TEXT NOT NULL UNIQUE,
  status TEXT NOT NULL CHECK (status IN ('available', 'installed', 'active', 'consumed', 'cancelled')),
  installed_at INTEGER,
  activated_at INTEGER,
  expires_at INTEGER,
  used_mb INTEGER NOT NULL DEFAULT 0,
  used_at INTEGER,
  created_at INTEGER NOT NULL
) STRICT;

CREATE TABLE refunds (
  sequence INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  environment TEXT NOT NULL,
  esim_id TEXT NOT NULL,
  order_id TEXT NOT NULL,
  cancellation TEXT NOT NULL CHECK (cancellation IN ('processing', 'cancelled', 'refused')),
  status TEXT NOT NULL CHECK (status IN ('processing', 'completed', 'failed')),
  review TEXT CHECK (review IN ('accepted', 'refused', 'manual_review')),
  amount TEXT NOT NULL,
  currency TEXT NOT NULL,
  unmet TEXT NOT NULL,
  due_at INTEGER,
  due_step TEXT CHECK (due_step IN ('accept', 'refuse', 'review', 'pay', 'fail')),
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL
) STRICT;
CREATE INDEX refunds_by_esim ON refunds (esim_id);
CREATE INDEX refunds_due ON refunds (due_at) WHERE due_at IS NOT NULL;
CREATE UNIQUE INDEX cancellations_in_flight ON refunds (esim_id) WHERE cancellation = 'processing';
CREATE UNIQUE INDEX refunds_once ON refunds (order_id) WHERE status = 'completed';

CREATE TABLE vpn_subscriptions (
  id TEXT PRIMARY KEY,
  status TEXT NOT NULL CHECK (status IN ('active', 'cancelled', 'expired')),
  username TEXT NOT NULL,
  password TEXT NOT NULL,
  server TEXT NOT NULL,
  started_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL,
  cancelled_at INTEGER,
  cancel_due_at INTEGER
) STRICT, WITHOUT ROWID;
CREATE INDEX vpn_subscriptions_expiring ON vpn_subscriptions (expires_at) WHERE status = 'active';
CREATE INDEX vpn_subscriptions_cancelling ON vpn_subscriptions (cancel_due_at) WHERE cancel_due_at IS NOT NULL;

CREATE TABLE ledger (
  sequence INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  environment TEXT NOT NULL,
  type TEXT NOT NULL CHECK (type IN ('debit', 'credit')),
  amount TEXT NOT NULL,
  currency TEXT NOT NULL,
  balance_after TEXT NOT NULL,
  reason TEXT NOT NULL,
  order_id TEXT,
  external_order_id TEXT,
  esim_id TEXT,
  topup_id TEXT,
  refund_id TEXT,
  vpn_subscription_id TEXT,
  external_subscription_id TEXT,
  created_at INTEGER NOT NULL
) STRICT;
CREATE INDEX ledger_by_environment ON ledger (environment, sequence);
CREATE INDEX ledger_by_order ON ledger (order_id) WHERE order_id IS NOT NULL;
CREATE INDEX ledger_by_reference ON ledger (environment, external_order_id) WHERE external_order_id IS NOT NULL;

CREATE TABLE deliveries (
  sequence INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  environment TEXT NOT NULL,
  event TEXT NOT NULL,
  subject TEXT,
  header_event TEXT NOT NULL,
  body BLOB NOT NULL,
  fault TEXT,
  status TEXT NOT NULL CHECK (status IN ('pending', 'delivered', 'exhausted', 'lost', 'no_target')),
  attempts INTEGER NOT NULL DEFAULT 0,
  held INTEGER NOT NULL DEFAULT 0,
  sending INTEGER NOT NULL DEFAULT 0,
  signed_at INTEGER,
  next_attempt_at INTEGER,
  created_at INTEGER NOT NULL
) STRICT;
CREATE INDEX deliveries_due ON deliveries (next_attempt_at) WHERE status = 'pending' AND sending = 0;
CREATE INDEX deliveries_sending ON deliveries (subject) WHERE sending = 1;
CREATE INDEX deliveries_held ON deliveries (subject) WHERE held = 1;

CREATE TABLE delivery_attempts (
  sequence INTEGER PRIMARY KEY AUTOINCREMENT,
  delivery_id TEXT NOT NULL,
  sent_at INTEGER NOT NULL,
  timestamp TEXT NOT NULL,
  status INTEGER,
  error TEXT,
  duration_ms INTEGER NOT NULL
) STRICT;
CREATE INDEX delivery_attempts_by_delivery ON delivery_attempts (delivery_id);

CREATE TABLE requests (
  sequence INTEGER PRIMARY KEY AUTOINCREMENT,
  environment TEXT NOT NULL,
  method TEXT NOT NULL,
  path TEXT NOT NULL,
  endpoint TEXT,
  idempotency_key TEXT,
  body_sha256 TEXT NOT NULL,
  body_bytes INTEGER NOT NULL,
  received_at INTEGER NOT NULL,
  result_status INTEGER,
  status INTEGER,
  faults TEXT
) STRICT;
CREATE INDEX requests_by_key ON requests (idempotency_key) WHERE idempotency_key IS NOT NULL;

CREATE TABLE fault_rules (
  sequence INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  target TEXT NOT NULL,
  rule TEXT NOT NULL,
  profile INTEGER NOT NULL DEFAULT 0,
  hits INTEGER NOT NULL DEFAULT 0,
  fired INTEGER NOT NULL DEFAULT 0
) STRICT;

CREATE TABLE behaviours (
  sequence INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  rule TEXT NOT NULL,
  used INTEGER NOT NULL DEFAULT 0
) STRICT;
`;

/** Even a bug of the simulator cannot change the ledger. */
export const LEDGER_GUARD = `
CREATE TRIGGER ledger_no_update BEFORE UPDATE ON ledger BEGIN SELECT raise(ABORT, 'the ledger is append-only'); END;
CREATE TRIGGER ledger_no_delete BEFORE DELETE ON ledger BEGIN SELECT raise(ABORT, 'the ledger is append-only'); END;
`;

export const LIFT_LEDGER_GUARD = 'DROP TRIGGER ledger_no_update; DROP TRIGGER ledger_no_delete;';
