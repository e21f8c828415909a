/** The reseller's rules for selling prices, each change with who made it and why. */
import { and, asc, desc, eq, isNull, lt, sql } from 'drizzle-orm';
import { addAuditEntry } from '#db/access/audit-log.ts';
import type { Executor } from '#db/connection/database.ts';
import { newId } from '#db/connection/ids.ts';
import { pricingRules, pricingRuleVersions, type PricingChange } from '#db/schema.ts';
import type { PageOptions } from '#db/work/pagination.ts';
import {
  targetKey,
  targetOf,
  type PricingRule,
  type PricingTarget,
  type PricingTargetKind,
  type PricingTerms,
} from '#domain/pricing/pricing-rule.ts';

export type PricingRuleVersionRow = typeof pricingRuleVersions.$inferSelect;

/** A rule as it is stored. */
export interface StoredPricingRule extends PricingRule {
  readonly id: string;
  readonly version: number;
  readonly createdAt: Date;
  readonly updatedAt: Date;
  readonly endedAt: Date | null;
}

/** Who changes something, and why. */
export interface PricingActor {
  readonly actor: string;
  readonly why: string;
}

/** Those in force: there are as many as a person keeps in view. */
export async function rulesInForce(db: Executor): Promise<StoredPricingRule[]> {
  const rows = await db.select().from(pricingRules).where(isNull(pricingRules.endedAt)).orderBy(asc(pricingRules.id));
  return rows.map(ruleOf);
}

export async function findPricingRule(db: Executor, id: string): Promise<StoredPricingRule | undefined> {
  const [row] = await db.select().from(pricingRules).where(eq(pricingRules.id, id));
  return row && ruleOf(row);
}

/** By what a list of rules can be narrowed. */
export interface PricingRuleFilter {
  readonly targetKind?: PricingTargetKind | undefined;
  readonly targetKey?: string | undefined;
  readonly currency?: string | undefined;
  /** True: also those that are over. */
  readonly includeEnded: boolean;
}

/** A page of rules, newest first. */
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

/** A page of the versions of a rule, newest first. @param options.before only older ones than this. */
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

/** Stores a rule. @returns the one that is in force for the same instead, if there is one. */
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

/** `stale`: it is over, or no longer in the version that was read. */
export type PricingRuleOutcome =
  | { readonly kind: 'done'; readonly rule: StoredPricingRule }
  | { readonly kind: 'stale'; readonly rule: StoredPricingRule }
  | { readonly kind: 'not_found' };

export interface PricingRuleChange {
  /** Undefined: it ends. */
  readonly terms: PricingTerms | undefined;
  /** The one that was read; undefined: whichever it is. */
  readonly version: number | undefined;
}

/** Gives a rule other terms, or ends it. */
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
  { actor, why }: PricingActor,
  now: Date,
): Promise<void> {
  await tx.insert(pricingRuleVersions).values({ ruleId: id, version, change, terms, actor, why, at: now });
  await addAuditEntry(
    tx,
    { actor, action: `pricing.rule_${change}`, subject: { kind: 'pricing_rule', id }, reason: why },
    now,
  );
}

function ruleOf(row: typeof pricingRules.$inferSelect): StoredPricingRule {
  const { targetKind, targetKey: key, ...rule } = row;
  return { ...rule, target: targetOf(targetKind, key) };
}
