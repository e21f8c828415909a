import { DecryptionError, type KeyRing } from '#crypto/key-ring.ts';
import { isBadData, sqlState, type Database } from '#db/connection/database.ts';
import type { Wakeups } from '#db/connection/wakeups.ts';
import type { InboxRow } from '#db/queues/inbox.ts';
import { postpone, release, settleOutbox, takeInbox, takeOutbox, type TakenRequest } from '#db/queues/relay-queues.ts';
import { WorkMissingError } from '#db/work/rows.ts';
import type { RelayPolicy } from '#domain/policy/relay-policy.ts';
import type { ServiceObservation } from '#domain/relay/observation.ts';
import { afterFailure, type NotifyOutcome } from '#domain/relay/relay-decision.ts';
import type { WorkStart } from '#domain/work/kinds.ts';
import { closeCaseOfRequest, quarantineInboxRow, quarantineOutboxRow } from '#fulfilment/operator/dead-letters.ts';
import type { Logger } from '#telemetry/logger.ts';
import type { Metrics } from '#telemetry/metrics.ts';
import { settlesWithin, untilAborted } from '#telemetry/waiting.ts';
import type { StartOutcome } from '#temporal/start-work.ts';
import { relayReport, subjectOf, UnreadableRowError } from '#worker/relay/inbox.ts';
import { QueueLoop, slowPoll, type Batch, type Loop } from '#worker/relay/loop.ts';
import { relayRequest } from '#worker/relay/outbox.ts';
import { publish, wakeEndpoints } from '#worker/relay/publish.ts';

/** Each call starts the workflow if none is running. */
export interface WorkWorkflows {
  /** @returns `finished` when it has completed and was not started. */
  start(work: WorkStart): Promise<StartOutcome>;
  wake(work: WorkStart): Promise<NotifyOutcome>;
  signalReport(work: WorkStart, observation: ServiceObservation): Promise<NotifyOutcome>;
}

export interface RelayOptions {
  readonly database: Database;
  readonly keyRing: KeyRing;
  readonly workflows: WorkWorkflows;
  readonly endpoints: { wake(endpointId: string, options: { readonly urgent: boolean }): Promise<void> };
  readonly wakeups: Pick<Wakeups, 'subscribe' | 'wake' | 'isHearing'>;
  readonly policy: RelayPolicy;
  readonly metrics: Metrics;
  readonly logger: Logger;
  /** For metrics and displayed times. Leases use the clock of PostgreSQL. */
  readonly now: () => number;
}

/**
 * Every step is idempotent, so the process may die at any point. Several relays share the rows. Each queue has its own
 * loop: events do not wait for a Temporal that hangs.
 */
export class Relay {
  readonly #options: RelayOptions;
  readonly #cutOff = new AbortController();
  readonly #outbox: QueueLoop;
  readonly #inbox: QueueLoop;
  readonly #events: QueueLoop;
  readonly #endpoints: QueueLoop;
  readonly #poll: Loop;

  constructor(given: RelayOptions) {
    const options = withCutOff(given, this.#cutOff.signal);
    this.#options = options;
    this.#poll = slowPoll(options);
    this.#outbox = new QueueLoop('outbox', () => this.#relayOutbox(), options);
    this.#inbox = new QueueLoop('inbox', () => this.#relayInbox(), options);
    this.#endpoints = new QueueLoop('endpoints', () => wakeEndpoints(options), options);
    this.#events = new QueueLoop('events', () => publish(options), options);
  }

  start(): void {
    for (const loop of this.#loops()) loop.start();
  }

  /** Waits up to `policy.stopMs`, then cuts calls to Temporal off. Resolves within twice that time in any case. */
  async stop(): Promise<void> {
    const { policy, logger } = this.#options;
    const stopped = Promise.all(this.#loops().map((loop) => loop.stop()));
    if (await settlesWithin(policy.stopMs, stopped)) return;
    this.#cutOff.abort(new CutOffError());
    if (await settlesWithin(policy.stopMs, stopped)) return;
    logger.warn(
      {},
      'the relay does not wait for its last statements; the rows in progress are tried again after their lease',
    );
  }

  async drain(): Promise<number> {
    const events = this.#events.drain().then(async (published) => {
      await this.#endpoints.drain();
      return published;
    });
    const taken = await Promise.all([this.#outbox.drain(), this.#inbox.drain(), events]);
    return taken.reduce((sum, each) => sum + each, 0);
  }

  #loops(): readonly Loop[] {
    return [this.#outbox, this.#inbox, this.#events, this.#endpoints, this.#poll];
  }

  async #relayOutbox(): Promise<Batch> {
    const { database, policy, now } = this.#options;
    const rows = await database.run((db) => takeOutbox(db, policy));
    const handedOver = await this.#process(
      'outbox',
      rows.map((row) => [row]),
      async (row) => relayRequest(this.#options, row),
      async (row, text) => database.transaction((tx) => quarantineOutboxRow(tx, row, text)),
    );
    for (const row of handedOver.filter(({ lastingErrors }) => lastingErrors > 0))
      await database.transaction((tx) => closeCaseOfRequest(tx, row, new Date(now())));
    await database.run((db) => settleOutbox(db, handedOver));
    return { taken: rows.length, again: rows.length === policy.batch };
  }

  async #relayInbox(): Promise<Batch> {
    const { database, policy } = this.#options;
    const rows = await database.run((db) => takeInbox(db, policy));
    let judgeAgain = false;
    await this.#process(
      'inbox',
      // Reports about the same work are processed in order, those about different work in parallel.
      [...Map.groupBy(rows, subjectOf).values()],
      async (row) => {
        const { result, isToBeJudgedAgain } = await relayReport(this.#options, row);
        judgeAgain ||= isToBeJudgedAgain;
        return result;
      },
      async (row, text) => quarantineInboxRow(database, row, text),
    );
    return { taken: rows.length, again: rows.length === policy.batch || judgeAgain };
  }

  /** Rows that were not begun before the cut-off are released. `handle` returns the result for the metric. */
  async #process<Row extends InboxRow | TakenRequest>(
    queue: 'inbox' | 'outbox',
    groups: readonly (readonly Row[])[],
    handle: (row: Row) => Promise<string>,
    quarantine: (row: Row, text: string) => Promise<void>,
  ): Promise<Row[]> {
    const { database, metrics, now } = this.#options;
    const processed: Row[] = [];
    const notBegun: Row[] = [];
    await inParallel(groups.values(), async (group) => {
      for (const row of group) {
        if (this.#cutOff.signal.aborted) {
          notBegun.push(row);
          continue;
        }
        try {
          const result = await handle(row);
          const since = 'receivedAt' in row ? row.receivedAt : row.createdAt;
          metrics.relayRows.inc({ queue, result });
          metrics.relayDelay.observe({ queue }, Math.max(0, now() - since.getTime()) / 1_000);
          processed.push(row);
        } catch (error) {
          await this.#fail(queue, row, error, async (text) => quarantine(row, text));
        }
      }
    });
    await database.run((db) => release(db, queue, notBegun));
    return processed;
  }

