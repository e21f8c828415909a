/** The catalogue of disturbances from outside the processes, and the choice for each seed. Pure. */
import type { KilledProcess } from '#test/crash/plans/points.ts';
import type { Seeded } from '#test/support/work/workload.ts';

type Server = 'postgres' | 'temporal';
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
  | {
      readonly kind: 'jump';
      readonly process: KilledProcess;
      readonly number: number;
      readonly atMs: number;
      readonly toMs: number;
    }
  /** The n-th delivery gets a body that cannot be decrypted, or the outbox a row for work that does not exist. */
  | { readonly kind: 'poison'; readonly row: 'inbox' | 'outbox'; readonly nth: number };

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

type Point = readonly [KilledProcess, string];
type Points = readonly [Point, ...Point[]];

/** Points at which a stall is dangerous: between a claim and its call, and between two steps of a hand-over. */
const STOPS: Points = [
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
const SET_BACKS: Points = [
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
const KEPT_BEFORE: Point = ['worker', 'beginWork > commit 1 > before'];

interface Circumstances {
  readonly seed: number;
  readonly seeded: Seeded;
  readonly processes: Readonly<Record<KilledProcess, number>>;
  readonly inRealTime: boolean;
}

/** What a seed plans of one kind. */
type Kind = (at: Circumstances) => readonly (Disturbance | PlannedStop)[];

const startMs = ({ seeded }: Circumstances) => seeded.between(0, 4_000);
const frozenMs = ({ seeded, inRealTime }: Circumstances) =>
  Math.round((seeded.between(...FROZEN_SECONDS) * 1_000) / (inRealTime ? 1 : SCALE));

function turn<Item>({ seed }: Circumstances, items: readonly [Item, ...Item[]]): Item {
  return items[Math.floor(seed / KINDS.length) % items.length] ?? items[0];
}

function stopAt({ seeded }: Circumstances, [process, point]: Point, ms: number): PlannedStop {
  return { process, point, hit: seeded.between(1, 2), ms };
}

function freeze(
  at: Circumstances,
  target: KilledProcess | Server,
  number = 1,
  atMs = startMs(at),
  ms = frozenMs(at),
): Disturbance {
  return { kind: 'freeze', target, number, atMs, ms, inRealTime: at.inRealTime };
}

const freezeServer =
  (server: Server): Kind =>
  (at) => [freeze(at, server)];

const freezeProcess =
  (role: KilledProcess): Kind =>
  (at) => [freeze(at, role, at.seeded.between(1, at.processes[role]))];

/** All workers at once, so no worker takes over. */
const freezeWorkers: Kind = (at) => {
  const [when, ms] = [startMs(at), frozenMs(at)];
  return Array.from({ length: at.processes.worker }, (_, index) => freeze(at, 'worker', index + 1, when, ms));
};

const hang =
  (link: Link): Kind =>
  (at) => [{ kind: 'hang', link, atMs: startMs(at), ms: frozenMs(at) }];

/** A request may reach the service after its sender's timeout. The product must account for it. */
const delay =
  (link: Link): Kind =>
  (at) => {
    const byMs = link === 'service' ? at.seeded.between(500, 4_500) : at.seeded.between(20, 250);
    return [{ kind: 'delay', link, atMs: startMs(at), ms: at.seeded.between(4_000, 10_000), byMs }];
  };

const setBack: Kind = (at) => {
  const keep = at.seeded.next() < 0.5 ? stopAt(at, KEPT_BEFORE, 0) : undefined;
  return [{ kind: 'set_back', keep, at: stopAt(at, turn(at, SET_BACKS), 0) }];
};

const outage: Kind = (at) => [
  {
    kind: 'outage',
    how: turn(at, ['errors', 'resets', 'silence'] as const),
    atMs: at.seeded.between(0, 1_500),
    ms: OUTAGE_MS,
  },
];

const jump: Kind = (at) => {
  const { seeded, processes } = at;
  const role = seeded.next() < 0.75 ? 'worker' : 'api';
  const toMs = seeded.pick([-JUMP_MS, JUMP_MS, -CLOCKS_APART_MS, CLOCKS_APART_MS]);
  return [{ kind: 'jump', process: role, number: seeded.between(1, processes[role]), atMs: startMs(at), toMs }];
};

const poison =
  (row: 'inbox' | 'outbox'): Kind =>
  ({ seeded }) => [{ kind: 'poison', row, nth: seeded.between(1, 6) }];

const KINDS: readonly Kind[] = [
  freezeProcess('worker'),
  setBack,
  hang('postgres'),
  outage,
  (at) => [stopAt(at, turn(at, STOPS), frozenMs(at))],
  poison('inbox'),
  freezeServer('postgres'),
  delay('service'),
  freezeProcess('api'),
  hang('temporal'),
  jump,
  delay('postgres'),
  freezeServer('temporal'),
  poison('outbox'),
  hang('service'),
  delay('temporal'),
  freezeWorkers,
];

/** Number of disturbances in a seed. They are far apart in the list. */
const EACH = 2;
const DISTANCE = 5;

interface PlannedDisturbances {
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
  const inRealTime = seed % REAL_TIME_EVERY === REAL_TIME_EVERY - 1;
  const planned = Array.from({ length: EACH }, (_, index) => KINDS[(seed + index * DISTANCE) % KINDS.length]).flatMap(
    (kind) => kind?.({ seed, seeded, processes, inRealTime }) ?? [],
  );
  return {
    disturbances: planned.filter((each) => 'kind' in each),
    stopsAt: planned.filter((each): each is PlannedStop => !('kind' in each)),
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

/** Longer than all windows of {@link OUTAGE_POLICY}. The caller's deadline is longer. */
const OUTAGE_MS = 24_000;
/** Shortened windows for a seed with an outage of the service, so that all of them end during the outage. */
export const OUTAGE_POLICY = { 'purchase.resend_window': '3s', 'purchase.silent_deadline': '10s' } as const;
