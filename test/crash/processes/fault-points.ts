/**
 * Named points inside a process of the crash proof: each time one is passed a line is written, and at the hit that the
 * plan names the process ends as a crash ends it. The lines outlive the process, so that hits are counted across its lives.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import * as z from 'zod';
import type { PlannedKill } from '#test/crash/plan.ts';

/** What a process is told about its points, in `CRASH_POINTS`. */
export const pointSettings = z.object({
  /** File for the lines. */
  trace: z.string(),
  kills: z.array(z.object({ point: z.string(), hit: z.int().min(1) })),
});
export type PointSettings = z.output<typeof pointSettings>;

/** Before the name of the point at which the process ended itself. */
export const KILLED = 'KILL ';

export class FaultPoints {
  readonly #trace: string;
  readonly #kills: readonly Pick<PlannedKill, 'point' | 'hit'>[];
  readonly #hits = new Map<string, number>();
  readonly #scope = new AsyncLocalStorage<{ readonly name: string; commits: number | undefined }>();

  constructor({ trace, kills }: PointSettings) {
    this.#trace = trace;
    this.#kills = kills;
    if (!existsSync(trace)) return;
    for (const point of readFileSync(trace, 'utf8').split('\n')) {
      if (point !== '' && !point.startsWith(KILLED)) this.#hits.set(point, (this.#hits.get(point) ?? 0) + 1);
    }
  }

  /** Of this process, by its environment. */
  static ofProcess(): FaultPoints {
    return new FaultPoints(pointSettings.parse(JSON.parse(process.env['CRASH_POINTS'] ?? '')));
  }

  /** Passes a point. Does not return where the plan ends the process. */
  reach(point: string): void {
    const hit = (this.#hits.get(point) ?? 0) + 1;
    this.#hits.set(point, hit);
    appendFileSync(this.#trace, `${point}\n`);
    if (!this.#kills.some((kill) => kill.point === point && kill.hit === hit)) return;
    appendFileSync(this.#trace, `${KILLED}${point}\n`);
    process.kill(process.pid, 'SIGKILL');
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
}
