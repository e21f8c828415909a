/** Carries out the disturbances of a plan, and tells which came about. */
import { setTimeout as delay } from 'node:timers/promises';
import type { LoadBalancer } from '#test/crash/balancer.ts';
import { nameOf, type Disturbance, type Link, type Server } from '#test/crash/disturbances.ts';
import type { Fleet } from '#test/crash/fleet.ts';
import { readPoison } from '#test/crash/poison.ts';
import type { NetworkProxy } from '#test/crash/proxy.ts';
import type { OwnPostgres, OwnTemporal } from '#test/support/own-servers.ts';

/** What a disturbance can take hold of. */
export interface Reach {
  readonly fleet: Fleet;
  readonly balancer: LoadBalancer;
  readonly proxies: Readonly<Record<Link, NetworkProxy>>;
  readonly own: { readonly postgres: OwnPostgres | undefined; readonly temporal: OwnTemporal | undefined };
  /** Directly, not through the proxy. */
  readonly databaseUrl: string;
}

/** PostgreSQL was set back. Times by the machine's clock. */
export interface SetBack {
  /** What was acknowledged after this, and before `at`, may be gone. */
  readonly fromMs: number;
  readonly atMs: number;
  readonly transactions: number;
  readonly bytes: number;
}

/** What came about. */
export interface Came {
  readonly fired: readonly string[];
  readonly setBacks: readonly SetBack[];
}

/** How long a commit may stay unwritten in a seed that is set back, where the plan does not say from which point on. */
export const ABOUT_A_SECOND_MS = 1_000;
/** The longest that PostgreSQL allows, where it does. */
export const FROM_A_POINT_ON_MS = 10_000;
/** PostgreSQL promises three times its delay. */
const ROUNDS_OF_WRITING = 3;
/** A point that is not passed within this is not passed at all; PostgreSQL is set back all the same. */
const POINT_WITHIN_MS = 12_000;
/** What left just before the point has arrived by then. */
const ON_ITS_WAY_MS = 300;

const OUTAGE_ANSWERS = {
  errors: 'HTTP/1.1 503 Service Unavailable\r\ncontent-type: application/json\r\ncontent-length: 2\r\nconnection: close\r\n\r\n{}',
  resets: undefined,
} as const;

export class Disturber {
  readonly #disturbances: readonly Disturbance[];
  readonly #stopsAt: ReadonlyMap<string, number>;
  readonly #fired: string[] = [];
  readonly #setBacks: SetBack[] = [];
  readonly #running: Promise<void>[] = [];
  readonly #atPoint = Promise.withResolvers<void>();
  readonly #hasBeenSetBack = Promise.withResolvers<void>();
  #reach: Reach | undefined;

  /** @param plan what of it concerns disturbances; points at which a set back holds a process are in `stopsAt` as well. */
  constructor({ disturbances, stopsAt }: { disturbances: readonly Disturbance[]; stopsAt: readonly { point: string; ms: number }[] }) {
    this.#disturbances = disturbances;
    this.#stopsAt = new Map(stopsAt.map(({ point, ms }) => [point, ms]));
  }

