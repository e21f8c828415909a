import { and, asc, desc, eq, isNull, lt } from 'drizzle-orm';
import { addAuditEntry } from '#db/access/audit-log.ts';
import type { Executor } from '#db/connection/database.ts';
import { newId } from '#db/connection/ids.ts';
import { following, matches, type PageOptions } from '#db/lists/pages.ts';
import { pricingRules, pricingRuleVersions, type PricingChange } from '#db/schema.ts';
import type { PricingRule, PricingTerms } from '#domain/pricing/pricing-rule.ts';

export type PricingRuleRow = typeof pricingRules.$inferSelect;
export type PricingRuleVersionRow = typeof pricingRuleVersions.$inferSelect;

export async function rulesInForce(db: Executor): Promise<PricingRuleRow[]> {
  return db.select().from(pricingRules).where(isNull(pricingRules.endedAt)).orderBy(asc(pricingRules.id));
}

export async function findPricingRule(db: Executor, id: string): Promise<PricingRuleRow | undefined> {
  const [row] = await db.select().from(pricingRules).where(eq(pricingRules.id, id));
  return row;
}

export async function listPricingRules(
  db: Executor,
  filter: {
    readonly targetKind?: PricingRule['targetKind'] | undefined;
    readonly currency?: string | undefined;
    readonly includeEnded: boolean;
  },
  { limit, after }: PageOptions,
): Promise<PricingRuleRow[]> {
  return db
    .select()
    .from(pricingRules)
    .where(
      and(
        matches(pricingRules.targetKind, filter.targetKind),
        matches(pricingRules.currency, filter.currency),
        filter.includeEnded ? undefined : isNull(pricingRules.endedAt),
        following(pricingRules.createdAt, pricingRules.id, after),
      ),
    )
    .orderBy(desc(pricingRules.createdAt), desc(pricingRules.id))
    .limit(limit);
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

export interface PricingActor {
  readonly actor: string;
  readonly reason: string;
}

/** @returns the new rule, or the rule in force with the same target and currency. */
export async function addPricingRule(
  tx: Executor,
  { targetKind, targetKey, currency, terms }: PricingRule,
  by: PricingActor,
  now: Date,
): Promise<{ readonly rule: PricingRuleRow; readonly isNew: boolean }> {
  const [made] = await tx
    .insert(pricingRules)
    .values({
      id: newId('pricingRule'),
      targetKind,
      targetKey,
      currency,
      terms,
      version: 1,
      createdAt: now,
      updatedAt: now,
    })
    .onConflictDoNothing()
    .returning();
  if (made !== undefined) {
    await writeDown(tx, made, 'created', by, now);
    return { rule: made, isNew: true };
  }
  const [found] = await tx
    .select()
    .from(pricingRules)
    .where(
      and(
        isNull(pricingRules.endedAt),
        eq(pricingRules.targetKind, targetKind),
        eq(pricingRules.targetKey, targetKey),
        eq(pricingRules.currency, currency),
      ),
    );
  if (found === undefined) throw new Error('the rule for the same was ended at this moment');
  return { rule: found, isNew: false };
}

/** `stale`: it has ended, or is not in the given version any more. */
type PricingRuleOutcome =
  | { readonly kind: 'done' | 'stale'; readonly rule: PricingRuleRow }
  | { readonly kind: 'not_found' };

export interface PricingRuleChange {
  /** Undefined: the rule ends. */
  readonly terms: PricingTerms | undefined;
  /** As the caller has read it; undefined: any. */
  readonly version: number | undefined;
}

export async function changePricingRule(
  tx: Executor,
  id: string,
  change: PricingRuleChange,
  by: PricingActor,
  now: Date,
): Promise<PricingRuleOutcome> {
  const [row] = await tx.select().from(pricingRules).where(eq(pricingRules.id, id)).for('update');
  if (row === undefined) return { kind: 'not_found' };
  if (row.endedAt !== null || (change.version ?? row.version) !== row.version) return { kind: 'stale', rule: row };
  const [changed] = await tx
    .update(pricingRules)
    .set({
      version: row.version + 1,
      updatedAt: now,
      ...(change.terms === undefined ? { endedAt: now } : { terms: change.terms }),
    })
    .where(eq(pricingRules.id, id))
    .returning();
  if (changed === undefined) throw new Error(`the pricing rule ${id} cannot be written`);
  await writeDown(tx, changed, change.terms === undefined ? 'ended' : 'changed', by, now);
  return { kind: 'done', rule: changed };
}

async function writeDown(
  tx: Executor,
  { id, version, terms }: PricingRuleRow,
  change: PricingChange,
  { actor, reason }: PricingActor,
  now: Date,
): Promise<void> {
  await tx.insert(pricingRuleVersions).values({ ruleId: id, version, change, terms, actor, reason, at: now });
  await addAuditEntry(
    tx,
    { actor, action: `pricing.rule_${change}`, subject: { kind: 'pricing_rule', id }, reason },
    now,
  );
}
