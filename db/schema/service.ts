/** The service that this database belongs to, and what is kept for speaking with it. */
import { sql } from 'drizzle-orm';
import { bigint, boolean, check, index, integer, jsonb, pgTable, text, uniqueIndex } from 'drizzle-orm/pg-core';
import { bytea, instant } from '#db/schema/columns.ts';

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

/**
 * The encryption keys that this database has been used with. A process whose ring lacks one of them, or has other bytes
 * under its id, is refused.
 */
export const encryptionKeys = pgTable(
  'encryption_keys',
  {
    keyId: text('key_id').primaryKey(),
    /** `KeyRing.checkValueOf`: equal for equal bytes of the key. Does not lead back to the key. */
    checkValue: bytea('check_value').notNull(),
    /** True for the one that keyed hashes are made with: the last of ENCRYPTION_KEYS. */
    makesHashes: boolean('makes_hashes').notNull(),
    firstUsedAt: instant('first_used_at').notNull().defaultNow(),
  },
  (table) => [
    uniqueIndex('encryption_keys_one_makes_hashes')
      .on(table.makesHashes)
      .where(sql`${table.makesHashes}`),
  ],
);

/** The service's access token, shared by all processes. `version` is what compare-and-set compares. */
export const serviceTokens = pgTable('service_tokens', {
  environment: text('environment').primaryKey(),
  encryptedToken: bytea('encrypted_token').notNull(),
  version: integer('version').notNull(),
  expiresAt: instant('expires_at'),
  renewedAt: instant('renewed_at').notNull(),
});

/**
 * Webhook secrets that the service showed us when it made them, which it does once. All verify until their time is
 * over; beside them stand those of the configuration.
 */
export const webhookSecrets = pgTable(
  'webhook_secrets',
  {
    id: bigint('id', { mode: 'bigint' }).primaryKey().generatedAlwaysAsIdentity(),
    /** `production` or `sandbox`. */
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

/**
 * The latest deliveries that were refused because their headers had another prefix than `SERVICE_HEADER_PREFIX`. Two
 * rows at most: strangers can write the unverified one, and must not hide the verified one by that.
 */
export const refusedHeaderPrefixes = pgTable('refused_header_prefixes', {
  /** True where the signature is right by one of our secrets, so that the service signed the delivery. */
  verified: boolean('verified').primaryKey(),
  /** Such as `X-Acme`. */
  prefix: text('prefix').notNull(),
  /** How many came under this prefix; the last minute's may be missing. */
  deliveries: bigint('deliveries', { mode: 'number' }).notNull(),
  lastAt: instant('last_at').notNull().defaultNow(),
});
