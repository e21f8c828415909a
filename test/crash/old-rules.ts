/**
 * Rules that the product once had and that lost money or work, each with a plan in which it must show. An entry point
 * under `saboteurs/` brings the old rule back; without it the same plan must pass.
 */
import { NOTHING_ELSE } from '#test/crash/plans/calm-plan.ts';
import type { CrashPlan } from '#test/crash/plans/plan.ts';
import { setting } from '#test/crash/plans/settings.ts';
import type { Saboteur } from '#test/crash/saboteurs.ts';

const SOLD_LATER = { kind: 'order', nature: 'sold', packageId: 9001 } as const;
/** With a second worker, which goes on where the first one stands still. */
const TWO_WORKERS: CrashPlan = { ...NOTHING_ELSE, processes: { worker: 2, api: 1 } };

/** Nobody finds it by asking, and no event tells of it. */
const NOBODY_TELLS = {
  requestFaults: [{ endpoint: 'listOrders', fault: { kind: 'server_error' }, nth: 1, count: 100 }],
  webhookFaults: Array.from({ length: 4 }, () => ({ fault: { kind: 'lost' }, nth: 1 }) as const),
} as const satisfies Pick<CrashPlan, 'requestFaults' | 'webhookFaults'>;

/** It is long enough for what is stopped to be given up by everybody else, on a busy machine, too. */
const LONG_MS = 60_000;
/** Longer than all waits of the proof but those that the plans make long: relays, sweeper, reconciler. */
const STUCK_AFTER_MS = 30_000;
const AT_ONCE = { ms: 0, hit: 1 } as const;

/** A relay has deliveries in hand. */
const TAKEN = 'relay > update inbox > after';

/**
 * Nothing but its event brings an order on: neither the reconciler nor the deadline of silence, as in a real outage
 * of hours.
 */
const LONG_SILENCE = { ...setting('replays'), policy: { POLICY_SILENT_DEADLINE: '7d', POLICY_SILENT_AFTER: '1h' } };

export const OLD_RULES = {
  'random-key-at-creation': {
    what: 'the key of an attempt is drawn at random, so that one whose row was lost is sent again with another key',
    sabotage: { scripts: { worker: 'test/crash/saboteurs/random-key-at-creation-worker.ts' } },
    plan: {
      ...TWO_WORKERS,
      ...NOBODY_TELLS,
      // A service that tells orders apart by their keys alone.
      setting: setting('reusable_references'),
      // The attempt is written, claimed and sent; then its row is gone.
      disturbances: [
        {
          kind: 'set_back',
          keep: { process: 'worker', point: 'beginWork > start', ...AT_ONCE },
          at: { process: 'worker', point: 'sendPurchase > POST /orders > sent', ...AT_ONCE },
        },
      ],
    },
    caughtBy: /was bought once and cost 2 debits/,
  },
  'send-without-lease': {
    what: 'a send whose lease ended while its worker stood still goes out beside the next one',
    sabotage: { scripts: { worker: 'test/crash/saboteurs/no-lease-check-worker.ts' } },
    plan: {
      ...TWO_WORKERS,
      ...NOBODY_TELLS,
      // A service that carries out what is sent at once twice. That two never are is ours to see to.
      setting: {
        ...setting('concurrent_keys'),
        properties: { reference_unique: false, purchase_takes_ms: 5_000 },
        lacks: [],
        // No circuit opens, which would keep the second worker from sending.
        policy: {
          POLICY_CIRCUIT_FAILURES: '1000',
          // The first worker's send must arrive while the service still works on the second one, on a busy machine too.
          POLICY_SEND_DEADLINE: '8s',
          POLICY_SEND_LEASE: '10s',
          POLICY_SEND_ACTIVITY_TIMEOUT: '20s',
        },
      },
      // The first worker stands still between its claim and its call, until the second one calls.
      stopsAt: [
        {
          process: 'worker',
          // Not by its number: how many commits prepare it depends on who reads the wallet first.
          point: 'sendPurchase > commit of update attempts > after',
          hit: 1,
          ms: LONG_MS,
          until: { point: 'sendPurchase > POST /orders > sent', hit: 1 },
        },
      ],
    },
    caughtBy: /was bought once and cost 2 debits/,
  },
  'judging-from-memory': {
    what: 'a relay judges a delivery by what it read before another relay stored its facts, and tells nobody',
    sabotage: { scripts: { worker: 'test/crash/saboteurs/judging-from-memory-worker.ts' } },
    plan: {
      ...TWO_WORKERS,
      // Nor does the sweeper wake its workflow, which makes good for most of what a relay forgets.
      setting: { ...LONG_SILENCE, policy: { ...LONG_SILENCE.policy, POLICY_SWEEP_IDLE_AFTER: '1h' } },
      work: [SOLD_LATER],
      webhookFaults: [{ event: 'order.processing', fault: { kind: 'lost' }, nth: 1 }],
      // The first relay stands still with the delivery in hand until the second one has taken it as well, and that
      // one until the first has stored the facts and dies before it has told the workflow.
      stopsAt: [
        { process: 'worker', point: TAKEN, hit: 1, ms: LONG_MS, until: { point: TAKEN, hit: 2 } },
        {
          process: 'worker',
          point: TAKEN,
          hit: 2,
          ms: LONG_MS,
          until: { point: 'relay > signalWithStart > before', hit: 1 },
        },
      ],
      kills: [{ process: 'worker', point: 'relay > signalWithStart > before', hit: 1 }],
    },
    stuckAfterMs: STUCK_AFTER_MS,
    caughtBy: /is still processing/,
  },
  'completed-workflow-not-restarted': {
    what: 'work whose workflow has completed is taken for finished, although its row was set back and is not',
    sabotage: { scripts: { worker: 'test/crash/saboteurs/completed-workflow-not-restarted-worker.ts' } },
    plan: {
      ...TWO_WORKERS,
      setting: LONG_SILENCE,
      work: [SOLD_LATER],
      // Before PostgreSQL keeps nothing more, the relay has stored that it told the workflow of the event; otherwise
      // the relay would tell it again.
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
