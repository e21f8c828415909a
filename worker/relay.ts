import type { KeyRing } from '#crypto/key-ring.ts';
import { isBadData, sqlState, type Database } from '#db/database.ts';
import { publishEvents } from '#db/events.ts';
import { queueDeliveries } from '#db/webhook-deliveries.ts';
import { endpointsToWake, noteEndpointWoken, type EndpointToWake } from '#db/webhook-endpoints.ts';
import type { InboxRow } from '#db/inbox.ts';
import { postpone, quarantine, settleTold, takePending } from '#db/inbox-queue.ts';
import { postponeOutbox, settleOutbox, takeOutbox, type OutboxRow } from '#db/outbox.ts';
import { readStartFacts, type StartFacts } from '#db/start-facts.ts';
import type { TellOutcome } from '#domain/inbox-decision.ts';
import { isFinal } from '#domain/lifecycle.ts';
import { backoffMs, type RelayPolicy } from '#domain/policy.ts';
import type { Logger } from '#telemetry/logger.ts';
import type { Metrics } from '#telemetry/metrics.ts';
import { readWork } from '#db/work.ts';
import type { StartOutcome } from '#temporal/start-work.ts';
import { judgeRow } from '#worker/inbox-relay.ts';
import type { Wakeups } from '#db/wakeups.ts';
import type { ServiceObservation } from '#workflows/messages.ts';

/** The workflow has ended and the work has not: nobody was told, and the row comes again. */
class NobodyToldError extends Error {
  constructor() {
    super('the workflow has ended although the work goes on');
    this.name = 'NobodyToldError';
  }
}

/** How the relay reaches the workflows of work. */
export interface WorkWorkflows {
  /** Starts the workflow. @returns `finished` when it has ended well and was not started. */
  start(work: StartFacts): Promise<StartOutcome>;
  /** Lets the workflow see what a person did with the work, starting it where none runs. */
  wake(work: StartFacts): Promise<TellOutcome>;
  /** Tells the workflow, starting it where none runs. */
  tell(work: StartFacts, observation: ServiceObservation): Promise<TellOutcome>;
}

/** How the relay reaches the workflows that deliver to webhook endpoints. */
export interface EndpointWorkflows {
  /** Lets the workflow of an endpoint see that something waits, starting it where none runs. */
  wake(endpointId: string, options: { readonly urgent: boolean }): Promise<void>;
}

export interface RelayOptions {
  readonly database: Database;
  readonly keyRing: KeyRing;
  readonly workflows: WorkWorkflows;
  readonly endpoints: EndpointWorkflows;
  readonly wakeups: Wakeups;
  /** Told that events were published. */
  readonly onPublished: () => void;
  readonly policy: RelayPolicy;
  readonly metrics: Metrics;
  readonly logger: Logger;
  /** Epoch milliseconds. */
  readonly now: () => number;
}

/** What PostgreSQL refuses as bad data or against a constraint stays so; a few tries rule out a passing cause. */
const TRIES_OF_BAD_DATA = 3;
/** Rows handed over at once; Temporal answers each start in milliseconds, so more would only queue there. */
const PARALLEL = 16;

/**
 * Hands over what PostgreSQL has accepted: work to start (outbox) and words of the service (inbox) to Temporal, events to
 * whoever reads them.
 * Everything it does may be done twice, so that it can die at any point; several relays share the work.
 */
export class Relay {
  readonly #options: RelayOptions;
  #running: Promise<void> | undefined;
  #stopped = false;

  constructor(options: RelayOptions) {
    this.#options = options;
  }

  start(): void {
    this.#running ??= this.#run();
  }

  /** Stops taking rows and waits for those in hand. */
  async stop(): Promise<void> {
    this.#stopped = true;
    this.#options.wakeups.wake();
    await this.#running;
  }

  /** Takes and hands over until nothing is due. @returns how many rows were taken. */
  async drain(): Promise<number> {
    const { batch } = this.#options.policy;
    let taken = 0;
    for (;;) {
      const [orders, words, events] = await Promise.all([this.#drainOutbox(batch), this.#drainInbox(batch), this.#drainEvents(batch)]);
      taken += orders + words + events;
      if (this.#stopped || (orders < batch && words < batch && events < batch)) return taken;
    }
  }

  async #run(): Promise<void> {
    const { wakeups, policy, logger } = this.#options;
    while (!this.#stopped) {
      try {
        await this.drain();
      } catch (error) {
        logger.error({ err: error }, 'the relay could not take rows; it tries again');
        await wakeups.pause(policy.retryDelayMs);
        continue;
      }
      await wakeups.next(policy.pollMs);
    }
  }

  async #drainOutbox(batch: number): Promise<number> {
    const { database, policy: { leaseMs } } = this.#options;
    const rows = await database.run((db) => takeOutbox(db, { batch, leaseMs }));
    const handedOver: OutboxRow[] = [];
    await eachOf(rows, PARALLEL, async (row) => {
      if (await this.#handOver(row)) handedOver.push(row);
    });
    await database.run((db) => settleOutbox(db, handedOver));
    return rows.length;
  }

  async #drainEvents(batch: number): Promise<number> {
    const published = await this.#publish(batch);
    await this.#wakeEndpoints(batch);
    return published;
  }

  /** Tells the workflows of endpoints that something waits for them. One that cannot be told now is told at the next poll. */
  async #wakeEndpoints(batch: number): Promise<void> {
    const { database } = this.#options;
    const waiting = await database.run((db) => endpointsToWake(db, batch));
    await eachOf(waiting, PARALLEL, (endpoint) => this.#wakeEndpoint(endpoint));
  }

  async #wakeEndpoint(endpoint: EndpointToWake): Promise<void> {
    const { database, endpoints, metrics, logger } = this.#options;
    try {
      await endpoints.wake(endpoint.id, { urgent: endpoint.wakeIsUrgent });
      await database.run((db) => noteEndpointWoken(db, endpoint));
      metrics.relayRows.inc({ queue: 'endpoints', result: 'handed_over' });
    } catch (error) {
      metrics.relayRows.inc({ queue: 'endpoints', result: 'postponed' });
      logger.warn({ err: error, endpointId: endpoint.id }, 'the workflow of a webhook endpoint could not be woken; it is tried again');
    }
  }

