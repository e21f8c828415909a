/** Links with which an end customer installs an eSIM. */
import { sql } from 'drizzle-orm';
import { check, index, integer, jsonb, pgTable, text } from 'drizzle-orm/pg-core';
import { bytea, instant } from '#db/schema/columns.ts';
import type { ShareLanguage } from '#domain/esims/share-link.ts';

/** Share links. Only the hash of their secret is kept. */
export const shareLinks = pgTable(
  'share_links',
  {
    id: text('id').primaryKey(),
    esimId: text('esim_id').notNull(),
    /** Lineage of the API key that made it. */
    apiKeyId: text('api_key_id').notNull(),
    /** SHA-256 of the secret. */
    secretHash: bytea('secret_hash').notNull().unique(),
    /** Text for the end customer. */
    label: text('label'),
    /** Null: the language of the browser. */
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
