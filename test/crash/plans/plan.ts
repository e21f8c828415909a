/** The plan of a seed: service, work, faults. Pure: the same seed always gives the same plan. */
import type * as z from 'zod';
import type { Capability } from '#domain/service/capability-profile.ts';
import type { behaviourRule } from '#simulator/behaviour/behaviours.ts';
import type { requestFault, webhookFault } from '#simulator/behaviour/faults.ts';
import { disturbancesOf, OUTAGE_POLICY, type Disturbance, type PlannedStop } from '#test/crash/plans/disturbances.ts';
import { POINTS, type KilledProcess } from '#test/crash/plans/points.ts';
import { settingOf, type Setting } from '#test/crash/plans/settings.ts';
import { plannedWork, type PlannedWork } from '#test/crash/run/work.ts';
import { Seeded } from '#test/support/work/workload.ts';

/** SIGKILL of a process when it passes a point for the n-th time. */
interface PlannedKill {
  readonly process: KilledProcess;
  readonly point: string;
  readonly hit: number;
}

/** A connection to PostgreSQL is cut at the n-th transaction: inside it, before its COMMIT arrives, or after that. */
export interface PlannedCut {
  readonly moment: 'in_transaction' | 'before_commit' | 'answer_of_commit';
  readonly hit: number;
}

interface PlannedRequestFault {
  readonly endpoint: (typeof BUYING)[number] | (typeof READING)[number];
  readonly fault: z.input<typeof requestFault>;
  readonly nth: number;
  readonly count: number;
}

interface PlannedWebhookFault {
  /** Counts only events of this type. */
  readonly event?: string;
  readonly fault: z.input<typeof webhookFault>;
  readonly nth: number;
}

export interface CrashPlan {
  readonly seed: number;
  readonly setting: Setting;
  readonly work: readonly PlannedWork[];
  /** Number of processes of each role. Requests and webhooks are distributed over the APIs. */
  readonly processes: Readonly<Record<KilledProcess, number>>;
  /** Offset of the clock of each process (such as `worker-1`) from the machine's, in milliseconds. */
  readonly clocks: Readonly<Record<string, number>>;
  readonly kills: readonly PlannedKill[];
  /** Time between the kill of a process and its restart. */
  readonly restartDelayMs: number;
  readonly cuts: readonly PlannedCut[];
  readonly stopsAt: readonly PlannedStop[];
  readonly disturbances: readonly Disturbance[];
  /** If set, the wallet is empty at first, and filled after this many pieces of work were requested. */
  readonly moneyAfterWork?: number;
  /** Results of the next purchases; the last one is used first. */
  readonly outcomes?: readonly z.input<typeof behaviourRule>[];
  readonly requestFaults: readonly PlannedRequestFault[];
  readonly webhookFaults: readonly PlannedWebhookFault[];
}

/** Calls that buy or cancel. */
const BUYING = ['createOrder', 'createTopup', 'createVpnOrder', 'cancelEsim'] as const;
const READING = [
  'getOrder',
  'listOrders',
  'getEsim',
  'listWalletTransactions',
  'listTopupOptions',
  'listVpnPlans',
  'cancelVpnSubscription',
  'getEsimUsage',
  'getRefund',
  'listTopups',
  'getVpnSubscription',
  'listRefunds',
  'getTopup',
] as const;

/** Faults after acceptance, before it, and in between. */
const BUYING_FAULTS: readonly z.input<typeof requestFault>[] = [
  { kind: 'accepted_but_answer_lost' },
  { kind: 'server_error', after_work: true },
  { kind: 'truncated_body' },
  { kind: 'garbage_body' },
  { kind: 'hang', after_work: true },
  { kind: 'connection_reset' },
  { kind: 'server_error' },
  { kind: 'rate_limited', retry_after: 1 },
  // The events arrive before the answer.
  { kind: 'latency', ms: 1_500, at: 'answer' },
];

const READING_FAULTS: readonly z.input<typeof requestFault>[] = [
  { kind: 'server_error' },
  { kind: 'connection_reset' },
  { kind: 'garbage_body' },
  { kind: 'rate_limited', retry_after: 1 },
];

const WEBHOOK_FAULTS: readonly z.input<typeof webhookFault>[] = [
  { kind: 'lost' },
  { kind: 'late', ms: 1_500 },
  { kind: 'twice' },
  { kind: 'out_of_order', ms: 2_000 },
  { kind: 'forged' },
  { kind: 'stale_timestamp' },
  { kind: 'changed_event_header', event: 'order.failed' },
];

const CUTS: readonly PlannedCut['moment'][] = ['in_transaction', 'before_commit', 'answer_of_commit'];

