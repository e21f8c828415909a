/**
 * Named points inside a process of the crash proof. Each passage of a point writes a line. At the hit that the plan
 * names, the process kills itself, or stops until SIGCONT. All processes of a role share the file of lines, so hits
 * are counted over all of them and over restarts.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import { appendFileSync, closeSync, openSync, readFileSync } from 'node:fs';

interface PlannedHit {
  readonly point: string;
  readonly hit: number;
}

/** The settings of a process in `CRASH_POINTS`. */
export interface PointSettings {
  readonly trace: string;
  readonly kills: readonly PlannedHit[];
  readonly stops: readonly PlannedHit[];
}

/** Prefix of a line with the name of a point at which a process killed itself. */
export const KILLED = 'KILL ';
/** Prefix of a line with the process id and the point of a stop: `STOP 4711 relay > start > before`. */
export const STOPPED = 'STOP ';

/** True for the line of a passage, false for the line of a kill or stop. */
export function isPassage(line: string): boolean {
  return line !== '' && !line.startsWith(KILLED) && !line.startsWith(STOPPED);
}

export class FaultPoints {
  readonly #settings = JSON.parse(process.env['CRASH_POINTS'] ?? '') as PointSettings;
  readonly #scope = new AsyncLocalStorage<{ name: string; commits: number | undefined; next?: string | undefined }>();

  /** Passes a point. Does not return if the plan kills the process; returns after SIGCONT if the plan stops it. */
  reach(point: string): void {
    const { kills, stops } = this.#settings;
    this.#write(point);
    if (this.#isTurn('kill', kills, point)) {
      this.#write(`${KILLED}${point}`);
      process.kill(process.pid, 'SIGKILL');
    }
    if (this.#isTurn('stop', stops, point)) {
      this.#write(`${STOPPED}${process.pid} ${point}`);
      process.kill(process.pid, 'SIGSTOP');
    }
  }

  #write(line: string): void {
    appendFileSync(this.#settings.trace, `${line}\n`);
  }

  isPlanned(point: string): boolean {
    const { kills, stops } = this.#settings;
    return [...kills, ...stops].some((each) => each.point === point);
  }

  /**
   * Runs a function under a name. Its points begin with that name.
   *
   * @param how.inOrder true if its commits are sequential, so that a number identifies each.
   * @param how.next its name after the commit that claims a send.
   */
  within<Result>(
    name: string,
    work: () => Result,
    { inOrder = true, next }: { readonly inOrder?: boolean; readonly next?: string | undefined } = {},
  ): Result {
    return this.#scope.run({ name, commits: inOrder ? 0 : undefined, next }, work);
  }

  /** Like {@link within}, for the rest of the current event. */
  enter(name: string): void {
    this.#scope.enterWith({ name, commits: 0 });
  }

  /** The present name; undefined outside of {@link within}. */
  get scope(): string | undefined {
    return this.#scope.getStore()?.name;
  }

  /**
   * `commit 1`, `commit 2`, … of the present name; undefined outside of a name, and without `inOrder`.
   *
   * @param wrote the writing statements of the transaction, such as `update attempts`.
   */
  nextCommit(wrote: readonly string[]): string | undefined {
    const scope = this.#scope.getStore();
    if (scope?.commits === undefined) return undefined;
    scope.commits += 1;
    const name = `commit ${scope.commits}`;
    // As in the activity of a later send, the claim is its first commit.
    if (scope.next !== undefined && wrote.includes('update attempts'))
      Object.assign(scope, { name: scope.next, next: undefined, commits: 1 });
    return name;
  }

  /** True if a planned hit is reached and this process is the first to claim it. */
  #isTurn(what: 'kill' | 'stop', planned: readonly PlannedHit[], point: string): boolean {
    return planned.some(
      (each, index) => each.point === point && this.#hits(point) >= each.hit && this.#claims(`${what}-${index}`),
    );
  }

  #hits(point: string): number {
    const lines = readFileSync(this.#settings.trace, 'utf8').split('\n');
    return lines.filter((line) => line === point).length;
  }

  /** True for the first caller among all processes that share the file. */
  #claims(name: string): boolean {
    try {
      closeSync(openSync(`${this.#settings.trace}.${name}`, 'wx'));
      return true;
    } catch {
      return false;
    }
  }
}
