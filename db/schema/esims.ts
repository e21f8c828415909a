import { sql } from 'drizzle-orm';
import { boolean, doublePrecision, index, integer, pgTable, text, check, jsonb } from 'drizzle-orm/pg-core';
import { bytea, customerColumns, customerIndex, instant, pageIndexes } from '#db/schema/columns.ts';
import type { ShareLanguage } from '#domain/esims/share-link.ts';

export const esims = pgTable(
  'esims',
  {
    id: text('id').primaryKey(),
    orderId: text('order_id').notNull().unique(),
    serviceEsimId: text('service_esim_id').notNull().unique(),
    /** Null while the service states none that can be read. */
    iccid: text('iccid'),
    packageId: integer('package_id').notNull(),
    encryptedActivationCode: bytea('encrypted_activation_code').notNull(),
    ...customerColumns(),
    status: text('status').notNull(),
    installedAt: instant('installed_at'),
    activatedAt: instant('activated_at'),
    expiresAt: instant('expires_at'),
    readAt: instant('read_at').notNull(),
    /** Null: the eSIM has ended. */
    watchDueAt: instant('watch_due_at').defaultNow(),
    createdAt: instant('created_at').notNull().defaultNow(),
    /** Changes with the status or a time; an equal reading changes nothing. */
    updatedAt: instant('updated_at').notNull().defaultNow(),
  },
  (table) => [
    ...pageIndexes('esims', table),
    index('esims_package_page').on(table.packageId, table.createdAt.desc(), table.id.desc()),
    customerIndex('esims', table),
    index('esims_iccid').on(table.iccid),
    index('esims_updated').on(table.updatedAt),
    index('esims_watch')
      .on(table.watchDueAt)
      .where(sql`${table.watchDueAt} is not null`),
    index('esims_expiry')
      .on(table.expiresAt, table.id)
      .where(sql`${table.expiresAt} is not null`),
  ],
);

export const esimUsage = pgTable('esim_usage', {
  esimId: text('esim_id').primaryKey(),
  usedMb: doublePrecision('used_mb').notNull(),
  totalMb: doublePrecision('total_mb'),
  unlimited: boolean('unlimited'),
  /** By the supplier, when reported. */
  measuredAt: instant('measured_at'),
  readAt: instant('read_at').notNull(),
});

/** Only the hash of their secret is kept. */
export const shareLinks = pgTable(
  'share_links',
  {
    id: text('id').primaryKey(),
    esimId: text('esim_id').notNull(),
    apiKeyId: text('api_key_id').notNull(),
    secretHash: bytea('secret_hash').notNull().unique(),
    label: text('label'),
    language: text('language').$type<ShareLanguage>(),
    metadata: jsonb('metadata').$type<Record<string, string>>().notNull().default({}),
    createdAt: instant('created_at').notNull(),
    expiresAt: instant('expires_at').notNull(),
    revokedAt: instant('revoked_at'),
    views: integer('views').notNull().default(0),
    lastViewedAt: instant('last_viewed_at'),
  },
  (table) => [
    index('share_links_page').on(table.esimId, table.id),
    check('share_links_expiry', sql`${table.expiresAt} > ${table.createdAt}`),
    check('share_links_views', sql`(${table.views} > 0) = (${table.lastViewedAt} is not null)`),
  ],
);