  /**
   * Puts what was announced into its order, for everybody to read, and queues it for the webhook endpoints that get it, in one
   * transaction: nothing is published that is not on its way.
   */
  async #publish(batch: number): Promise<number> {
    const { database, metrics, now, onPublished } = this.#options;
    const published = await database.transaction(async (tx) => {
      const events = await publishEvents(tx, batch);
      await queueDeliveries(tx, events, this.#now());
      return events;
    });
    if (published.length === 0) return 0;
    onPublished();
    for (const { type, occurredAt } of published) {
      metrics.events.inc({ type });
      metrics.relayDelay.observe({ queue: 'events' }, Math.max(0, now() - occurredAt.getTime()) / 1_000);
    }
    return published.length;
  }

  async #handOver(row: OutboxRow): Promise<boolean> {
    const { database, workflows, metrics, logger } = this.#options;
    try {
      const work = await database.run((db) => readStartFacts(db, { kind: row.subjectKind, id: row.subjectId }));
      const outcome = await (row.topic === 'start_work' ? workflows.start(work) : workflows.wake(work));
      if (outcome === 'finished' && !isFinal((await database.run((db) => readWork(db, work))).status)) throw new NobodyToldError();
      this.#count('outbox', 'handed_over', row.createdAt);
      return true;
    } catch (error) {
      metrics.relayRows.inc({ queue: 'outbox', result: 'postponed' });
      logger.warn({ err: error, workId: row.subjectId, tries: row.tries }, 'a workflow could not be started or woken; it is tried again');
      await database.run((db) => postponeOutbox(db, row, describe(error), this.#retryDelayMs(row.tries)));
      return false;
    }
  }

  async #drainInbox(batch: number): Promise<number> {
    const { database, policy: { leaseMs } } = this.#options;
    const rows = await database.run((db) => takePending(db, { batch, leaseMs }));
    // Words about one piece of work in the order in which they came; different work at once.
    await eachOf([...groupBySubject(rows)], PARALLEL, async (group) => {
      for (const row of group) await this.#passOn(row);
    });
    return rows.length;
  }

  async #passOn(row: InboxRow): Promise<void> {
    const { database, keyRing, workflows, policy: { leaseMs }, metrics, logger } = this.#options;
    try {
      const judgement = await judgeRow(database, keyRing, row, this.#now(), { leaseMs });
      if (judgement.kind === 'tell') {
        const { work } = judgement.match;
        const outcome = await workflows.tell(await database.run((db) => readStartFacts(db, work)), judgement.observation);
        if ((await database.transaction((tx) => settleTold(tx, row.id, work, outcome))) === 'try_again') throw new NobodyToldError();
      }
      if (judgement.kind === 'applied' && judgement.contradiction) {
        logger.error({ inboxId: String(row.id), event: row.event }, 'the service contradicts what is known of a purchase; a case is open');
      }
      this.#count('inbox', judgement.kind === 'tell' ? 'handed_over' : judgement.kind, row.receivedAt);
    } catch (error) {
      metrics.relayRows.inc({ queue: 'inbox', result: 'postponed' });
      logger.warn({ err: error, inboxId: String(row.id), tries: row.tries }, 'a delivery could not be passed on; it is tried again');
      if (row.tries >= TRIES_OF_BAD_DATA && isBadData(error)) {
        logger.error({ err: error, inboxId: String(row.id) }, 'a delivery cannot be stored; it is quarantined');
        await database.run((db) => quarantine(db, row, `Cannot be acted upon: ${describe(error)}`));
        return;
      }
      await database.run((db) => postpone(db, row, describe(error), this.#retryDelayMs(row.tries)));
    }
  }

  #count(queue: 'inbox' | 'outbox', result: string, since: Date): void {
    const { metrics, now } = this.#options;
    metrics.relayRows.inc({ queue, result });
    metrics.relayDelay.observe({ queue }, Math.max(0, now() - since.getTime()) / 1_000);
  }

  #retryDelayMs(tries: number): number {
    const { retryDelayMs, retryDelayMaxMs } = this.#options.policy;
    return backoffMs(retryDelayMs, retryDelayMaxMs, tries);
  }

  #now(): Date {
    return new Date(this.#options.now());
  }
}

function groupBySubject(rows: readonly InboxRow[]): Iterable<InboxRow[]> {
  return Map.groupBy(rows, (row) => `${row.subjectKind}/${row.reference ?? row.serviceId ?? row.serviceEsimId ?? row.id}`).values();
}

/** Runs `work` for all items, `parallel` at a time. `work` does not throw. */
async function eachOf<Item>(items: readonly Item[], parallel: number, work: (item: Item) => Promise<void>): Promise<void> {
  const waiting = items.values();
  const lane = async () => {
    for (const item of waiting) await work(item);
  };
  await Promise.all(Array.from({ length: Math.min(parallel, items.length) }, lane));
}

/** For the row that could not be handed over. A failed query's message holds its parameters, so only its state is named. */
function describe(error: unknown): string {
  const state = sqlState(error);
  if (state !== undefined) return `PostgreSQL error ${state}`;
  return error instanceof Error ? `${error.name}: ${error.message}`.slice(0, 500) : 'unknown error';
}