const KILLS_OF_WORKER = 3;
const MORE_RARE_EVERY = 3;
const BUYING_FAULTS_EACH = 3;
const WEBHOOK_FAULTS_EACH = 3;
/** One seed in this many stops a server. */
const AWAY_EVERY = 10;
/** A seed has two workers. One seed in this many has a third. */
const THIRD_WORKER_EVERY = 3;
const APIS = 2;

/** The items of a catalogue for a seed. Over a suite of seeds all items occur equally often. */
function turn<Item>(items: readonly Item[], seed: number, count: number): Item[] {
  return Array.from(
    { length: Math.min(count, items.length) },
    (_, index) => items[(seed * count + index) % items.length],
  ).filter((item): item is Item => item !== undefined);
}

/** About a third of the points, and not near a multiple of the number of dialects: each point meets many dialects. */
const DISTANCE = 53;

/** Like {@link turn}, for a long catalogue. The items of a seed are far apart in it, so they are of different steps. */
function apart<Item>(items: readonly Item[], seed: number, count: number): Item[] {
  return Array.from({ length: count }, (_, index) => items[(seed + index * DISTANCE) % items.length]).filter(
    (item): item is Item => item !== undefined,
  );
}

/** Points that work passes at most once, in rare circumstances. Seeds with a kill there create the circumstances. */
const RARE = /^lookUpPurchase|^cancelSubscription|^reconcileBooks|GET \/|POST \/esims\/\{id\}\/cancel|gate_/;
const OF_VPN_CANCELLATION = /cancelSubscription|\/v1\/vpn\/subscriptions\/\{id\}\/cancel/;
/** The refund.completed event is lost, so that the refund is looked up. */
const OF_REFUND = /^completePurchase > GET \/refunds/;
const OF_RETRY = /\/v1\/orders\/\{id\}\/retry/;
/** Work that must be looked up: its answer and its event are lost. */
const LOOKED_UP = [
  [/^lookUpPurchase > (GET \/orders|start|end|commit)/, 'createOrder', 'order.completed'],
  [/^lookUpPurchase > GET \/topups/, 'createTopup', 'topup.completed'],
  [/^lookUpPurchase > GET \/vpn/, 'createVpnOrder', 'vpn.subscription.active'],
  [/^lookUpPurchase > GET \/esims/, 'cancelEsim', 'esim.cancelled'],
] as const;
/** Work that the reconciler must look up: the service completes it later, and its events are lost. */
const SILENT = [
  [/^reconcileSilentWork > (GET \/orders|insert|update)/, ['order.completed']],
  [/^reconcileSilentWork > GET \/topups/, ['topup.completed']],
  [/^reconcileSilentWork > GET \/vpn/, ['vpn.subscription.active']],
  [/^reconcileSilentWork > GET \/esims/, ['esim.cancelled', 'refund.completed']],
] as const;
/** No kind of event occurs more often in a seed. */
const ALL_OF_A_KIND = [1, 2, 3, 4, 5] as const;
const OF_BOOKS = /^reconcileBooks/;
/** Waiting work is released when the wallet is filled. */
const OF_LETTING_GO = /delete gate_waits/;
/** The books are compared while work is in progress. */
const BOOKS_OFTEN = { 'books.every': '2s' } as const;

/** Calls that a service may lack, with their capabilities. */
const CALLS_OF: Readonly<Record<string, Capability>> = {
  'GET /orders': 'order_list',
  'GET /orders/{id}': 'order_read',
  'GET /topups': 'topup_list',
  'GET /topups/{id}': 'topup_read',
  'GET /refunds/{id}': 'refund_read',
  'GET /vpn/subscriptions': 'vpn_subscription_list',
  'GET /vpn/subscriptions/{id}': 'vpn_subscription_read',
  'GET /wallet/transactions': 'wallet_transactions',
  'GET /esims/{id}/usage': 'esim_usage',
};
const OF_WALLET_TRANSACTIONS = /^(reconcileBooks|readDebitEvidence) > commit/;

/** False if the service lacks the call of a point, so that no process passes it. */
function isReachable(point: string, { without }: Pick<Setting, 'without'>): boolean {
  const [, call = ''] = point.split(' > ');
  const needed = OF_WALLET_TRANSACTIONS.test(point) ? 'wallet_transactions' : CALLS_OF[call];
  return needed === undefined || !without.includes(needed);
}

function lost(event: string, nths: readonly number[]): PlannedWebhookFault[] {
  return nths.map((nth) => ({ event, fault: { kind: 'lost' }, nth }));
}

