/**
 * Former rules of the product that lost money or work, each with a plan that must detect it. An entry point under
 * `saboteurs/` restores the old rule. Without that entry point the same plan must pass.
 */
import { EVENTS_LOST, NOTHING_ELSE } from '#test/crash/plans/calm-plan.ts';
import type { CrashPlan } from '#test/crash/plans/plan.ts';
import { setting } from '#test/crash/plans/settings.ts';
import { NEVER_CREDITED } from '#test/crash/run/work.ts';
import type { Saboteur } from '#test/crash/saboteur.ts';

const SOLD_LATER = { kind: 'order', nature: 'sold', packageId: 9001 } as const;
/** With a second worker, which continues the work while the first one is stopped. */
const TWO_WORKERS: CrashPlan = { ...NOTHING_ELSE, processes: { worker: 2, api: 1 } };

/** No look-up and no event reports it. */
const NO_REPORTS = {
  requestFaults: [{ endpoint: 'listOrders', fault: { kind: 'server_error' }, nth: 1, count: 100 }],
  webhookFaults: EVENTS_LOST,
} as const satisfies Pick<CrashPlan, 'requestFaults' | 'webhookFaults'>;

/** Longer than every timeout that waits for a stopped process, also on a busy machine. */
const LONG_MS = 120_000;
/** Longer than all waits of the proof, except those that these plans lengthen: relays, sweeper, reconciler. */
const STUCK_AFTER_MS = 30_000;
const AT_ONCE = { ms: 0, hit: 1 } as const;

/** The attempt is written, claimed and sent. Then its row is lost. */
const CLAIM_LOST = {
  kind: 'set_back',
  keep: { process: 'worker', point: 'beginWork > start', ...AT_ONCE },
  at: { process: 'worker', point: 'sendPurchase > POST /orders > sent', ...AT_ONCE },
} as const;

/** A relay has taken deliveries. */
const TAKEN = 'relay > update inbox > after';
const SIGNALS = 'relay > signalWithStart > before';

/** Only its event continues an order. The reconciler and the deadline of silence come much later. */
const LONG_SILENCE = {
  ...setting('replays'),
  policy: { 'purchase.silent_deadline': '7d', 'reconciler.silent_after': '1h' },
};

/** It fails at once, and nothing is credited: a second attempt is a second debit. */
const FAILS: CrashPlan['work'] = [{ kind: 'order', nature: 'fails', packageId: NEVER_CREDITED }];
export const TWO_DEBITS = /was bought once and cost 2 debits/;
/** No reading shows a debit before it is judged, unless the judgement waits as it should. */
const DEBITS_COME_LATER: CrashPlan['setting'] = {
  ...setting('late_debits'),
  properties: { debits_visible_after_ms: 8_000 },
  policy: { 'purchase.unseen_debit_delay': '12s' },
};
/** A delivery that cannot be used. */
const MISSTATED = { kind: 'answer', status: 200, body: '{}', headers: { 'content-type': 'application/json' } } as const;

/** Former rules about what a failed purchase cost. */
const EVIDENCE = {
  'filtered-reading': {
    sabotage: { scripts: { worker: 'test/crash/saboteurs/filtered-reading-worker.ts' } },
    plan: { ...NOTHING_ELSE, setting: setting('filter_ahead'), work: FAILS },
    caughtBy: TWO_DEBITS,
  },
  'stale-reading': {
    sabotage: { scripts: { worker: 'test/crash/saboteurs/stale-reading-worker.ts' } },
    plan: { ...NOTHING_ELSE, setting: DEBITS_COME_LATER, work: FAILS },
    caughtBy: TWO_DEBITS,
  },
  /** Each failed attempt counts as settled, so it is bought again without a proof. */
  'settled-without-proof': {
    sabotage: {
      sql: [
        `CREATE FUNCTION settle_at_once() RETURNS trigger LANGUAGE plpgsql AS $$
           BEGIN NEW.settled := NEW.settled OR NEW.state = 'failed'; RETURN NEW; END $$`,
        'CREATE TRIGGER settle_at_once BEFORE UPDATE ON attempts FOR EACH ROW EXECUTE FUNCTION settle_at_once()',
      ],
    },
    plan: { ...NOTHING_ELSE, work: FAILS },
    caughtBy: TWO_DEBITS,
  },
  'last-attempt-only': {
    sabotage: { scripts: { worker: 'test/crash/saboteurs/last-attempt-only-worker.ts' } },
    plan: {
      ...NOTHING_ELSE,
      // Balance and list show the first debit after the first judgement and before the second one.
      setting: {
        ...setting('late_debits'),
        properties: { debits_visible_after_ms: 8_000 },
        policy: { 'retry.max_attempts': 3, 'retry.attempt_delay': '15s' },
      },
      work: [{ kind: 'order', nature: 'fails', packageId: 1001 }],
      outcomes: [
        { operation: 'order', outcome: 'failed_at_once', debited: false },
        { operation: 'order', outcome: 'failed_at_once', credit_after_ms: null },
      ],
    },
    caughtBy: TWO_DEBITS,
  },
} as const satisfies Record<string, Saboteur>;