  /** Releases, postpones or quarantines the row. Never throws. */
  async #fail(
    queue: 'inbox' | 'outbox',
    row: InboxRow | TakenRequest,
    error: unknown,
    quarantine: (text: string) => Promise<void>,
  ): Promise<void> {
    const { database, policy, metrics, logger } = this.#options;
    const about = 'receivedAt' in row ? { inboxId: String(row.id) } : { workId: row.subjectId };
    try {
      if (error instanceof CutOffError) return await database.run((db) => release(db, queue, [row]));
      const isLasting = LASTING.some((kind) => error instanceof kind) || isBadData(error);
      const next = afterFailure(isLasting, row, policy);
      const isOver = next === 'quarantine';
      const result = isOver ? 'quarantined' : 'postponed';
      metrics.relayRows.inc({ queue, result });
      logger[isOver ? 'error' : 'warn']({ err: error, ...about, tries: row.tries }, FAILURES[queue][result]);
      if (isOver) return await quarantine(textOf(error));
      await database.run((db) => postpone(db, queue, row, { error: textOf(error), delayMs: next, isLasting }));
      // Only a poll knows when it is due.
      this.#poll.wake();
    } catch (failure) {
      logger.warn({ err: failure, ...about }, 'a failure could not be stored; the row is tried again after its lease');
    }
  }
}

const FAILURES = {
  inbox: {
    quarantined: 'a report of the service cannot be processed; it is quarantined and a case is open',
    postponed: 'a report of the service could not be passed on; the relay tries again',
  },
  outbox: {
    quarantined: 'a workflow cannot be started or woken; the request is quarantined and a case is open',
    postponed: 'a workflow could not be started or woken; the relay tries again',
  },
} as const;

/** Only errors that are known to last. */
const LASTING = [DecryptionError, UnreadableRowError, WorkMissingError] as const;

/** Stored with the row. The message of a failed query contains its parameters, so only its state is used. */
function textOf(error: unknown): string {
  const state = sqlState(error);
  if (state !== undefined) return `PostgreSQL error ${state}`;
  return error instanceof Error ? `${error.name}: ${error.message}`.slice(0, 500) : 'unknown error';
}

/** Groups of rows processed in parallel. Temporal answers each start in milliseconds: more would only queue there. */
const PARALLEL = 16;

/** `work` must not throw. */
async function inParallel<Item>(waiting: IterableIterator<Item>, work: (item: Item) => Promise<void>): Promise<void> {
  const lane = async () => {
    for (const item of waiting) await work(item);
  };
  await Promise.all(Array.from({ length: PARALLEL }, lane));
}

/** The relay has to end and does not wait any longer. Whether the call had an effect is unknown. */
class CutOffError extends Error {}

/** Calls of Temporal fail with the reason of `signal` once it is aborted, also those under way. */
function withCutOff(options: RelayOptions, signal: AbortSignal): RelayOptions {
  const call = async <Result>(work: () => Promise<Result>) => untilAborted(signal, work);
  const { workflows, endpoints } = options;
  return {
    ...options,
    workflows: {
      start: (work) => call(() => workflows.start(work)),
      wake: (work) => call(() => workflows.wake(work)),
      signalReport: (work, observation) => call(() => workflows.signalReport(work, observation)),
    },
    endpoints: { wake: (id, wake) => call(() => endpoints.wake(id, wake)) },
  };
}
