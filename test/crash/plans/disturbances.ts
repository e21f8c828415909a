/** The catalogue of disturbances from outside the processes, and the choice for each seed. Pure. */
import type { KilledProcess } from '#test/crash/plans/points.ts';
import type { Seeded } from '#test/support/work/workload.ts';

export type Server = 'postgres' | 'temporal';
/** The servers that the processes reach through a proxy. */
export type Link = Server | 'service';

/** SIGSTOP of a process when it passes a point for the n-th time. */
export interface PlannedStop {
  readonly process: KilledProcess;
  readonly point: string;
  readonly hit: number;
  /** Milliseconds until SIGCONT. A `set_back` of the plan at the same point replaces this. */
  readonly ms: number;
  /** SIGCONT comes earlier, when another point has been passed `hit` times. */
  readonly until?: { readonly point: string; readonly hit: number };
}

/** All times are in milliseconds. `atMs` counts from the first request of a caller. */
export type Disturbance =
  /** A server stops and starts again on the same data, after `afterWork` pieces of work were requested. */
  | {
      readonly kind: 'away';
      readonly server: Server;
      readonly how: 'stop' | 'kill';
      readonly afterWork: number;
      readonly ms: number;
    }
  /** SIGSTOP, and SIGCONT later, of one process (`number` from 1), or of all processes of a server. */
  | {
      readonly kind: 'freeze';
      readonly target: KilledProcess | Server;
      readonly number: number;
      readonly atMs: number;
      readonly ms: number;
      /** Not scaled like the waits of the proof. */
      readonly inRealTime: boolean;
    }
  /** No data passes in either direction, and no connection is closed. */
  | { readonly kind: 'hang'; readonly link: Link; readonly atMs: number; readonly ms: number }
  /** All data arrives `byMs` later, in its order. */
  | { readonly kind: 'delay'; readonly link: Link; readonly atMs: number; readonly ms: number; readonly byMs: number }
  /**
   * PostgreSQL loses its last commits. A process is stopped at the point `at`, all processes of PostgreSQL are killed,
   * and PostgreSQL starts with the data that it had written. Commits before the point `keep` remain; without `keep`,
   * commits older than about a second. `workflow_ended`: when the workflow of an order has completed.
   */
  | { readonly kind: 'set_back'; readonly keep: PlannedStop | undefined; readonly at: PlannedStop | 'workflow_ended' }
  /** The service cannot be reached and delivers no webhooks, for longer than any window of the plan. */
  | {
      readonly kind: 'outage';
      readonly how: 'errors' | 'resets' | 'silence';
      readonly atMs: number;
      readonly ms: number;
    }
  /** The clock of one process jumps. */
  | {
      readonly kind: 'jump';
      readonly process: KilledProcess;
      readonly number: number;
      readonly atMs: number;
      readonly toMs: number;
    }
  /** The n-th delivery gets a body that cannot be decrypted, or the outbox a row for work that does not exist. */
  | { readonly kind: 'poison'; readonly row: 'inbox' | 'outbox'; readonly nth: number };

/** The name of a disturbance in reports. */
export function nameOf(disturbance: Disturbance): string {
  switch (disturbance.kind) {
    case 'away':
      return `${disturbance.how} ${disturbance.server}`;
    case 'freeze':
      return `freeze ${disturbance.target}${disturbance.inRealTime ? ' in real time' : ''}`;
    case 'hang':
    case 'delay':
      return `${disturbance.kind} ${disturbance.link}`;
    case 'set_back':
      return 'set back postgres';
    case 'outage':
      return `outage of the service: ${disturbance.how}`;
    case 'jump':
      return `jump of the clock of the ${disturbance.process}`;
    case 'poison':
      return `poison ${disturbance.row}`;
  }
}

/** The servers that a seed needs for itself, because other seeds use the shared ones. */
export function ownServersFor(
  disturbances: readonly Disturbance[],
): { readonly [S in Server]: boolean } & { readonly losesCommits: boolean } {
  const meets = (server: Server) =>
    disturbances.some(
      (each) => (each.kind === 'away' && each.server === server) || (each.kind === 'freeze' && each.target === server),
    );
  const losesCommits = disturbances.some(({ kind }) => kind === 'set_back');
  return { postgres: meets('postgres') || losesCommits, temporal: meets('temporal'), losesCommits };
}

