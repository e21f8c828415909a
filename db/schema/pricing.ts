/** The reseller's rules for selling prices. */
import { sql } from 'drizzle-orm';
import { check, index, integer, jsonb, pgTable, primaryKey, text, uniqueIndex } from 'drizzle-orm/pg-core';
import { inList, instant } from '#db/schema/columns.ts';
import { PRICING_TARGET_KINDS, type PricingTargetKind, type PricingTerms } from '#domain/pricing/pricing-rule.ts';

/** Present rules. At most one in force for each target and currency. */
export const pricingRules = pgTable(
  'pricing_rules',
  {
    id: text('id').primaryKey(),
    targetKind: text('target_kind').$type<PricingTargetKind>().notNull(),
    /** The country or the service's id; empty for the default. */
    targetKey: text('target_key').notNull(),
    currency: text('currency').notNull(),
    terms: jsonb('terms').$type<PricingTerms>().notNull(),
    /** Counts its changes, from 1. */
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

/** The versions of rules with actor and reason. Append-only by a trigger. */
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
