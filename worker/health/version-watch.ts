import { setTimeout as delay } from 'node:timers/promises';
import type { DeploymentVersion } from '#config/config.ts';
import type { TemporalHealthPolicy } from '#domain/policy/relay-policy.ts';
import type { Logger } from '#telemetry/logger.ts';
import type { Degradation } from '#telemetry/probes.ts';
import { idleProblem, nameOf, type Routing, workShare, type WorkShare } from '#temporal/worker-versions.ts';
import { within } from '#worker/health/temporal-health.ts';

export interface VersionWatchOptions {
  /** The version of this process; undefined: it has none. */
  readonly own: DeploymentVersion | undefined;
  /** Asks Temporal where new runs go. */
  readonly read: () => Promise<Routing>;
  readonly policy: Pick<TemporalHealthPolicy, 'everyMs' | 'deadlineMs'>;
  readonly logger: Logger;
}

/**
 * Watches whether this process gets work: with worker versioning, Temporal decides which version of the workers does. A
 * process that gets none is ready, because an operator makes a version current only when its workers run.
 */
export class VersionWatch {
  readonly #options: VersionWatchOptions;
  readonly #stopping = new AbortController();
  #share: WorkShare | undefined;
  #degraded: readonly Degradation[] = [];
  #running: Promise<void> | undefined;

  constructor(options: VersionWatchOptions) {
    this.#options = options;
  }

  start(): void {
    this.#running ??= this.#run();
  }

  /** Resolves at once, also during a call. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#running;
  }

  /** Which work this process gets; undefined until Temporal has told it for the first time. */
  get share(): WorkShare | undefined {
    return this.#share;
  }

  /** The condition that `/readyz` shows while this process gets no work. */
  get degraded(): readonly Degradation[] {
    return this.#degraded;
  }

  /** Reads once, and logs what has changed. An error changes nothing: the check of Temporal itself reports it. */
  async look(): Promise<void> {
    const { own, read, policy, logger } = this.#options;
    const routing = await within(policy.deadlineMs, this.#stopping.signal, read).catch(() => undefined);
    if (routing === undefined) return;
    const problem = idleProblem(routing, own);
    this.#degraded =
      problem === undefined
        ? []
        : [{ condition: 'no_work_for_workers', detail: `${problem.detail}. ${problem.advice}` }];
    const share = workShare(routing, own);
    if (share === this.#share) return;
    this.#share = share;
    if (problem !== undefined) logger.warn({ advice: problem.advice }, problem.detail);
    else if (own !== undefined) logger.info({ version: nameOf(own), gets: share }, TEXTS[share]);
  }

  async #run(): Promise<void> {
    const { signal } = this.#stopping;
    while (!signal.aborted) {
      await this.look();
      await delay(this.#options.policy.everyMs, undefined, { signal }).catch(() => undefined);
    }
  }
}

const TEXTS: Readonly<Record<WorkShare, string>> = {
  all: 'the workers have no version',
  current: 'the version of these workers is current: new runs begin here',
  ramping: 'the version of these workers is ramping: a share of new runs begins here',
  own_runs: 'another version is current: these workers get only the runs that they began',
  other_deployment: 'a version of another deployment is current',
  no_current: 'no version is current',
  none: 'these workers get no work',
};
