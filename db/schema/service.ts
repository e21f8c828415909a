import { sql } from 'drizzle-orm';
import { bigint, boolean, check, index, integer, jsonb, pgTable, text, uniqueIndex } from 'drizzle-orm/pg-core';
import { bytea, instant } from '#db/schema/columns.ts';

/** One row. Processes for another service or environment do not start. */
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

/** One row. A migration that removes what earlier versions use raises the number in the same transaction. */
export const schemaSupport = pgTable(
  'schema_support',
  {
    singleton: boolean('singleton').primaryKey().default(true),
    /** A version that knows fewer does not start. */
    oldestMigrations: integer('oldest_migrations').notNull(),
  },
  (table) => [check('schema_support_one_row', sql`${table.singleton}`)],
);

/** A process whose ring lacks a key, or has other bytes under its id, does not start. */
export const encryptionKeys = pgTable(
  'encryption_keys',
  {
    keyId: text('key_id').primaryKey(),
    /** Equal for equal bytes of the key; the key cannot be derived from it. */
    checkValue: bytea('check_value').notNull(),
    makesHashes: boolean('makes_hashes').notNull(),
    firstUsedAt: instant('first_used_at').notNull().defaultNow(),
  },
  (table) => [
    uniqueIndex('encryption_keys_one_makes_hashes')
      .on(table.makesHashes)
      .where(sql`${table.makesHashes}`),
  ],
);

/** Shared by all processes, replaced by compare-and-set on `version`. */
export const serviceTokens = pgTable('service_tokens', {
  environment: text('environment').primaryKey(),
  encryptedToken: bytea('encrypted_token').notNull(),
  version: integer('version').notNull(),
  expiresAt: instant('expires_at'),
  renewedAt: instant('renewed_at').notNull(),
});

/** The service shows each once. Each verifies until its end, beside those of the configuration. */
export const webhookSecrets = pgTable(
  'webhook_secrets',
  {
    id: bigint('id', { mode: 'bigint' }).primaryKey().generatedAlwaysAsIdentity(),
    environment: text('environment').notNull(),
    encryptedSecret: bytea('encrypted_secret').notNull(),
    storedAt: instant('stored_at').notNull().defaultNow(),
    /** Null for the newest: the service signs with it. */
    verifiesUntil: instant('verifies_until'),
  },
  (table) => [
    uniqueIndex('webhook_secrets_one_newest')
      .on(table.environment)
      .where(sql`${table.verifiesUntil} is null`),
  ],
);

/** The newest row of an environment counts. */
export const capabilityProfiles = pgTable(
  'capability_profiles',
  {
    id: bigint('id', { mode: 'bigint' }).primaryKey().generatedAlwaysAsIdentity(),
    environment: text('environment').notNull(),
    measuredAt: instant('measured_at').notNull(),
    findings: jsonb('findings').$type<Record<string, boolean | null>>().notNull(),
    evidence: jsonb('evidence').$type<Record<string, string>>().notNull(),
    confirmedAt: instant('confirmed_at'),
    confirmedBy: text('confirmed_by'),
  },
  (table) => [index('capability_profiles_newest').on(table.environment, table.id.desc())],
);

/** Two rows at most: anyone can write the unverified one, and must not replace the verified one. */
export const refusedHeaderPrefixes = pgTable('refused_header_prefixes', {
  verified: boolean('verified').primaryKey(),
  prefix: text('prefix').notNull(),
  /** Deliveries of the last minute may be missing. */
  deliveries: bigint('deliveries', { mode: 'number' }).notNull(),
  lastAt: instant('last_at').notNull().defaultNow(),
});
