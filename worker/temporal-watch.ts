import type { DeploymentVersion } from '#config/config.ts';
import type { Policy } from '#domain/policy/policy.ts';
import type { Logger } from '#telemetry/logger.ts';
import type { Metrics } from '#telemetry/metrics.ts';
import type { Degradation } from '#telemetry/probes.ts';
import { within } from '#telemetry/waiting.ts';
import { idleProblem, nameOf, type Routing, workShare, type WorkShare } from '#temporal/worker-versions.ts';
import { RepeatedWork } from '#worker/repeated-work.ts';

interface TemporalWatchOptions {
  /** Asks Temporal; it may hang. Undefined: it answers, and the worker has no connection of its own yet. */
  readonly ask: () => Promise<Routing | undefined>;
  readonly own: DeploymentVersion | undefined;
  readonly policy: Policy['temporalHealth'];
  readonly metrics: Pick<Metrics, 'temporalUnreachable'>;
  readonly logger: Logger;
  readonly now: () => number;
}

/**
 * Asks in the background: a hanging Temporal accepts calls but answers none, so only a time limit detects it. The
 * answer says whether this version gets work. A process without work is ready all the same: an operator makes a version
 * current only when its workers run.
 */
export class TemporalWatch extends RepeatedWork {
  /** Undefined before the first answer. */
  share: WorkShare | undefined;
  degraded: readonly Degradation[] = [];
  readonly #options: TemporalWatchOptions;
  #answeredAt: number;
  #failure: string | undefined;

  constructor(options: TemporalWatchOptions) {
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

  async look(): Promise<void> {
    const { ask, policy, metrics, now, logger } = this.#options;
    try {
      const routing = await within(policy.deadlineMs, ask, this.signal);
      this.#answeredAt = now();
      if (this.#failure !== undefined) logger.info({}, 'Temporal answers again');
      this.#failure = undefined;
      if (routing !== undefined) this.#note(routing);
    } catch (error) {
      if (this.signal.aborted) return;
      if (this.#failure === undefined) logger.warn({ err: error }, 'Temporal does not answer; the worker tries again');
      this.#failure = error instanceof Error ? error.message : 'unknown error';
    }
    metrics.temporalUnreachable.set(this.#silentMs() / 1_000);
  }

  protected override async turn(): Promise<boolean> {
    await this.look();
    return true;
  }

  #note(routing: Routing): void {
    const { own, logger } = this.#options;
    const problem = idleProblem(routing, own);
    this.degraded =
      problem === undefined
        ? []
        : [{ condition: 'no_work_for_workers', detail: `${problem.detail}. ${problem.advice}` }];
    const share = workShare(routing, own);
    if (share === this.share) return;
    this.share = share;
    if (problem !== undefined) logger.warn({ advice: problem.advice }, problem.detail);
    else if (own !== undefined) logger.info({ version: nameOf(own), gets: share }, TEXTS[share]);
  }

  #silentMs(): number {
    return this.#failure === undefined ? 0 : Math.max(0, this.#options.now() - this.#answeredAt);
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
