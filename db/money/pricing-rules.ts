import { and, asc, desc, eq, isNull, lt, sql } from 'drizzle-orm';
import type { Executor } from '#db/connection/database.ts';
import type { PageOptions } from '#db/lists/pages.ts';
import { pricingRules, pricingRuleVersions } from '#db/schema.ts';
import { targetOf, type PricingRule, type PricingTargetKind } from '#domain/pricing/pricing-rule.ts';

export type PricingRuleVersionRow = typeof pricingRuleVersions.$inferSelect;

export interface StoredPricingRule extends PricingRule {
  readonly id: string;
  readonly version: number;
  readonly createdAt: Date;
  readonly updatedAt: Date;
  readonly endedAt: Date | null;
}

export async function rulesInForce(db: Executor): Promise<StoredPricingRule[]> {
  const rows = await db.select().from(pricingRules).where(isNull(pricingRules.endedAt)).orderBy(asc(pricingRules.id));
  return rows.map(ruleOf);
}

export async function findPricingRule(db: Executor, id: string): Promise<StoredPricingRule | undefined> {
  const [row] = await db.select().from(pricingRules).where(eq(pricingRules.id, id));
  return row && ruleOf(row);
}

export interface PricingRuleFilter {
  readonly targetKind?: PricingTargetKind | undefined;
  readonly targetKey?: string | undefined;
  readonly currency?: string | undefined;
  readonly includeEnded: boolean;
}

export async function listPricingRules(
  db: Executor,
  filter: PricingRuleFilter,
  { limit, after }: PageOptions,
): Promise<StoredPricingRule[]> {
  const rows = await db
    .select()
    .from(pricingRules)
    .where(
      and(
        filter.targetKind === undefined ? undefined : eq(pricingRules.targetKind, filter.targetKind),
        filter.targetKey === undefined ? undefined : eq(pricingRules.targetKey, filter.targetKey),
        filter.currency === undefined ? undefined : eq(pricingRules.currency, filter.currency),
        filter.includeEnded ? undefined : isNull(pricingRules.endedAt),
        after === undefined
          ? undefined
          : sql`(${pricingRules.createdAt}, ${pricingRules.id}) < (${after.createdAt}, ${after.id})`,
      ),
    )
    .orderBy(desc(pricingRules.createdAt), desc(pricingRules.id))
    .limit(limit);
  return rows.map(ruleOf);
}

export async function listRuleVersions(
  db: Executor,
  id: string,
  { limit, before }: { readonly limit: number; readonly before: number | undefined },
): Promise<PricingRuleVersionRow[]> {
  return db
    .select()
    .from(pricingRuleVersions)
    .where(
      and(
        eq(pricingRuleVersions.ruleId, id),
        before === undefined ? undefined : lt(pricingRuleVersions.version, before),
      ),
    )
    .orderBy(desc(pricingRuleVersions.version))
    .limit(limit);
}

export function ruleOf(row: typeof pricingRules.$inferSelect): StoredPricingRule {
  const { targetKind, targetKey: key, ...rule } = row;
  return { ...rule, target: targetOf(targetKind, key) };
}
