import { sql } from 'drizzle-orm';
import { bigserial, boolean, check, index, integer, jsonb, pgTable, primaryKey, text } from 'drizzle-orm/pg-core';
import { amount, bytea, instant } from '#db/schema/columns.ts';

/** Only a hash is kept. */
export const apiKeys = pgTable(
  'api_keys',
  {
    id: text('id').primaryKey(),
    name: text('name').notNull(),
    prefix: text('prefix').notNull().unique(),
    hash: bytea('hash').notNull(),
    scopes: text('scopes').array().notNull(),
    createdAt: instant('created_at').notNull().defaultNow(),
    expiresAt: instant('expires_at'),
    revokedAt: instant('revoked_at'),
    lastUsedAt: instant('last_used_at'),
    /** First key of the lineage, which owns the work; null: this key is the first. */
    lineageId: text('lineage_id'),
    /** Only work of its lineage. */
    ownWorkOnly: boolean('own_work_only').notNull().default(false),
    /** Null: as configured. The same in all keys of a lineage, like the limit below. */
    rateLimit: integer('rate_limit'),
    /** Daily (UTC), for the lineage; null: no limit of its own. */
    spendLimitAmount: amount('spend_limit_amount'),
    spendLimitCurrency: text('spend_limit_currency'),
  },
  (table) => [index('api_keys_lineage').on(table.lineageId), check('api_keys_rate_limit', sql`${table.rateLimit} > 0`)],
);

export const idempotencyKeys = pgTable(
  'idempotency_keys',
  {
    apiKeyId: text('api_key_id').notNull(),
    key: text('key').notNull(),
    requestHash: bytea('request_hash').notNull(),
    responseStatus: integer('response_status').notNull(),
    responseHeaders: jsonb('response_headers').$type<Record<string, string>>().notNull(),
    encryptedResponseBody: bytea('encrypted_response_body').notNull(),
    /** Only this key prevents a repetition of the request: it is never deleted. */
    keptForGood: boolean('kept_for_good').notNull().default(false),
    createdAt: instant('created_at').notNull().defaultNow(),
  },
  (table) => [
    primaryKey({ columns: [table.apiKeyId, table.key] }),
    index('idempotency_keys_forgotten_by')
      .on(table.createdAt)
      .where(sql`not ${table.keptForGood}`),
  ],
);

export const auditLog = pgTable(
  'audit_log',
  {
    id: bigserial('id', { mode: 'bigint' }).primaryKey(),
    at: instant('at').notNull().defaultNow(),
    actor: text('actor').notNull(),
    action: text('action').notNull(),
    subjectKind: text('subject_kind').notNull(),
    subjectId: text('subject_id').notNull(),
    reason: text('reason'),
  },
  (table) => [
    index('audit_log_subject').on(table.subjectKind, table.subjectId, table.id),
    index('audit_log_actor').on(table.actor, table.id),
    index('audit_log_action').on(table.action, table.id),
    index('audit_log_at').on(table.at, table.id),
  ],
);