/** The waits of the proof are about a sixth of the product's. The 1 to 90 s of a freeze are scaled likewise. */
const SCALE = 6;
const FROZEN_SECONDS = [1, 90] as const;
/** One seed in this many does not scale its freezes. */
const REAL_TIME_EVERY = 40;
/** Clocks that use NTP differ by milliseconds. Two seconds is the error of a machine without NTP. */
const CLOCKS_APART_MS = 2_000;
/** A larger error, for example when NTP corrects a clock that was wrong. */
const JUMP_MS = 60_000;

/** Points at which a stall is dangerous: between a claim and its call, and between two steps of a hand-over. */
const STOPS: readonly (readonly [KilledProcess, string])[] = [
  ['worker', 'sendPurchase > commit 2 > after'],
  ['worker', 'sendPurchase > commit 3 > after'],
  ['worker', 'sendPurchase > POST /orders > before'],
  ['worker', 'sendPurchase > POST /orders > answered'],
  ['worker', 'sendPurchase > POST /topups > before'],
  ['worker', 'sendPurchase > POST /vpn/orders > before'],
  ['worker', 'relay > signalWithStart > before'],
  ['worker', 'relay > start > before'],
  ['worker', 'relay > commit of update inbox > after'],
  ['worker', 'completePurchase > commit 1 > before'],
  ['worker', 'readDebitEvidence > commit 1 > before'],
  ['api', 'POST /webhooks/service > insert inbox > before'],
  ['api', 'POST /v1/orders > commit 1 > before'],
];

/** Points at which PostgreSQL is set back: after an effect outside PostgreSQL whose record it loses. */
const SET_BACKS: readonly (readonly [KilledProcess, string])[] = [
  ['worker', 'sendPurchase > POST /orders > answered'],
  ['worker', 'sendPurchase > POST /vpn/orders > answered'],
  ['worker', 'sendPurchase > end'],
  ['worker', 'completePurchase > commit 1 > after'],
  ['api', 'POST /webhooks/service > insert inbox > after'],
  ['api', 'POST /v1/orders > commit 1 > after'],
  ['worker', 'recordStep > commit 1 > after'],
  ['worker', 'sendPurchase > POST /topups > answered'],
];
/** The first commit that is lost, in about half of the seeds with a set-back. */
const KEPT_BEFORE = ['worker', 'beginWork > commit 1 > before'] as const;

const KINDS = [
  'freeze worker',
  'set back',
  'hang postgres',
  'outage',
  'freeze at',
  'poison inbox',
  'freeze postgres',
  'delay service',
  'freeze api',
  'hang temporal',
  'jump',
  'delay postgres',
  'freeze temporal',
  'poison outbox',
  'hang service',
  'delay temporal',
  'freeze both',
] as const;
type DisturbanceKind = (typeof KINDS)[number];

/** Number of disturbances in a seed. They are far apart in the list. */
const EACH = 2;
const DISTANCE = 5;

export interface PlannedDisturbances {
  readonly disturbances: readonly Disturbance[];
  readonly stopsAt: readonly PlannedStop[];
  readonly clocks: Readonly<Record<string, number>>;
}

/** Two kinds for each seed. Over a suite all kinds occur equally often. */
export function disturbancesOf(
  seed: number,
  seeded: Seeded,
  processes: Readonly<Record<KilledProcess, number>>,
): PlannedDisturbances {
  const kinds = Array.from(
    { length: EACH },
    (_, index) => KINDS[(seed + index * DISTANCE) % KINDS.length] ?? 'freeze worker',
  );
  const inRealTime = seed % REAL_TIME_EVERY === REAL_TIME_EVERY - 1;
  const planned = kinds.map((kind) => plannedOf(kind, { seed, seeded, processes, inRealTime }));
  return {
    disturbances: planned.flatMap(({ disturbances = [] }) => disturbances),
    stopsAt: planned.flatMap(({ stopsAt = [] }) => stopsAt),
    clocks: Object.fromEntries(
      Object.entries(processes).flatMap(([role, count]) =>
        Array.from({ length: count }, (_, index) => [
          `${role}-${index + 1}`,
          seeded.between(-CLOCKS_APART_MS, CLOCKS_APART_MS),
        ]),
      ),
    ),
  };
}

interface Circumstances {
  readonly seed: number;
  readonly seeded: Seeded;
  readonly processes: Readonly<Record<KilledProcess, number>>;
  readonly inRealTime: boolean;
}