export function planOf(seed: number): CrashPlan {
  const seeded = new Seeded(seed);
  const kill = (process: KilledProcess, most: number) => (point: string) => ({
    process,
    point,
    hit: seeded.between(1, RARE.test(point) ? 1 : most),
  });
  const setting = settingOf(seed);
  const ofWorker = apart(POINTS.worker, seed, KILLS_OF_WORKER);
  const lacking = ofWorker.filter((point) => !isReachable(point, setting));
  // A rare point replaces each unreachable point. Each third seed gets an additional rare point.
  const rare = POINTS.worker.filter(
    (point) => RARE.test(point) && isReachable(point, setting) && !ofWorker.includes(point),
  );
  const kills = [
    ...[...ofWorker, ...apart(rare, seed, lacking.length + (seed % MORE_RARE_EVERY === 0 ? 1 : 0))].map(
      kill('worker', 2),
    ),
    ...turn(POINTS.api, seed, 1).map(kill('api', 1)),
  ];
  const killsAt = (points: RegExp) => kills.some(({ point }) => points.test(point));
  const policy = killsAt(OF_BOOKS) ? { ...setting.policy, ...BOOKS_OFTEN } : setting.policy;
  const lookedUp = LOOKED_UP.filter(([point]) => killsAt(point));
  const silent = SILENT.filter(([point]) => killsAt(point));
  const processes = { worker: seed % THIRD_WORKER_EVERY === 0 ? 3 : 2, api: APIS };
  const { disturbances, stopsAt, clocks } = disturbancesOf(seed, new Seeded(seed + DISTURBANCES_FROM), processes);
  const isSetBack = disturbances.some(({ kind }) => kind === 'set_back');
  const outageOfService = disturbances.some(({ kind }) => kind === 'outage');
  return {
    seed,
    // Without `key_replay` the purchase may not be sent again, so it is looked up.
    setting: {
      ...setting,
      policy: { ...policy, ...(outageOfService && OUTAGE_POLICY) },
      ...(lookedUp.length > 0 && { lacks: [...new Set([...setting.lacks, 'key_replay' as const])] }),
    },
    work: plannedWork(seeded, {
      vpnIsCancelled: killsAt(OF_VPN_CANCELLATION),
      soldLater: silent.length > 0,
      retried: killsAt(OF_RETRY),
    }),
    processes,
    clocks,
    kills,
    restartDelayMs: seeded.pick([0, 0, 0, 2_500]),
    cuts: turn(CUTS, seed, 1).map((moment) => ({ moment, hit: seeded.between(1, 25) })),
    stopsAt,
    // A stop of PostgreSQL in a seed with a set-back would lose commits a second time.
    disturbances:
      seed % AWAY_EVERY === AWAY_EVERY - 1 && !isSetBack ? [...disturbances, away(seed, seeded)] : disturbances,
    ...(killsAt(OF_LETTING_GO) && { moneyAfterWork: 4 }),
    requestFaults: [
      ...lookedUp.map(
        ([, endpoint]) => ({ endpoint, fault: { kind: 'accepted_but_answer_lost' }, nth: 1, count: 1 }) as const,
      ),
      ...turn(BUYING_FAULTS, seed, BUYING_FAULTS_EACH).map((fault) => ({
        // Most of the work is orders.
        endpoint: seeded.pick<PlannedRequestFault['endpoint']>(['createOrder', 'createOrder', ...BUYING]),
        fault,
        nth: seeded.between(1, 3),
        count: 1,
      })),
      ...turn(READING, seed, 2).map((endpoint) => ({
        endpoint,
        fault: READING_FAULTS[seeded.between(0, READING_FAULTS.length - 1)] ?? { kind: 'server_error' },
        nth: seeded.between(1, 2),
        count: seeded.between(1, 2),
      })),
    ],
    webhookFaults: [
      ...lookedUp.flatMap(([, , event]) => lost(event, ALL_OF_A_KIND)),
      ...(killsAt(OF_REFUND) ? lost('refund.completed', ALL_OF_A_KIND) : []),
      ...silent.flatMap(([, events]) => events.flatMap((event) => lost(event, ALL_OF_A_KIND))),
      ...turn(WEBHOOK_FAULTS, seed, WEBHOOK_FAULTS_EACH).map((fault) => ({ fault, nth: seeded.between(1, 8) })),
    ],
  };
}

/** Separate random numbers, so that a new kind of disturbance does not change the work and the faults of a seed. */
const DISTURBANCES_FROM = 1_000_000;

function away(seed: number, seeded: Seeded): Disturbance {
  return {
    kind: 'away',
    server: Math.floor(seed / AWAY_EVERY) % 2 === 0 ? 'postgres' : 'temporal',
    how: Math.floor(seed / (2 * AWAY_EVERY)) % 2 === 0 ? 'stop' : 'kill',
    afterWork: seeded.between(2, 5),
    ms: seeded.between(500, 2_500),
  };
}
