import * as z from 'zod';
import { ENVIRONMENTS, type Environment } from '#simulator/environment.ts';
import type { Identifiers } from '#simulator/identifiers.ts';
import { SALE_KINDS, type SaleKind } from '#simulator/store/sales.ts';
import type { Store } from '#simulator/store/store.ts';

/** Of orders, top-ups and VPN orders; a completed VPN order is an active subscription. */
export const OUTCOMES = [
  'completed',
  'processing_then_completed',
  'processing_then_failed',
  'failed_at_once',
  'stay_processing',
] as const;
type Outcome = (typeof OUTCOMES)[number];

/** Of the cancellation of an eSIM. Without a rule the simulator's own facts decide. */
export const CANCELLATION_OUTCOMES = [
  /** Cancelled at once; the refund is completed at once, or after `delay_ms`. */
  'accepted',
  'processing_then_accepted',
  'refused',
  /** Until the admin API decides. */
  'manual_review',
  'manual_review_then_accepted',
  'manual_review_then_refused',
  /** Cancelled at once; the refund fails at once, or after `delay_ms`. */
  'refund_failed',
] as const;
export type CancellationOutcome = (typeof CANCELLATION_OUTCOMES)[number];

/** Of the cancellation of a VPN subscription. */
export const VPN_CANCELLATION_OUTCOMES = ['cancelled', 'processing_then_cancelled', 'refused'] as const;
export type VpnCancellationOutcome = (typeof VPN_CANCELLATION_OUTCOMES)[number];

const FAILING: ReadonlySet<Outcome> = new Set(['processing_then_failed', 'failed_at_once', 'stay_processing']);

/** Time until what is planned comes about, in milliseconds; the configured one when absent. */
const delay_ms = z.int().nonnegative().optional();

const behaviourFields = {
  outcome: z.enum(OUTCOMES),
  /** Time in `processing`. */
  delay_ms,
  /** From the failure to the credit, in milliseconds; null for no credit ever. */
  credit_after_ms: z.int().nonnegative().nullable().optional(),
  /** False: the failed purchase never debits. Only with `failed_at_once`. */
  debited: z.boolean().optional(),
};

/** What becomes of a purchase. */
export type Behaviour = z.output<z.ZodObject<typeof behaviourFields>>;

const matchFields = {
  environment: z.enum(ENVIRONMENTS).optional(),
  /** How many; null: until removed. */
  count: z.int().min(1).nullable().default(null),
};

const saleRule = z
  .strictObject({
    /** All three when absent. */
    operation: z.enum(SALE_KINDS).optional(),
    ...behaviourFields,
    ...matchFields,
    package_id: z.int().nonnegative().optional(),
    vpn_plan_id: z.int().nonnegative().optional(),
  })
  .refine((rule) => rule.debited !== false || rule.outcome === 'failed_at_once', {
    path: ['debited'],
    message: 'can be false with failed_at_once only',
  })
  .refine((rule) => rule.credit_after_ms === undefined || FAILING.has(rule.outcome), {
    path: ['credit_after_ms'],
    message: 'makes sense with an outcome that can fail only',
  })
  .refine((rule) => rule.package_id === undefined || rule.operation !== 'vpn', {
    path: ['package_id'],
    message: 'a VPN order has none',
  })
  .refine((rule) => rule.vpn_plan_id === undefined || rule.operation === undefined || rule.operation === 'vpn', {
    path: ['vpn_plan_id'],
    message: 'only a VPN order has one',
  });

const cancellationRule = z.strictObject({
  operation: z.literal('cancellation'),
  outcome: z.enum(CANCELLATION_OUTCOMES),
  delay_ms,
  ...matchFields,
});

const vpnCancellationRule = z.strictObject({
  operation: z.literal('vpn_cancellation'),
  outcome: z.enum(VPN_CANCELLATION_OUTCOMES),
  delay_ms,
  ...matchFields,
});

/** A rule of the admin API: the next `count` operations that match go this way. */
export const behaviourRule = z.discriminatedUnion('operation', [saleRule, cancellationRule, vpnCancellationRule]);
export type BehaviourRule = z.output<typeof behaviourRule>;
type SaleRule = z.output<typeof saleRule>;

