import * as z from 'zod';
import type { Identifiers } from '#simulator/identifiers.ts';
import { SALE_KINDS, type SaleKind } from '#simulator/store/rows.ts';
import { type Environment, ENVIRONMENTS, type Store } from '#simulator/store/store.ts';

/** A completed VPN order is an active subscription. */
export const OUTCOMES = [
  'completed',
  'processing_then_completed',
  'processing_then_failed',
  'failed_at_once',
  'stay_processing',
] as const;
type Outcome = (typeof OUTCOMES)[number];

/** Without a rule, the refund conditions decide. */
export const CANCELLATION_OUTCOMES = [
  /** The refund is completed at once, or after `delay_ms`. */
  'accepted',
  'processing_then_accepted',
  'refused',
  /** In review until the admin API decides. */
  'manual_review',
  'manual_review_then_accepted',
  'manual_review_then_refused',
  /** The refund fails at once, or after `delay_ms`. */
  'refund_failed',
] as const;

export const VPN_CANCELLATION_OUTCOMES = ['cancelled', 'processing_then_cancelled', 'refused'] as const;

const FAILING: ReadonlySet<Outcome> = new Set(['processing_then_failed', 'failed_at_once', 'stay_processing']);

const delay_ms = z.int().nonnegative().optional();

const behaviourFields = {
  outcome: z.enum(OUTCOMES),
  delay_ms,
  /** Counts from the failure; null for no credit. */
  credit_after_ms: z.int().nonnegative().nullable().optional(),
  /** False: the failed purchase is never debited. Only with `failed_at_once`. */
  debited: z.boolean().optional(),
};

export type Behaviour = z.output<z.ZodObject<typeof behaviourFields>>;

const matchFields = { environment: z.enum(ENVIRONMENTS).optional(), count: z.int().min(1).nullable().default(null) };

const saleRule = z
  .strictObject({
    operation: z.enum(SALE_KINDS).optional(),
    ...behaviourFields,
    ...matchFields,
    package_id: z.int().nonnegative().optional(),
    vpn_plan_id: z.int().nonnegative().optional(),
  })
  .refine((rule) => rule.debited !== false || rule.outcome === 'failed_at_once', {
    path: ['debited'],
    message: 'can be false only with failed_at_once',
  })
  .refine((rule) => rule.credit_after_ms === undefined || FAILING.has(rule.outcome), {
    path: ['credit_after_ms'],
    message: 'is allowed only with an outcome that can fail',
  })
  .refine((rule) => rule.package_id === undefined || rule.operation !== 'vpn', {
    path: ['package_id'],
    message: 'is not allowed for a VPN order',
  })
  .refine((rule) => rule.vpn_plan_id === undefined || rule.operation === undefined || rule.operation === 'vpn', {
    path: ['vpn_plan_id'],
    message: 'is allowed only for a VPN order',
  });

const cancellationRule = z.strictObject({
  operation: z.literal('cancellation'),
  outcome: z.enum(CANCELLATION_OUTCOMES),
  delay_ms,
  refund_amount: z
    .string()
    .regex(/^(?:0|[1-9]\d{0,11})(?:\.\d{1,6})?$/, 'must be an amount as text, such as "1.00"')
    .optional(),
  refund_currency: z
    .string()
    .regex(/^[A-Z]{3}$/)
    .optional(),
  ...matchFields,
});

const vpnCancellationRule = z.strictObject({
  operation: z.literal('vpn_cancellation'),
  outcome: z.enum(VPN_CANCELLATION_OUTCOMES),
  delay_ms,
  ...matchFields,
});

export const behaviourRule = z.discriminatedUnion('operation', [saleRule, cancellationRule, vpnCancellationRule]);
export type BehaviourRule = z.output<typeof behaviourRule>;
type SaleRule = z.output<typeof saleRule>;

type StoredBehaviour = BehaviourRule & { readonly id: string; readonly used: number };

/** The newest matching rule decides, in the transaction of its operation. */
export class Behaviours {
  readonly #store: Store;
  readonly #identifiers: Identifiers;

  constructor(store: Store, identifiers: Identifiers) {
    this.#store = store;
    this.#identifiers = identifiers;
  }

  add(rule: BehaviourRule): StoredBehaviour {
    const id = this.#identifiers.id('behaviour', this.#store.nextSequence('behaviours'));
    this.#store.insert('behaviours', { id, rule: JSON.stringify(rule) });
    return { id, ...rule, used: 0 };
  }

  /** Newest first, including those that are used up. */
  list(): StoredBehaviour[] {
    const rows = this.#store.rows('behaviours', 'ORDER BY sequence DESC');
    return rows.map(({ id, rule, used }) => ({ id, ...behaviourRule.parse(JSON.parse(rule)), used }));
  }

  ofSale(environment: Environment, kind: SaleKind, item: { id: number; behaviour?: Behaviour }): Behaviour {
    const rule = this.#take(environment, (candidate): candidate is SaleRule => matchesSale(candidate, kind, item.id));
    return rule ?? item.behaviour ?? { outcome: 'completed' };
  }

  of<Operation extends 'cancellation' | 'vpn_cancellation'>(environment: Environment, operation: Operation) {
    const isOne = (rule: BehaviourRule): rule is Extract<BehaviourRule, { operation: Operation }> =>
      rule.operation === operation;
    return this.#take(environment, isOne);
  }

  #take<Rule extends BehaviourRule>(
    environment: Environment,
    matches: (rule: BehaviourRule) => rule is Rule,
  ): Rule | undefined {
    for (const { id, used, ...rule } of this.list()) {
      const spent = rule.count !== null && used >= rule.count;
      const elsewhere = rule.environment !== undefined && rule.environment !== environment;
      if (spent || elsewhere || !matches(rule)) continue;
      this.#store.change('behaviours', { id }, { used: used + 1 });
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