type Planned = { readonly disturbances?: readonly Disturbance[]; readonly stopsAt?: readonly PlannedStop[] };

function plannedOf(kind: DisturbanceKind, at: Circumstances): Planned {
  const { seed, seeded, processes } = at;
  const atMs = () => seeded.between(0, 4_000);
  const frozenMs = () => Math.round((seeded.between(...FROZEN_SECONDS) * 1_000) / (at.inRealTime ? 1 : SCALE));
  const freeze = (target: KilledProcess | Server, number = 1, when = atMs(), ms = frozenMs()): Disturbance => {
    return { kind: 'freeze', target, number, atMs: when, ms, inRealTime: at.inRealTime };
  };
  const stop = ([process, point]: readonly [KilledProcess, string], ms: number): PlannedStop => ({
    process,
    point,
    hit: seeded.between(1, 2),
    ms,
  });
  const turn = <Item>(items: readonly Item[]) => items[Math.floor(seed / KINDS.length) % items.length];
  switch (kind) {
    case 'freeze worker':
    case 'freeze api': {
      const role = kind === 'freeze api' ? 'api' : 'worker';
      return { disturbances: [freeze(role, seeded.between(1, processes[role]))] };
    }
    // All workers at once, so no worker takes over.
    case 'freeze both': {
      const [when, ms] = [atMs(), frozenMs()];
      return {
        disturbances: Array.from({ length: processes.worker }, (_, index) => freeze('worker', index + 1, when, ms)),
      };
    }
    case 'freeze postgres':
      return { disturbances: [freeze('postgres')] };
    case 'freeze temporal':
      return { disturbances: [freeze('temporal')] };
    case 'freeze at':
      return { stopsAt: [stop(turn(STOPS) ?? ['worker', 'relay > start > before'], frozenMs())] };
    case 'hang postgres':
    case 'hang temporal':
    case 'hang service':
      return { disturbances: [{ kind: 'hang', link: linkOf(kind), atMs: atMs(), ms: frozenMs() }] };
    case 'delay postgres':
    case 'delay temporal':
    case 'delay service': {
      const link = linkOf(kind);
      // A request may reach the service after its sender's timeout. The product must account for it.
      const byMs = link === 'service' ? seeded.between(500, 4_500) : seeded.between(20, 250);
      return { disturbances: [{ kind: 'delay', link, atMs: atMs(), ms: seeded.between(4_000, 10_000), byMs }] };
    }
    case 'set back': {
      const keep = seeded.next() < 0.5 ? stop(KEPT_BEFORE, 0) : undefined;
      return {
        disturbances: [{ kind: 'set_back', keep, at: stop(turn(SET_BACKS) ?? ['worker', 'sendPurchase > end'], 0) }],
      };
    }
    case 'outage':
      return {
        disturbances: [
          {
            kind: 'outage',
            how: turn(['errors', 'resets', 'silence'] as const) ?? 'errors',
            atMs: seeded.between(0, 1_500),
            ms: OUTAGE_MS,
          },
        ],
      };
    case 'jump': {
      const role = seeded.next() < 0.75 ? 'worker' : 'api';
      const toMs = seeded.pick([-JUMP_MS, JUMP_MS, -CLOCKS_APART_MS, CLOCKS_APART_MS]);
      return {
        disturbances: [{ kind: 'jump', process: role, number: seeded.between(1, processes[role]), atMs: atMs(), toMs }],
      };
    }
    case 'poison inbox':
    case 'poison outbox':
      return {
        disturbances: [
          { kind: 'poison', row: kind === 'poison inbox' ? 'inbox' : 'outbox', nth: seeded.between(1, 6) },
        ],
      };
  }
}

function linkOf(kind: `${'hang' | 'delay'} ${Link}`): Link {
  if (kind.endsWith('postgres')) return 'postgres';
  return kind.endsWith('temporal') ? 'temporal' : 'service';
}

/** Longer than all windows of {@link OUTAGE_POLICY}. The caller's deadline is longer. */
const OUTAGE_MS = 24_000;
/** Shortened windows for a seed with an outage of the service, so that all of them end during the outage. */
export const OUTAGE_POLICY = { 'purchase.resend_window': '3s', 'purchase.silent_deadline': '10s' } as const;
