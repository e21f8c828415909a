/** The rows that the product stores for an order, without a reservation of the wallet, gate and case. */
export const SCHEMA = `
create table if not exists api_keys (id text primary key, prefix text not null unique, hash bytea not null);
create table if not exists orders (
  id text primary key,
  api_key_id text not null,
  external_order_id text not null unique,
  package_id integer not null,
  status text not null default 'accepted'
    check (status in ('accepted', 'submitting', 'processing', 'completed', 'failed', 'needs_attention')),
  esim_id text,
  charged_amount numeric(20, 6),
  charged_currency text,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  completed_at timestamptz
);
create index if not exists orders_page on orders (created_at desc, id desc);
create index if not exists orders_unfinished on orders (updated_at) where status in ('accepted', 'submitting', 'processing');
create table if not exists idempotency_keys (
  api_key_id text not null,
  key text not null,
  request_hash bytea not null,
  response_body bytea not null,
  created_at timestamptz not null default now(),
  primary key (api_key_id, key)
);
create table if not exists attempts (
  id text primary key,
  order_id text not null references orders (id),
  number integer not null,
  idempotency_key text not null unique,
  reference text not null unique,
  encrypted_request_body bytea not null,
  state text not null default 'prepared',
  service_id text unique,
  service_esim_id text,
  charged_amount numeric(20, 6),
  charged_currency text,
  created_at timestamptz not null default now(),
  last_report_at timestamptz,
  unique (order_id, number)
);
create table if not exists esims (
  id text primary key,
  order_id text not null unique references orders (id),
  service_id text not null unique,
  iccid text not null,
  encrypted_activation_code bytea not null,
  created_at timestamptz not null default now()
);
create table if not exists journal (
  id bigint generated always as identity primary key,
  cause_kind text not null,
  cause_id text not null,
  direction text not null,
  amount numeric(20, 6) not null,
  currency text not null,
  at timestamptz not null default now(),
  unique (cause_kind, cause_id, direction)
);
create table if not exists timeline (
  id bigint generated always as identity primary key,
  order_id text not null,
  at timestamptz not null default now(),
  event text not null,
  message text not null,
  unique (order_id, event)
);
create table if not exists events (
  position bigint generated always as identity primary key,
  id text not null unique,
  type text not null,
  order_id text not null,
  api_key_id text not null,
  data jsonb not null,
  occurred_at timestamptz not null default now(),
  unique (order_id, type)
);
create table if not exists inbox (
  delivery_id text primary key,
  event text not null,
  encrypted_body bytea not null,
  received_at timestamptz not null default now()
);
`;
