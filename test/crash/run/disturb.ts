/** Performs the disturbances of a plan, and reports those that occurred. */
import { setTimeout as delay } from 'node:timers/promises';
import { nameOf, type Disturbance, type Link, type PlannedStop } from '#test/crash/plans/disturbances.ts';
import type { CrashPlan } from '#test/crash/plans/plan.ts';
import type { LoadBalancer } from '#test/crash/run/balancer.ts';
import type { Fleet } from '#test/crash/run/fleet.ts';
import { readPoison } from '#test/crash/run/poison.ts';
import type { NetworkProxy } from '#test/crash/run/proxy.ts';
import type { OwnPostgres } from '#test/support/servers/own-servers.ts';

type Of<Kind extends Disturbance['kind']> = Extract<Disturbance, { readonly kind: Kind }>;

/** A server of a seed: PostgreSQL, or Temporal of either kind. */
type OwnServer = Pick<OwnPostgres, 'start' | 'stop' | 'kill' | 'freeze' | 'thaw'>;

interface Reach {
  readonly fleet: Fleet;
  readonly balancer: LoadBalancer;
  readonly proxies: Readonly<Record<Link, NetworkProxy>>;
  readonly own: { readonly postgres: OwnPostgres | undefined; readonly temporal: OwnServer | undefined };
  /** Direct address of the database, not through the proxy. */
  readonly databaseUrl: string;
  readonly hasWorkflowEnded: () => Promise<boolean>;
}

export interface SetBack {
  /** Commits that were acknowledged between `fromMs` and `atMs` may be lost. */
  readonly fromMs: number;
  readonly atMs: number;
  readonly transactions: number;
  readonly bytes: number;
}

/** Maximum delay of writing a commit, in a seed with a set-back whose plan has no point `keep`. */
export const ABOUT_A_SECOND_MS = 1_000;
/** PostgreSQL guarantees the write after three times this delay, in which it must not be frozen. */
const ROUNDS_OF_WRITING = 3;
/** Time limit for a process to pass the point. After it, PostgreSQL is set back without the point. */
const POINT_WITHIN_MS = 12_000;
const LOOK_EVERY_MS = 20;
/** Time for requests sent just before the point to arrive. */
const ON_ITS_WAY_MS = 300;

const HEADERS = 'content-type: application/json\r\ncontent-length: 2\r\nconnection: close';
const OUTAGE_ANSWERS = { errors: `HTTP/1.1 503 Service Unavailable\r\n${HEADERS}\r\n\r\n{}`, resets: undefined };

/** A time in which a process was stopped, in epoch milliseconds. */
interface Frozen {
  readonly fromMs: number;
  readonly toMs: number;
}

export class Disturber {
  readonly #disturbances: readonly Disturbance[];
  /** Planned stops that have not occurred yet, ordered by hit. */
  readonly #stopsAt: PlannedStop[];
  readonly #fired: string[] = [];
  readonly #setBacks: SetBack[] = [];
  readonly #running: Promise<void>[] = [];
  readonly #atPoint = Promise.withResolvers<void>();
  readonly #hasBeenSetBack = Promise.withResolvers<void>();
  #keptAtMs: number | undefined;
  /** Ends when PostgreSQL keeps no commits any more; set once, at the point `keep` or by the set-back before it. */
  #keeping: Promise<void> | undefined;
  /** When PostgreSQL was frozen. */
  readonly #frozen: Frozen[] = [];
  #reach: Reach | undefined;

  /** @param plan.stopsAt the planned stops, without those of set-backs. */
  constructor({ disturbances, stopsAt }: Pick<CrashPlan, 'disturbances' | 'stopsAt'>) {
    this.#disturbances = disturbances;
    this.#stopsAt = stopsAt.toSorted((left, right) => left.hit - right.hit);
  }

