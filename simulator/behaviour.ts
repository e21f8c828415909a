import * as z from 'zod';
import { ENVIRONMENTS, type Environment } from '#simulator/environment.ts';
import type { CataloguePackage } from '#simulator/catalogue.ts';
import type { Identifiers } from '#simulator/identifiers.ts';
import type { Store } from '#simulator/store/store.ts';

export const OUTCOMES = [
  'completed',
  'processing_then_completed',
  'processing_then_failed',
  'failed_at_once',
  'stay_processing',
] as const;
export type Outcome = (typeof OUTCOMES)[number];

const FAILING: ReadonlySet<Outcome> = new Set(['processing_then_failed', 'failed_at_once', 'stay_processing']);

const behaviourFields = {
  outcome: z.enum(OUTCOMES),
  /** Time in `processing`, in milliseconds; the configured one when absent. */
  delay_ms: z.int().nonnegative().optional(),
  /** From the failure to the credit, in milliseconds; null for no credit ever. */
  credit_after_ms: z.int().nonnegative().nullable().optional(),
  /** False: the failed purchase never debits. Only with `failed_at_once`. */
  debited: z.boolean().optional(),
};

/** What becomes of a purchase. */
export type Behaviour = z.output<z.ZodObject<typeof behaviourFields>>;

/** A rule of the admin API: the next `count` purchases that match go this way. */
export const behaviourRule = z
  .strictObject({
    ...behaviourFields,
    environment: z.enum(ENVIRONMENTS).optional(),
    package_id: z.int().nonnegative().optional(),
    /** Null: until removed. */
    count: z.int().min(1).nullable().default(null),
  })
  .refine((rule) => rule.debited !== false || rule.outcome === 'failed_at_once', {
    path: ['debited'],
    message: 'can be false with failed_at_once only',
  })
  .refine((rule) => rule.credit_after_ms === undefined || FAILING.has(rule.outcome), {
    path: ['credit_after_ms'],
    message: 'makes sense with an outcome that can fail only',
  });
export type BehaviourRule = z.output<typeof behaviourRule>;

export type StoredBehaviour = BehaviourRule & { readonly id: string; readonly used: number };

const row = z.object({ id: z.string(), rule: z.string(), used: z.number() });

/** The rules of the admin API; the newest that matches decides. */
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

  /** Decides about one purchase and counts the rule that did. Runs in the purchase's transaction. */
  take(environment: Environment, item: CataloguePackage): Behaviour {
    const rule = this.list().find(
      (candidate) =>
        (candidate.count === null || candidate.used < candidate.count) &&
        (candidate.environment === undefined || candidate.environment === environment) &&
        (candidate.package_id === undefined || candidate.package_id === item.id),
    );
    if (rule === undefined) return item.behaviour ?? { outcome: 'completed' };
    this.#use.run({ id: rule.id });
    return rule;
  }
}
