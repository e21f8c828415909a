import { setTimeout as delay } from 'node:timers/promises';
import { DecryptionError, type KeyRing } from '#crypto/key-ring.ts';
import { type Database, sqlState } from '#db/connection/database.ts';
import type { Waiter, Wakeups } from '#db/connection/wakeups.ts';
import type { QueuePoll } from '#db/queues/relay-queues.ts';
import type { StartedWork } from '#db/work/started-work.ts';
import { WorkMissingError } from '#db/work/work-rows.ts';
import type { RelayPolicy } from '#domain/policy/relay-policy.ts';
import type { ServiceObservation } from '#domain/relay/observation.ts';
import { type NotifyOutcome, pollWaitMs, type RelayFailure } from '#domain/relay/relay-decision.ts';
import type { Logger } from '#telemetry/logger.ts';
import type { Metrics } from '#telemetry/metrics.ts';
import { inSpan } from '#telemetry/tracing.ts';
import type { StartOutcome } from '#temporal/start-work.ts';

/** The relay's access to the workflows of work. */
export interface WorkWorkflows {
  /** Starts the workflow. @returns `finished` when it has completed and was not started. */
  start(work: StartedWork): Promise<StartOutcome>;
  /** Signals an operator action, and starts the workflow if none is running. */
  wake(work: StartedWork): Promise<NotifyOutcome>;
  /** Signals a report of the service, and starts the workflow if none is running. */
  signalReport(work: StartedWork, observation: ServiceObservation): Promise<NotifyOutcome>;
}

/** The relay's access to the workflows that deliver to webhook endpoints. */
export interface EndpointWorkflows {
  /** Signals that deliveries wait, and starts the workflow if none is running. */
  wake(endpointId: string, options: { readonly urgent: boolean }): Promise<void>;
}

export interface RelayOptions {
  readonly database: Database;
  readonly keyRing: KeyRing;
  readonly workflows: WorkWorkflows;
  readonly endpoints: EndpointWorkflows;
  readonly wakeups: Pick<Wakeups, 'subscribe' | 'wake' | 'isHearing'>;
  readonly policy: RelayPolicy;
  readonly metrics: Metrics;
  readonly logger: Logger;
  /** Epoch milliseconds, for metrics and displayed times. Leases use the clock of PostgreSQL. */
  readonly now: () => number;
}

/** Shared by the queues of one relay. */
export interface RelayContext extends RelayOptions {
  /** Calls Temporal. @throws CutOffError when the relay has to end, also during the call. */
  readonly call: <Result>(work: () => Promise<Result>) => Promise<Result>;
  /** Called when a row was postponed: only a poll knows when it is due. */
  readonly onPostponed: () => void;
  /** True when calls are cut off: rows that were not started are released. */
  readonly isCutOff: () => boolean;
}

/** The relay has to end and no longer waits for Temporal. Whether the call had an effect is unknown. */
export class CutOffError extends Error {
  constructor() {
    super('the relay has to end and does not wait any longer');
    this.name = 'CutOffError';
  }
}

/** The workflow has ended although the work has not, so no workflow got the message. The row is tried again. */
export class WorkflowEndedError extends Error {
  constructor() {
    super('the workflow has ended although the work has not');
    this.name = 'WorkflowEndedError';
  }
}

/** The stored body of a row cannot be read as an event of a purchase. */
export class UnreadableRowError extends Error {
  constructor(rowId: bigint, what: string) {
    super(`the body of inbox row ${rowId} ${what}`);
    this.name = 'UnreadableRowError';
  }
}

/** Rows processed in parallel. Temporal answers each start in milliseconds, so more would only queue there. */
export const PARALLEL = 16;

/** Runs `work` for all items, `parallel` at a time. `work` does not throw. */
export async function eachOf<Item>(
  items: readonly Item[],
  parallel: number,
  work: (item: Item) => Promise<void>,
): Promise<void> {
  const waiting = items.values();
  const lane = async () => {
    for (const item of waiting) await work(item);
  };
  await Promise.all(Array.from({ length: Math.min(parallel, items.length) }, lane));
}

/** Counts a row and the time since it was stored. */
export function countRow({ metrics, now }: RelayContext, queue: 'inbox' | 'outbox', result: string, since: Date): void {
  metrics.relayRows.inc({ queue, result });
  metrics.relayDelay.observe({ queue }, Math.max(0, now() - since.getTime()) / 1_000);
}

/** Result of one round of a queue. */
export interface Batch {
  readonly taken: number;
  /** True when more rows may be due now. */
  readonly again: boolean;
  /**
   * Time until failed rows without a due time of their own are tried again, in milliseconds; absent: there are none.
   */
  readonly retryAfterMs?: number;
}

export interface QueueLoopOptions {
  /** Name for the log. */
  readonly queue: string;
  /** Takes due rows, up to a limit, and processes them. */
  readonly takeBatch: () => Promise<Batch>;
  readonly waiter: Waiter;
  /** Pause after a round, in milliseconds: wake-ups of this time become one round. */
  readonly roundPauseMs: number;
  /** Wait after a failed round, in milliseconds. */
  readonly retryDelayMs: number;
  readonly logger: Logger;
}