export const OLD_RULES = {
  ...EVIDENCE,
  /** A paid delivery that cannot be used stops nothing. */
  'no-drift-stop': {
    sabotage: {
      sql: [
        `CREATE FUNCTION open_at_once() RETURNS trigger LANGUAGE plpgsql AS $$
           BEGIN NEW.state := 'open'; NEW.stopped_products := '[]'; RETURN NEW; END $$`,
        `CREATE TRIGGER open_at_once BEFORE INSERT OR UPDATE ON gate_lines
           FOR EACH ROW EXECUTE FUNCTION open_at_once()`,
      ],
    },
    plan: {
      ...NOTHING_ELSE,
      // Two of three orders are bought again after the delivery of the third.
      work: Array.from({ length: 3 }, () => ({ kind: 'order', nature: 'fails_once', packageId: 1001 }) as const),
      outcomes: [{ operation: 'order', outcome: 'failed_at_once', count: 2 }],
      requestFaults: [{ endpoint: 'getEsim', fault: MISSTATED, nth: 1, count: 3 }],
    },
    caughtBy: /was sent after the stop/,
  },
  'random-key-at-creation': {
    sabotage: { scripts: { worker: 'test/crash/saboteurs/random-key-at-creation-worker.ts' } },
    plan: {
      ...TWO_WORKERS,
      ...NO_REPORTS,
      // A service that distinguishes orders only by their keys.
      setting: setting('reusable_references'),
      disturbances: [CLAIM_LOST],
    },
    caughtBy: TWO_DEBITS,
  },
  'no-epoch': {
    sabotage: { scripts: { worker: 'test/crash/saboteurs/no-epoch-worker.ts' } },
    plan: {
      ...TWO_WORKERS,
      webhookFaults: EVENTS_LOST,
      // Each send buys, and a look-up finds what was bought.
      setting: setting('ignores_keys'),
      disturbances: [CLAIM_LOST],
    },
    caughtBy: TWO_DEBITS,
  },
  'send-without-lease': {
    sabotage: { scripts: { worker: 'test/crash/saboteurs/no-lease-check-worker.ts' } },
    plan: {
      ...TWO_WORKERS,
      ...NO_REPORTS,
      // A service that executes concurrent requests with one key twice. The lease must prevent that.
      setting: {
        ...setting('concurrent_keys'),
        properties: { reference_unique: false, purchase_takes_ms: 15_000 },
        lacks: [],
        // An open circuit would prevent the second worker from sending.
        policy: {
          'gate.circuit_failures': 1000,
          // The first worker's send must arrive while the service works on the second one, also on a busy machine.
          'purchase.send_deadline': '20s',
          'purchase.send_lease': '22s',
          'purchase.send_activity_timeout': '45s',
        },
      },
      // The first worker is stopped between its claim and its call, until the second one calls.
      stopsAt: [
        {
          process: 'worker',
          // A commit number would not work: the worker that reads the wallet first has more commits before it.
          point: 'beginWork > commit of update attempts > after',
          hit: 1,
          ms: LONG_MS,
          until: { point: 'sendPurchase > POST /orders > sent', hit: 1 },
        },
      ],
    },
    caughtBy: TWO_DEBITS,
  },
  'stale-judgement': {
    sabotage: { scripts: { worker: 'test/crash/saboteurs/stale-judgement-worker.ts' } },
    plan: {
      ...TWO_WORKERS,
      // The sweeper does not run, because it would repair the missing signal.
      setting: { ...LONG_SILENCE, policy: { ...LONG_SILENCE.policy, 'sweeper.idle_after': '1h' } },
      work: [SOLD_LATER],
      webhookFaults: [{ event: 'order.processing', fault: { kind: 'lost' }, nth: 1 }],
      // The first relay stops with the delivery until the second one has taken it as well. The second one stops until
      // the first has stored the facts and is killed before it signals the workflow.
      stopsAt: [
        { process: 'worker', point: TAKEN, hit: 1, ms: LONG_MS, until: { point: TAKEN, hit: 2 } },
        { process: 'worker', point: TAKEN, hit: 2, ms: LONG_MS, until: { point: SIGNALS, hit: 1 } },
      ],
      kills: [{ process: 'worker', point: SIGNALS, hit: 1 }],
    },
    stuckAfterMs: STUCK_AFTER_MS,
    caughtBy: /is still processing/,
  },
  'completed-not-restarted': {
    sabotage: { scripts: { worker: 'test/crash/saboteurs/completed-not-restarted-worker.ts' } },
    plan: {
      ...TWO_WORKERS,
      setting: LONG_SILENCE,
      work: [SOLD_LATER],
      // The relay stores its note of the signal before PostgreSQL stops writing. Otherwise it would signal again.
      requestFaults: [{ endpoint: 'getEsim', fault: { kind: 'latency', ms: 3_000, at: 'answer' }, nth: 1, count: 1 }],
      disturbances: [
        {
          kind: 'set_back',
          keep: { process: 'worker', point: 'completePurchase > GET /esims/{id} > answered', ...AT_ONCE },
          at: 'workflow_ended',
        },
      ],
    },
    stuckAfterMs: STUCK_AFTER_MS,
    caughtBy: /in silence|is still processing/,
  },
} as const satisfies Record<string, Saboteur>;
