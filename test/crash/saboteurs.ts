/** Deliberate defects (`docs/crash-proof.md`), each with a plan that detects it, and that passes without it. */
import { OLD_RULES, TWO_DEBITS } from '#test/crash/old-rules.ts';
import { EVENTS_LOST, NOTHING_ELSE, SOLD_AT_ONCE as ORDER } from '#test/crash/plans/calm-plan.ts';
import { setting } from '#test/crash/plans/settings.ts';
import type { Saboteur } from '#test/crash/saboteur.ts';

/** Look-ups and the reconciler fail, so they do not find the order before it is sent again. */
const UNREADABLE = { endpoint: 'listOrders', fault: { kind: 'server_error' }, nth: 1, count: 15 } as const;

export const SABOTEURS = {
  'index-removed': {
    sabotage: {
      scripts: { api: 'test/crash/saboteurs/no-unique-reference-api.ts' },
      sql: ['DROP INDEX orders_reference_use, orders_reference_in_use', 'DROP INDEX attempts_reference'],
    },
    plan: { ...NOTHING_ELSE, setting: setting('reusable_references'), work: [{ ...ORDER, forgetful: true }] },
    caughtBy: TWO_DEBITS,
  },
  'random-key': {
    sabotage: { scripts: { worker: 'test/crash/saboteurs/random-key-worker.ts' } },
    // A service that distinguishes orders only by their keys.
    plan: {
      ...NOTHING_ELSE,
      setting: setting('reusable_references'),
      requestFaults: [
        { endpoint: 'createOrder', fault: { kind: 'accepted_but_answer_lost' }, nth: 1, count: 1 },
        UNREADABLE,
      ],
      webhookFaults: EVENTS_LOST,
    },
    caughtBy: TWO_DEBITS,
  },
  'random-key-of-top-up': {
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
    sabotage: { scripts: { api: 'test/crash/saboteurs/early-acknowledgement-api.ts' } },
    plan: {
      ...NOTHING_ELSE,
      kills: [{ process: 'api', point: 'POST /webhooks/service > insert inbox > before', hit: 1 }],
    },
    caughtBy: /was acknowledged and is not stored/,
  },
  'endless-resend': {
    sabotage: { scripts: { worker: 'test/crash/saboteurs/endless-resend-worker.ts' } },
    plan: {
      ...NOTHING_ELSE,
      // Without the defect, resends end after 1.5 seconds. The sixth send is six seconds after the first and buys
      // again. On a busy machine it is later, so look-ups must fail for a long time, and no circuit may open.
      setting: {
        ...setting('forgets_keys'),
        policy: { ...setting('forgets_keys').policy, 'gate.circuit_failures': 1000 },
      },
      requestFaults: [
        { endpoint: 'createOrder', fault: { kind: 'accepted_but_answer_lost' }, nth: 1, count: 5 },
        { ...UNREADABLE, count: 100 },
      ],
      webhookFaults: EVENTS_LOST,
    },
    caughtBy: /was bought once and cost \d debits/,
  },
  ...OLD_RULES,
} as const satisfies Record<string, Saboteur>;

export const saboteurNames = Object.keys(SABOTEURS) as readonly (keyof typeof SABOTEURS)[];