export type StoredBehaviour = BehaviourRule & { readonly id: string; readonly used: number };

/** A thing for sale, with what becomes of its purchase by itself. */
interface BehavingItem {
  readonly id: number;
  readonly behaviour?: Behaviour;
}

const row = z.object({ id: z.string(), rule: z.string(), used: z.number() });

/** The rules of the admin API; the newest that matches decides. Each decision runs in its operation's transaction. */
export class Behaviours {
  readonly #store: Store;
  readonly #identifiers: Identifiers;
  readonly #all;
  readonly #insert;
  readonly #use;
  readonly #remove;
  readonly #clear;

  constructor(store: Store, identifiers: Identifiers) {
    this.#store = store;
    this.#identifiers = identifiers;
    this.#all = store.query(row, 'SELECT id, rule, used FROM behaviours ORDER BY sequence DESC');
    this.#insert = store.command('INSERT INTO behaviours (id, rule) VALUES (:id, :rule)');
    this.#use = store.command('UPDATE behaviours SET used = used + 1 WHERE id = :id');
    this.#remove = store.command('DELETE FROM behaviours WHERE id = :id');
    this.#clear = store.command('DELETE FROM behaviours');
  }

  add(rule: BehaviourRule): StoredBehaviour {
    const id = this.#identifiers.id('behaviour', this.#store.nextSequence('behaviours'));
    this.#insert.run({ id, rule: JSON.stringify(rule) });
    return { id, ...rule, used: 0 };
  }

  /** Newest first, used-up ones included. */
  list(): StoredBehaviour[] {
    return this.#all.all().map(({ id, rule, used }) => ({ id, ...behaviourRule.parse(JSON.parse(rule)), used }));
  }

  /** @returns false when there is none with this id. */
  remove(id: string): boolean {
    return this.#remove.run({ id }) > 0;
  }

  clear(): void {
    this.#clear.run({});
  }

  /** Decides about one purchase and counts the rule that did. */
  ofSale(environment: Environment, kind: SaleKind, item: BehavingItem): Behaviour {
    const rule = this.#take(environment, (candidate): candidate is SaleRule => matchesSale(candidate, kind, item.id));
    return rule ?? item.behaviour ?? { outcome: 'completed' };
  }

  /** Decides about one cancellation of an eSIM. @returns undefined when no rule does, and the facts must. */
  ofCancellation(environment: Environment): z.output<typeof cancellationRule> | undefined {
    const isOne = (rule: BehaviourRule): rule is z.output<typeof cancellationRule> => rule.operation === 'cancellation';
    return this.#take(environment, isOne);
  }

  /** Decides about one cancellation of a VPN subscription; cancelled at once without a rule. */
  ofVpnCancellation(environment: Environment): { outcome: VpnCancellationOutcome; delay_ms?: number | undefined } {
    const isOne = (rule: BehaviourRule): rule is z.output<typeof vpnCancellationRule> =>
      rule.operation === 'vpn_cancellation';
    return this.#take(environment, isOne) ?? { outcome: 'cancelled' };
  }

  #take<Rule extends BehaviourRule>(
    environment: Environment,
    matches: (rule: BehaviourRule) => rule is Rule,
  ): Rule | undefined {
    for (const { id, used, ...rule } of this.list()) {
      const spent = rule.count !== null && used >= rule.count;
      const elsewhere = rule.environment !== undefined && rule.environment !== environment;
      if (spent || elsewhere || !matches(rule)) continue;
      this.#use.run({ id });
      return rule;
    }
    return undefined;
  }
}

function matchesSale(rule: BehaviourRule, kind: SaleKind, itemId: number): rule is SaleRule {
  if (rule.operation === 'cancellation' || rule.operation === 'vpn_cancellation') return false;
  if (rule.operation !== undefined && rule.operation !== kind) return false;
  const wanted = kind === 'vpn' ? rule.vpn_plan_id : rule.package_id;
  const foreign = kind === 'vpn' ? rule.package_id : rule.vpn_plan_id;
  return foreign === undefined && (wanted === undefined || wanted === itemId);
}