/**
 * Processes one queue whenever it is woken. Each queue has its own loop, so that none waits for another.
 */
export class QueueLoop {
  readonly #options: QueueLoopOptions;
  readonly #stopping = new AbortController();
  #running: Promise<void> | undefined;
  #retryAfterMs: number | undefined;

  constructor(options: QueueLoopOptions) {
    this.#options = options;
  }

  start(): void {
    this.#running ??= this.#run();
  }

  wake(): void {
    this.#options.waiter.wake();
  }

  /** Takes no more rows, and waits for those in progress. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    this.wake();
    await this.#running;
  }

  /** Processes rows until none is due. @returns the number of rows taken. */
  async drain(): Promise<number> {
    let total = 0;
    for (;;) {
      const { taken, again, retryAfterMs } = await this.#options.takeBatch();
      this.#retryAfterMs = retryAfterMs;
      total += taken;
      if (!again || this.#stopping.signal.aborted) return total;
    }
  }

  async #run(): Promise<void> {
    const { queue, waiter, roundPauseMs, retryDelayMs, logger } = this.#options;
    const { signal } = this.#stopping;
    while (!signal.aborted) {
      try {
        await this.drain();
      } catch (error) {
        logger.error({ err: error, queue }, 'the relay could not take rows; it tries again');
        await this.#pause(retryDelayMs);
        continue;
      }
      await this.#pause(roundPauseMs);
      await waiter.next(this.#retryAfterMs);
    }
  }

  async #pause(ms: number): Promise<void> {
    await delay(ms, undefined, { signal: this.#stopping.signal }).catch(() => undefined);
  }
}

export interface SlowPollOptions {
  readonly read: () => Promise<QueuePoll>;
  readonly wakeups: Pick<Wakeups, 'subscribe' | 'wake' | 'isHearing'>;
  readonly policy: Pick<RelayPolicy, 'pollMs' | 'pollMaxMs' | 'retryDelayMs'>;
  readonly logger: Logger;
}

/**
 * Wakes the readers of queues with rows that are due, and no others: for rows whose notification was lost, rows that
 * were postponed, and rows of a relay that has died.
 */
export class SlowPoll {
  readonly #options: SlowPollOptions;
  readonly #waiter: Waiter;
  readonly #stopping = new AbortController();
  #running: Promise<void> | undefined;

  constructor(options: SlowPollOptions) {
    this.#options = options;
    this.#waiter = options.wakeups.subscribe();
  }

  start(): void {
    this.#running ??= this.#run();
  }

  /** Polls now, because a row was postponed: only a poll knows when it is due. */
  now(): void {
    this.#waiter.wake();
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    this.now();
    await this.#running;
  }

  async #run(): Promise<void> {
    const { read, wakeups, policy, logger } = this.#options;
    const { signal } = this.#stopping;
    let waitMs = policy.pollMs;
    while (!signal.aborted) {
      try {
        const { due, nextDueMs = Infinity } = await read();
        wakeups.wake(due);
        waitMs = pollWaitMs({ waitMs, foundRows: due.length > 0, isHearing: wakeups.isHearing() }, policy);
        await this.#waiter.next(Math.min(waitMs, nextDueMs));
      } catch (error) {
        logger.error({ err: error }, 'the queues of the relay could not be polled; it tries again');
        await delay(policy.retryDelayMs, undefined, { signal }).catch(() => undefined);
      }
    }
  }
}

/** Classifies the error of a row that could not be processed. */
export function failureOf(error: unknown): RelayFailure {
  if (error instanceof DecryptionError || error instanceof UnreadableRowError) return { kind: 'unreadable' };
  if (error instanceof WorkMissingError) return { kind: 'work_missing' };
  const state = sqlState(error);
  return state === undefined ? { kind: 'other' } : { kind: 'sql', state };
}

/**
 * The error text that is stored with the row. The message of a failed query contains its parameters, so only its state
 * is used.
 */
export function describeError(error: unknown): string {
  const state = sqlState(error);
  if (state !== undefined) return `PostgreSQL error ${state}`;
  return error instanceof Error ? `${error.name}: ${error.message}`.slice(0, 500) : 'unknown error';
}

/**
 * Runs a call to Temporal in a span of the trace of its work. The workflow and its activities continue that trace.
 *
 * @param call name of the span, without the kind of the work.
 * @param options.link `traceparent` of the request that caused the call.
 */
export function inWorkSpan<Result>(
  call: string,
  { kind, id, traceparent }: StartedWork,
  options: { readonly link?: string | null },
  work: () => Promise<Result>,
): Promise<Result> {
  const attributes = { 'reseller.work.kind': kind, 'reseller.work.id': id };
  return inSpan(`${call}:${kind}`, { kind: 'producer', parent: traceparent, attributes, ...options }, work);
}