  /** Starts all disturbances with a time. Call at the first request of a caller. */
  begin(reach: Reach): void {
    this.#reach = reach;
    for (const each of this.#disturbances) if (each.kind !== 'away') this.#run(each);
  }

  /** Starts the disturbances that are due after `index` pieces of work were requested. */
  reached(index: number): void {
    for (const each of this.#disturbances) if (each.kind === 'away' && each.afterWork === index) this.#run(each);
  }

  /** Called when a process has stopped at a point. Resolves when the process may continue. */
  async onStopped(point: string): Promise<void> {
    const setBack = this.#disturbances.find((each) => each.kind === 'set_back');
    // On a busy machine a process reaches this point after the set-back has begun.
    if (setBack?.keep?.point === point) return (this.#keeping ??= this.#keepNothingMore());
    if (setBack !== undefined && setBack.at !== 'workflow_ended' && setBack.at.point === point) {
      this.#atPoint.resolve();
      return this.#hasBeenSetBack.promise;
    }
    const index = this.#stopsAt.findIndex((each) => each.point === point);
    const [stop] = index < 0 ? [] : this.#stopsAt.splice(index, 1);
    if (stop !== undefined) await this.#wait(stop);
  }

  async #keepNothingMore(): Promise<void> {
    // PostgreSQL keeps what was committed before. A later commit may be lost, also one of this very moment.
    this.#keptAtMs = Date.now();
    await this.#reach?.own.postgres?.keepNothingMore();
  }

  async #wait({ ms, until }: PlannedStop): Promise<void> {
    const deadline = performance.now() + ms;
    while (performance.now() < deadline) {
      if (until !== undefined && (this.#reach?.fleet.passed.get(until.point) ?? 0) >= until.hit) return;
      await delay(LOOK_EVERY_MS);
    }
  }

  /** Resolves when all disturbances are over and all processes run again. */
  async over(): Promise<void> {
    await Promise.all(this.#running);
  }

  async result(): Promise<{ fired: readonly string[]; setBacks: readonly SetBack[] }> {
    const poisoned = this.#reach === undefined ? [] : await readPoison(this.#reach.databaseUrl);
    return { fired: [...this.#fired, ...poisoned.map(({ row }) => `poison ${row}`)], setBacks: this.#setBacks };
  }

  #run(disturbance: Disturbance): void {
    if (this.#reach === undefined) throw new Error('nothing can be disturbed before it runs');
    const happened = this.#carryOut(disturbance, this.#reach).then(
      (did) => void (did && this.#fired.push(nameOf(disturbance))),
    );
    this.#running.push(happened);
    // `over` reports a failure. Without this line, an earlier failure would end the whole run.
    happened.catch(() => undefined);
  }

  /** @returns true if the disturbance had an effect. */
  async #carryOut(disturbance: Disturbance, reach: Reach): Promise<boolean> {
    switch (disturbance.kind) {
      case 'away':
        return away(reach.own[disturbance.server], disturbance);
      case 'freeze':
        return freeze(disturbance, reach, this.#frozen);
      case 'hang':
      case 'delay':
        return slowLink(disturbance, reach.proxies[disturbance.link]);
      case 'outage':
        return outage(disturbance, reach);
      case 'jump':
        await delay(disturbance.atMs);
        reach.fleet.member(`${disturbance.process}-${disturbance.number}`).setClock(disturbance.toMs);
        return true;
      case 'set_back':
        return this.#setBack(disturbance, reach);
      // Triggers in the database do this; see `poison.ts`.
      case 'poison':
        return false;
    }
  }

  async #setBack({ at }: Of<'set_back'>, reach: Reach): Promise<boolean> {
    const { postgres } = reach.own;
    if (postgres === undefined) throw new Error('only a server of its own can be set back');
    await (at === 'workflow_ended'
      ? workflowEnds(reach)
      : Promise.race([this.#atPoint.promise, delay(POINT_WITHIN_MS)]));
    await delay(ON_ITS_WAY_MS);
    await (this.#keeping ??= Promise.resolve());
    try {
      // A frozen server answers late, so the kill can come seconds after this call.
      const { killedAtMs: atMs, ...lost } = await postgres.setBack();
      const writtenBefore = runningSince(atMs, ROUNDS_OF_WRITING * ABOUT_A_SECOND_MS, this.#frozen);
      this.#setBacks.push({ fromMs: this.#keptAtMs ?? writtenBefore, atMs, ...lost });
      return lost.transactions > 0;
    } finally {
      this.#hasBeenSetBack.resolve();
    }
  }
}

async function workflowEnds({ hasWorkflowEnded }: Reach): Promise<void> {
  const deadline = performance.now() + POINT_WITHIN_MS;
  while (performance.now() < deadline && !(await hasWorkflowEnded())) await delay(LOOK_EVERY_MS);
}

async function away(server: OwnServer | undefined, { how, ms }: Of<'away'>): Promise<boolean> {
  await server?.[how]();
  await delay(ms);
  await server?.start();
  return server !== undefined;
}

async function freeze(
  { target, number, atMs, ms }: Of<'freeze'>,
  { fleet, own }: Reach,
  frozen: Frozen[],
): Promise<boolean> {
  await delay(atMs);
  if (target === 'postgres' || target === 'temporal') {
    own[target]?.freeze();
    if (target === 'postgres') frozen.push({ fromMs: Date.now(), toMs: Date.now() + ms });
    await delay(ms);
    own[target]?.thaw();
    return own[target] !== undefined;
  }
  const frozenProcess = fleet.member(`${target}-${number}`);
  const wasRunning = frozenProcess.signal('SIGSTOP');
  await delay(ms);
  frozenProcess.signal('SIGCONT');
  return wasRunning;
}

async function slowLink(disturbance: Of<'hang' | 'delay'>, proxy: NetworkProxy): Promise<boolean> {
  await delay(disturbance.atMs);
  const before = proxy.touched;
  if (disturbance.kind === 'hang') proxy.hold();
  else proxy.delay(disturbance.byMs);
  await delay(disturbance.ms);
  proxy.release();
  proxy.delay(0);
  return proxy.touched > before;
}

async function outage({ how, atMs, ms }: Of<'outage'>, { proxies, balancer }: Reach): Promise<boolean> {
  const { service } = proxies;
  await delay(atMs);
  const before = service.touched;
  balancer.shut('/webhooks/service');
  if (how === 'silence') service.hold();
  else service.refuse({ answer: OUTAGE_ANSWERS[how] });
  await delay(ms);
  service.admit();
  service.release();
  balancer.shut(undefined);
  return service.touched > before;
}

/** The points at which set-backs stop processes. */
export function stopsOfSetBacks(disturbances: readonly Disturbance[]) {
  return disturbances.flatMap((each) =>
    each.kind === 'set_back'
      ? [each.keep, each.at].filter((stop) => stop !== undefined && stop !== 'workflow_ended')
      : [],
  );
}

/** When a process had yet to run for `ms` until `atMs`, in epoch milliseconds. Frozen time does not count. */
function runningSince(atMs: number, ms: number, frozen: readonly Frozen[]): number {
  let start = atMs - ms;
  for (const { fromMs, toMs } of frozen.toSorted((left, right) => right.toMs - left.toMs)) {
    const end = Math.min(toMs, atMs);
    if (end > start && fromMs < end) start -= end - fromMs;
  }
  return start;
}
