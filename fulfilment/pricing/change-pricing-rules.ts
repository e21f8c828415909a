import { and, eq, isNull } from 'drizzle-orm';
import { addAuditEntry } from '#db/access/audit-log.ts';
import type { Executor } from '#db/connection/database.ts';
import { newId } from '#db/connection/ids.ts';
import { type StoredPricingRule, ruleOf } from '#db/money/pricing-rules.ts';
import { pricingRules, pricingRuleVersions, type PricingChange } from '#db/schema.ts';
import { targetKey, type PricingRule, type PricingTarget, type PricingTerms } from '#domain/pricing/pricing-rule.ts';

export interface PricingActor {
  readonly actor: string;
  readonly reason: string;
}

/** @returns the new rule, or the rule in force with the same target and currency. */
export async function addPricingRule(
  tx: Executor,
  { target, currency, terms }: PricingRule,
  by: PricingActor,
  now: Date,
): Promise<{ readonly rule: StoredPricingRule; readonly isNew: boolean }> {
  const place = { targetKind: target.kind, targetKey: targetKey(target), currency };
  const [made] = await tx
    .insert(pricingRules)
    .values({ id: newId('pricingRule'), ...place, terms, version: 1, createdAt: now, updatedAt: now })
    .onConflictDoNothing()
    .returning();
  if (made !== undefined) {
    const rule = ruleOf(made);
    await writeDown(tx, rule, 'created', by, now);
    return { rule, isNew: true };
  }
  const found = await ruleInForceFor(tx, target, currency);
  if (found === undefined) throw new Error('the rule for the same was ended at this moment');
  return { rule: found, isNew: false };
}

async function ruleInForceFor(
  db: Executor,
  target: PricingTarget,
  currency: string,
): Promise<StoredPricingRule | undefined> {
  const [row] = await db
    .select()
    .from(pricingRules)
    .where(
      and(
        isNull(pricingRules.endedAt),
        eq(pricingRules.targetKind, target.kind),
        eq(pricingRules.targetKey, targetKey(target)),
        eq(pricingRules.currency, currency),
      ),
    );
  return row && ruleOf(row);
}

/** `stale`: it has ended, or is not in the given version any more. */
export type PricingRuleOutcome =
  | { readonly kind: 'done'; readonly rule: StoredPricingRule }
  | { readonly kind: 'stale'; readonly rule: StoredPricingRule }
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
  if (row.endedAt !== null || (change.version ?? row.version) !== row.version)
    return { kind: 'stale', rule: ruleOf(row) };
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
  const rule = ruleOf(changed);
  await writeDown(tx, rule, change.terms === undefined ? 'ended' : 'changed', by, now);
  return { kind: 'done', rule };
}

async function writeDown(
  tx: Executor,
  { id, version, terms }: StoredPricingRule,
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
