/** The catalogue of the service as last read: packages, VPN plans, and the readings. */
import { sql } from 'drizzle-orm';
import {
  bigint,
  boolean,
  check,
  doublePrecision,
  index,
  integer,
  pgTable,
  text,
  uniqueIndex,
} from 'drizzle-orm/pg-core';
import { amount, inList, instant } from '#db/schema/columns.ts';
import { type CatalogueName, CATALOGUES, READING_VERDICTS, type ReadingVerdict } from '#domain/catalogue/catalogue.ts';

/** The columns of packages and plans alike. @param days name of the column of the duration. */
const itemColumns = <Days extends string>(days: Days) => ({
  /** The service's id. */
  id: bigint('id', { mode: 'number' }).primaryKey(),
  name: text('name').notNull(),
  /** The name in lower case by the rules of JavaScript: those of PostgreSQL depend on its locale. */
  searchName: text('search_name').notNull(),
  days: bigint(days, { mode: 'number' }),
  priceAmount: amount('price_amount').notNull(),
  priceCurrency: text('price_currency').notNull(),
  /** False also when it is removed. */
  available: boolean('available').notNull(),
  /** Time of the reading that first showed it. */
  createdAt: instant('created_at').notNull(),
  /** Time of the reading that last changed it. */
  updatedAt: instant('updated_at').notNull(),
  /** Time of the reading that proved that it is no longer listed; null while it is listed. */
  removedAt: instant('removed_at'),
});

/** Packages; those that the service no longer lists stay. */
export const packages = pgTable(
  'packages',
  {
    ...itemColumns('validity_days'),
    /** ISO 3166-1 alpha-2 codes. */
    countries: text('countries').array().notNull(),
    /** Null when it is unlimited or not known. */
    dataMb: doublePrecision('data_mb'),
    /** Null when it is not known. */
    unlimited: boolean('unlimited'),
    publicPriceAmount: amount('public_price_amount'),
    publicPriceCurrency: text('public_price_currency'),
  },
  (table) => [index('packages_countries').using('gin', table.countries), index('packages_updated').on(table.updatedAt)],
);

/** VPN plans; those that the service no longer lists stay. */
export const vpnPlans = pgTable('vpn_plans', itemColumns('duration_days'));

/** Readings of a catalogue. A reading that failed has no row. */
export const catalogueReadings = pgTable(
  'catalogue_readings',
  {
    id: bigint('id', { mode: 'bigint' }).primaryKey().generatedAlwaysAsIdentity(),
    catalogue: text('catalogue').$type<CatalogueName>().notNull(),
    /** Id of the run, so that a step that runs twice makes one row. */
    runId: text('run_id').notNull(),
    /** When the reading began: what it shows is at most this old. */
    readAt: instant('read_at').notNull(),
    complete: boolean('complete').notNull(),
    verdict: text('verdict').$type<ReadingVerdict>().notNull(),
    /** Number of items. */
    items: integer('items').notNull(),
    created: integer('created').notNull(),
    changed: integer('changed').notNull(),
    removed: integer('removed').notNull(),
    /** Ids that a suspicious reading lacks; empty otherwise. */
    suspected: bigint('suspected', { mode: 'number' }).array().notNull(),
  },
  (table) => [
    uniqueIndex('catalogue_readings_run').on(table.catalogue, table.runId),
    index('catalogue_readings_newest').on(table.catalogue, table.id.desc()),
    check('catalogue_readings_catalogue', sql`${table.catalogue} in (${inList(CATALOGUES)})`),
    check('catalogue_readings_verdict', sql`${table.verdict} in (${inList(READING_VERDICTS)})`),
  ],
);
