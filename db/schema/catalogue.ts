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
  jsonb,
  primaryKey,
} from 'drizzle-orm/pg-core';
import { amount, inList, instant } from '#db/schema/columns.ts';
import { CATALOGUES, type CatalogueName, READING_VERDICTS, type ReadingVerdict } from '#domain/catalogue/catalogue.ts';
import { PRICING_TARGET_KINDS, type PricingTargetKind, type PricingTerms } from '#domain/pricing/pricing-rule.ts';

const itemColumns = <Days extends string>(days: Days) => ({
  id: bigint('id', { mode: 'number' }).primaryKey(),
  name: text('name').notNull(),
  /** Lower case by the rules of JavaScript: those of PostgreSQL depend on its locale. */
  searchName: text('search_name').notNull(),
  days: bigint(days, { mode: 'number' }),
  priceAmount: amount('price_amount').notNull(),
  priceCurrency: text('price_currency').notNull(),
  /** False also when it is removed. */
  available: boolean('available').notNull(),
  createdAt: instant('created_at').notNull(),
  updatedAt: instant('updated_at').notNull(),
  /** Time of the reading that proved it; null while it is listed. */
  removedAt: instant('removed_at'),
});

export const packages = pgTable(
  'packages',
  {
    ...itemColumns('validity_days'),
    countries: text('countries').array().notNull(),
    /** Null: unlimited or not known. */
    dataMb: doublePrecision('data_mb'),
    unlimited: boolean('unlimited'),
    publicPriceAmount: amount('public_price_amount'),
    publicPriceCurrency: text('public_price_currency'),
  },
  (table) => [index('packages_countries').using('gin', table.countries), index('packages_updated').on(table.updatedAt)],
);

/** Plans that the service no longer lists stay. */
export const vpnPlans = pgTable('vpn_plans', itemColumns('duration_days'));

/** A reading that failed has no row. */
export const catalogueReadings = pgTable(
  'catalogue_readings',
  {
    id: bigint('id', { mode: 'bigint' }).primaryKey().generatedAlwaysAsIdentity(),
    catalogue: text('catalogue').$type<CatalogueName>().notNull(),
    /** A step that runs twice makes one row. */
    runId: text('run_id').notNull(),
    readAt: instant('read_at').notNull(),
    complete: boolean('complete').notNull(),
    verdict: text('verdict').$type<ReadingVerdict>().notNull(),
    items: integer('items').notNull(),
    created: integer('created').notNull(),
    changed: integer('changed').notNull(),
    removed: integer('removed').notNull(),
    suspected: bigint('suspected', { mode: 'number' }).array().notNull(),
  },
  (table) => [
    uniqueIndex('catalogue_readings_run').on(table.catalogue, table.runId),
    index('catalogue_readings_newest').on(table.catalogue, table.id.desc()),
    check('catalogue_readings_catalogue', sql`${table.catalogue} in (${inList(CATALOGUES)})`),
    check('catalogue_readings_verdict', sql`${table.verdict} in (${inList(READING_VERDICTS)})`),
  ],
);

/** At most one in force for each target and currency. */
export const pricingRules = pgTable(
  'pricing_rules',
  {
    id: text('id').primaryKey(),
    targetKind: text('target_kind').$type<PricingTargetKind>().notNull(),
    targetKey: text('target_key').notNull(),
    currency: text('currency').notNull(),
    terms: jsonb('terms').$type<PricingTerms>().notNull(),
    version: integer('version').notNull(),
    createdAt: instant('created_at').notNull(),
    updatedAt: instant('updated_at').notNull(),
    endedAt: instant('ended_at'),
  },
  (table) => [
    check('pricing_rules_target_kind', sql`${table.targetKind} in (${inList(PRICING_TARGET_KINDS)})`),
    uniqueIndex('pricing_rules_one_in_force')
      .on(table.targetKind, table.targetKey, table.currency)
      .where(sql`${table.endedAt} is null`),
    index('pricing_rules_page').on(table.createdAt.desc(), table.id.desc()),
  ],
);

export const PRICING_CHANGES = ['created', 'changed', 'ended'] as const;
export type PricingChange = (typeof PRICING_CHANGES)[number];

/** Append-only by a trigger. */
export const pricingRuleVersions = pgTable(
  'pricing_rule_versions',
  {
    ruleId: text('rule_id').notNull(),
    version: integer('version').notNull(),
    change: text('change').$type<PricingChange>().notNull(),
    terms: jsonb('terms').$type<PricingTerms>().notNull(),
    actor: text('actor').notNull(),
    reason: text('reason').notNull(),
    at: instant('at').notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.ruleId, table.version] }),
    check('pricing_rule_versions_change', sql`${table.change} in (${inList(PRICING_CHANGES)})`),
  ],
);