  /** Begins all that goes by time. Call when the first caller asks. */
  begin(reach: Reach): void {
    this.#reach = reach;
    for (const each of this.#disturbances) if (each.kind !== 'away') this.#run(each);
  }

  /** Begins what goes by work: `index` pieces were asked for. */
  reached(index: number): void {
    for (const each of this.#disturbances) if (each.kind === 'away' && each.afterWork === index) this.#run(each);
  }

  /** A process stands still at a point. Resolves when it may go on. */
  async onStopped(point: string): Promise<void> {
    const setBack = this.#disturbances.find((each) => each.kind === 'set_back');
    if (setBack?.keep?.point === point) return this.#reach?.own.postgres?.makeDurable();
    if (setBack?.at.point === point) {
      this.#atPoint.resolve();
      return this.#hasBeenSetBack.promise;
    }
    await delay(this.#stopsAt.get(point) ?? 0);
  }

  /** Resolves when all is over and everything runs again. */
  async over(): Promise<void> {
    await Promise.all(this.#running);
  }

  async came(): Promise<Came> {
    const poisoned = this.#reach === undefined ? [] : await readPoison(this.#reach.databaseUrl);
    return { fired: [...this.#fired, ...poisoned.map(({ row }) => `poison ${row}`)], setBacks: this.#setBacks };
  }

  #run(disturbance: Disturbance): void {
    if (this.#reach === undefined) throw new Error('nothing can be disturbed before it runs');
    const happened = this.#carryOut(disturbance, this.#reach);
    this.#running.push(happened.then((did) => void (did && this.#fired.push(nameOf(disturbance)))));
  }

  /** @returns whether it came about. */
  async #carryOut(disturbance: Disturbance, reach: Reach): Promise<boolean> {
    switch (disturbance.kind) {
      case 'away':
        return away(reach.own[disturbance.server], disturbance);
      case 'freeze':
        return freeze(disturbance, reach);
      case 'hang':
      case 'delay':
        return slowLink(disturbance, reach.proxies[disturbance.link]);
      case 'outage':
        return outage(disturbance, reach);
      case 'jump':
        await delay(disturbance.atMs);
        reach.fleet.setClock(`${disturbance.process}-${disturbance.number}`, disturbance.toMs);
        return true;
      case 'set_back':
        return this.#setBack(disturbance, reach);
      // It is done by the database; see `poison.ts`.
      case 'poison':
        return false;
    }
  }

  async #setBack({ keep }: Extract<Disturbance, { kind: 'set_back' }>, { own: { postgres } }: Reach): Promise<boolean> {
    if (postgres === undefined) throw new Error('only a server of its own can be set back');
    await Promise.race([this.#atPoint.promise, delay(POINT_WITHIN_MS)]);
    await delay(ON_ITS_WAY_MS);
    const atMs = Date.now();
    try {
      const lost = await postgres.setBack();
      const fromMs = atMs - (keep === undefined ? ROUNDS_OF_WRITING * ABOUT_A_SECOND_MS : ROUNDS_OF_WRITING * FROM_A_POINT_ON_MS);
      this.#setBacks.push({ fromMs, atMs, ...lost });
      return lost.transactions > 0;
    } finally {
      this.#hasBeenSetBack.resolve();
    }
  }
}

async function away(server: OwnPostgres | OwnTemporal | undefined, { how, ms }: Extract<Disturbance, { kind: 'away' }>): Promise<boolean> {
  await server?.[how]();
  await delay(ms);
  await server?.start();
  return server !== undefined;
}

async function freeze({ target, number, atMs, ms }: Extract<Disturbance, { kind: 'freeze' }>, { fleet, own }: Reach): Promise<boolean> {
  await delay(atMs);
  if (isServer(target)) {
    own[target]?.freeze();
    await delay(ms);
    own[target]?.thaw();
    return own[target] !== undefined;
  }
  const wasRunning = fleet.signal(`${target}-${number}`, 'SIGSTOP');
  await delay(ms);
  fleet.signal(`${target}-${number}`, 'SIGCONT');
  return wasRunning;
}

function isServer(target: string): target is Server {
  return target === 'postgres' || target === 'temporal';
}

async function slowLink(disturbance: Extract<Disturbance, { kind: 'hang' | 'delay' }>, proxy: NetworkProxy): Promise<boolean> {
  await delay(disturbance.atMs);
  const before = proxy.touched;
  if (disturbance.kind === 'hang') proxy.hold();
  else proxy.delay(disturbance.byMs);
  await delay(disturbance.ms);
  proxy.release();
  proxy.delay(0);
  return proxy.touched > before;
}

async function outage({ how, atMs, ms }: Extract<Disturbance, { kind: 'outage' }>, { proxies: { service }, balancer }: Reach): Promise<boolean> {
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

/** Points at which a set back holds processes, for those that pass them. */
export function stopsOfSetBacks(disturbances: readonly Disturbance[]) {
  return disturbances.flatMap((each) => (each.kind === 'set_back' ? [...(each.keep === undefined ? [] : [each.keep]), each.at] : []));
}
