/**
 * Named points inside a process of the crash proof: each time one is passed a line is written, and at the hit that the
 * plan names the process ends as a crash ends it, or stands still until it is woken. The lines outlive the process
 * and are shared by all processes of a role, so that hits are counted across their lives, whichever of them passes.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import { appendFileSync, closeSync, openSync, readFileSync } from 'node:fs';
import * as z from 'zod';

const plannedHit = z.object({ point: z.string(), hit: z.int().min(1) });

/** What a process is told about its points, in `CRASH_POINTS`. */
export const pointSettings = z.object({
  /** File for the lines. */
  trace: z.string(),
  kills: z.array(plannedHit),
  stops: z.array(plannedHit),
});
export type PointSettings = z.output<typeof pointSettings>;

/** Before the name of the point at which a process ended itself. */
export const KILLED = 'KILL ';
/**
 * Before the process id and the name of the point at which a process stood still: `STOP 4711 relay > start > before`.
 */
export const STOPPED = 'STOP ';

/** Is it the line of a point that was passed, and not of what was done there? */
export function isPassage(line: string): boolean {
  return line !== '' && !line.startsWith(KILLED) && !line.startsWith(STOPPED);
}

export class FaultPoints {
  readonly #trace: string;
  readonly #kills: PointSettings['kills'];
  readonly #stops: PointSettings['stops'];
  readonly #scope = new AsyncLocalStorage<{ readonly name: string; commits: number | undefined }>();

  constructor({ trace, kills, stops }: PointSettings) {
    this.#trace = trace;
    this.#kills = kills;
    this.#stops = stops;
  }

  /** Of this process, by its environment. */
  static ofProcess(): FaultPoints {
    return new FaultPoints(pointSettings.parse(JSON.parse(process.env['CRASH_POINTS'] ?? '')));
  }

  /** Passes a point. Does not return where the plan ends the process, and only when woken where the plan stops it. */
  reach(point: string): void {
    appendFileSync(this.#trace, `${point}\n`);
    if (this.#isTurn('kill', this.#kills, point)) {
      appendFileSync(this.#trace, `${KILLED}${point}\n`);
      process.kill(process.pid, 'SIGKILL');
    }
    if (this.#isTurn('stop', this.#stops, point)) {
      appendFileSync(this.#trace, `${STOPPED}${process.pid} ${point}\n`);
      process.kill(process.pid, 'SIGSTOP');
    }
  }

  /** Does the plan name this point? What has two names passes the second one only then. */
  isPlanned(point: string): boolean {
    return [...this.#kills, ...this.#stops].some((each) => each.point === point);
  }

  /**
   * Runs something under a name that its points begin with.
   *
   * @param how.inOrder whether its commits come one after another, so that a number tells which one it is.
   */
  within<Result>(name: string, work: () => Result, { inOrder = true } = {}): Result {
    return this.#scope.run({ name, commits: inOrder ? 0 : undefined }, work);
  }

  /** As {@link within}, for the rest of the present event. */
  enter(name: string): void {
    this.#scope.enterWith({ name, commits: 0 });
  }

  /** The name that something happens under; undefined outside of all. */
  get scope(): string | undefined {
    return this.#scope.getStore()?.name;
  }

  /** `commit 1`, `commit 2`, … of what it happens under; undefined outside of all, and where they come in no order. */
  nextCommit(): string | undefined {
    const scope = this.#scope.getStore();
    if (scope?.commits === undefined) return undefined;
    scope.commits += 1;
    return `commit ${scope.commits}`;
  }

  /** Has one of these come, and is this the process to which it comes? */
  #isTurn(
    what: 'kill' | 'stop',
    planned: readonly { readonly point: string; readonly hit: number }[],
    point: string,
  ): boolean {
    return planned.some(
      (each, index) => each.point === point && this.#hits(point) >= each.hit && this.#claims(`${what}-${index}`),
    );
  }

  #hits(point: string): number {
    return readFileSync(this.#trace, 'utf8')
      .split('\n')
      .filter((line) => line === point).length;
  }

  /** True for the first that asks, of all processes that share the lines. */
  #claims(name: string): boolean {
    try {
      closeSync(openSync(`${this.#trace}.${name}`, 'wx'));
      return true;
    } catch {
      return false;
    }
  }
}
