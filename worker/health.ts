import type { DeploymentVersion } from '#config/config.ts';
import type { TemporalHealthPolicy } from '#domain/policy/relay-policy.ts';
import type { Logger } from '#telemetry/logger.ts';
import type { Metrics } from '#telemetry/metrics.ts';
import type { Degradation } from '#telemetry/probes.ts';
import { within } from '#telemetry/waiting.ts';
import { idleProblem, nameOf, type Routing, workShare, type WorkShare } from '#temporal/worker-versions.ts';
import { RepeatedWork } from '#worker/repeated-work.ts';

interface TemporalHealthOptions {
  /** It may hang. */
  readonly ping: () => Promise<unknown>;
  readonly policy: TemporalHealthPolicy;
  readonly metrics: Pick<Metrics, 'temporalUnreachable'>;
  readonly logger: Logger;
  readonly now: () => number;
}

/** Pings in the background: a hanging Temporal accepts calls but answers none, so only a time limit detects it. */
export class TemporalHealth extends RepeatedWork {
  readonly #options: TemporalHealthOptions;
  #answeredAt: number;
  #failure: string | undefined;

  constructor(options: TemporalHealthOptions) {
    super(options.policy.everyMs);
    this.#options = options;
    this.#answeredAt = options.now();
  }

  /** @throws Error when Temporal has not answered for `policy.unreachableAfterMs`. */
  check(): void {
    const silentMs = this.#silentMs();
    if (silentMs < this.#options.policy.unreachableAfterMs) return;
    throw new Error(`Temporal has not answered for ${Math.round(silentMs / 1_000)} s (${this.#failure})`);
  }

  async ping(): Promise<void> {
    const { ping, policy, metrics, now, logger } = this.#options;
    const wasSilent = this.#failure !== undefined;
    try {
      await within(policy.deadlineMs, ping, this.signal);
      this.#answeredAt = now();
      this.#failure = undefined;
      if (wasSilent) logger.info({}, 'Temporal answers again');
    } catch (error) {
      if (this.signal.aborted) return;
      this.#failure = error instanceof Error ? error.message : 'unknown error';
      if (!wasSilent) logger.warn({ err: error }, 'Temporal does not answer; the worker tries again');
    }
    metrics.temporalUnreachable.set(this.#silentMs() / 1_000);
  }

  protected override async turn(): Promise<boolean> {
    await this.ping();
    return true;
  }

  #silentMs(): number {
    return this.#failure === undefined ? 0 : Math.max(0, this.#options.now() - this.#answeredAt);
  }
}

interface VersionWatchOptions {
  readonly own: DeploymentVersion | undefined;
  readonly read: () => Promise<Routing>;
  readonly policy: Pick<TemporalHealthPolicy, 'everyMs' | 'deadlineMs'>;
  readonly logger: Logger;
}

/**
 * Watches whether Temporal gives work to this version. A process without work is ready all the same: an operator makes
 * a version current only when its workers run.
 */
export class VersionWatch extends RepeatedWork {
  readonly #options: VersionWatchOptions;
  #share: WorkShare | undefined;
  #degraded: readonly Degradation[] = [];

  constructor(options: VersionWatchOptions) {
    super(options.policy.everyMs);
    this.#options = options;
  }

  get share(): WorkShare | undefined {
    return this.#share;
  }

  get degraded(): readonly Degradation[] {
    return this.#degraded;
  }

  /** An error changes nothing: the check of Temporal itself reports it. */
  async look(): Promise<void> {
    const { own, read, policy, logger } = this.#options;
    const routing = await within(policy.deadlineMs, read, this.signal).catch(() => undefined);
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

  protected override async turn(): Promise<boolean> {
    await this.look();
    return true;
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
