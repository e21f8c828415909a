import { OLD_RULES } from '#test/crash/old-rules.ts';
/**
 * One thing made wrong, each with a plan in which it must show: that the proof finds something to complain of when
 * there is. Without the sabotage the same plan must pass.
 */
import { NOTHING_ELSE, SOLD_AT_ONCE as ORDER } from '#test/crash/plans/calm-plan.ts';
import type { CrashPlan } from '#test/crash/plans/plan.ts';
import { setting } from '#test/crash/plans/settings.ts';
import type { Sabotage } from '#test/crash/run/run-plan.ts';

export interface Saboteur {
  readonly what: string;
  /** What it does to the work is that nothing more happens to it: so long is waited for that, in milliseconds. */
  readonly stuckAfterMs?: number;
  readonly sabotage: Sabotage;
  readonly plan: CrashPlan;
  /** What a violation must say. */
  readonly caughtBy: RegExp;
}

/** No event comes, so that what is unknown is not settled by one. */
const SILENCE = [
  { fault: { kind: 'lost' }, nth: 1 },
  { fault: { kind: 'lost' }, nth: 1 },
  { fault: { kind: 'lost' }, nth: 1 },
  { fault: { kind: 'lost' }, nth: 1 },
] as const;

/** So that nobody finds it before it is sent again: neither look-ups nor the reconciler. */
const UNREADABLE = { endpoint: 'listOrders', fault: { kind: 'server_error' }, nth: 1, count: 15 } as const;

/** No circuit opens, which would keep sends away from a service that seems to be down. */
const PATIENT_WITH_THE_SERVICE = {
  ...setting('forgets_keys'),
  policy: { ...setting('forgets_keys').policy, POLICY_CIRCUIT_FAILURES: '1000' },
};

export const SABOTEURS = {
  'index-removed': {
    what: 'the unique index of the caller’s references is gone',
    sabotage: {
      scripts: { api: 'test/crash/saboteurs/careless-api.ts' },
      sql: ['ALTER TABLE orders DROP CONSTRAINT orders_external_order_id_unique', 'DROP INDEX attempts_reference'],
    },
    plan: { ...NOTHING_ELSE, setting: setting('reusable_references'), work: [{ ...ORDER, forgetful: true }] },
    caughtBy: /was bought once and cost 2 debits/,
  },
  'random-key': {
    what: 'each send of an attempt has a key of its own',
    sabotage: { scripts: { worker: 'test/crash/saboteurs/random-key-worker.ts' } },
    // A service that tells orders apart by their keys alone.
    plan: {
      ...NOTHING_ELSE,
      setting: setting('reusable_references'),
      requestFaults: [
        { endpoint: 'createOrder', fault: { kind: 'accepted_but_answer_lost' }, nth: 1, count: 1 },
        UNREADABLE,
      ],
      webhookFaults: SILENCE,
    },
    caughtBy: /was bought once and cost 2 debits/,
  },
  'random-key-of-top-up': {
    what: 'each send of an attempt has a key of its own, and a top-up has no reference by which its debits could be told',
    sabotage: { scripts: { worker: 'test/crash/saboteurs/random-key-worker.ts' } },
    plan: {
      ...NOTHING_ELSE,
      setting: setting('reusable_references'),
      work: [ORDER, { kind: 'topup', nature: 'sold', packageId: 1002 }],
      requestFaults: [
        { endpoint: 'createTopup', fault: { kind: 'accepted_but_answer_lost' }, nth: 1, count: 1 },
        { endpoint: 'listTopups', fault: { kind: 'server_error' }, nth: 1, count: 15 },
      ],
      webhookFaults: [{ event: 'topup.completed', fault: { kind: 'lost' }, nth: 1 }],
    },
    caughtBy: /1 top-ups were asked for and cost 2 debits/,
  },
  'early-acknowledgement': {
    what: 'a delivery is acknowledged before it is stored',
    sabotage: { scripts: { api: 'test/crash/saboteurs/hasty-api.ts' } },
    plan: {
      ...NOTHING_ELSE,
      kills: [{ process: 'api', point: 'POST /webhooks/service > insert inbox > before', hit: 1 }],
    },
    caughtBy: /was acknowledged and is not stored/,
  },
  'endless-resend': {
    what: 'an unanswered purchase is sent again after its window',
    sabotage: { scripts: { worker: 'test/crash/saboteurs/endless-resend-worker.ts' } },
    plan: {
      ...NOTHING_ELSE,
      // Honest resends end after a second and a half; the sixth send comes six seconds after the first, and buys again.
      // On a busy machine that takes longer, and nobody may find the order meanwhile.
      setting: PATIENT_WITH_THE_SERVICE,
      requestFaults: [
        { endpoint: 'createOrder', fault: { kind: 'accepted_but_answer_lost' }, nth: 1, count: 5 },
        { ...UNREADABLE, count: 100 },
      ],
      webhookFaults: SILENCE,
    },
    caughtBy: /was bought once and cost \d debits/,
  },
  ...OLD_RULES,
} as const satisfies Record<string, Saboteur>;

export type SaboteurName = keyof typeof SABOTEURS;
export const saboteurNames = Object.keys(SABOTEURS) as readonly SaboteurName[];

export function isSaboteur(name: string): name is SaboteurName {
  return Object.hasOwn(SABOTEURS, name);
}
