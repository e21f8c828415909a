import type { KeyRing } from '#crypto/key-ring.ts';
import type { Database } from '#db/connection/database.ts';
import type { Wakeups } from '#db/connection/wakeups.ts';
import type { StartFacts } from '#db/work/start-facts.ts';
import type { RelayPolicy } from '#domain/policy/relay-policy.ts';
import type { NotifyOutcome } from '#domain/relay/inbox-decision.ts';
import type { Logger } from '#telemetry/logger.ts';
import type { Metrics } from '#telemetry/metrics.ts';
import type { StartOutcome } from '#temporal/start-work.ts';
import type { ServiceObservation } from '#workflows/messages.ts';

/** How the relay reaches the workflows of work. */
export interface WorkWorkflows {
  /** Starts the workflow. @returns `finished` when it has ended well and was not started. */
  start(work: StartFacts): Promise<StartOutcome>;
  /** Lets the workflow see what a person did with the work, starting it where none runs. */
  wake(work: StartFacts): Promise<NotifyOutcome>;
  /** Tells the workflow, starting it where none runs. */
  tell(work: StartFacts, observation: ServiceObservation): Promise<NotifyOutcome>;
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
  readonly wakeups: Pick<Wakeups, 'subscribe'>;
  /** Told that events were published. */
  readonly onPublished: () => void;
  readonly policy: RelayPolicy;
  readonly metrics: Metrics;
  readonly logger: Logger;
  /** Epoch milliseconds; for measurements and times that are shown. Leases go by the clock of PostgreSQL. */
  readonly now: () => number;
}

/** What the queues of one relay share. */
export interface RelayContext extends RelayOptions {
  /** Calls Temporal. @throws CutOffError once the relay has to end, also while the call is under way. */
  readonly call: <Result>(work: () => Promise<Result>) => Promise<Result>;
  /** True once calls are cut off: rows that are not begun are given back. */
  readonly isCutOff: () => boolean;
}

/** The relay has to end, and does not wait for Temporal any more. Whether the call had its effect is not known. */
export class CutOffError extends Error {
  constructor() {
    super('the relay has to end and does not wait any longer');
    this.name = 'CutOffError';
  }
}

/** The workflow has ended and the work has not: nobody was told, and the row comes again. */
export class NobodyToldError extends Error {
  constructor() {
    super('the workflow has ended although the work goes on');
    this.name = 'NobodyToldError';
  }
}

/** Rows handed over at once; Temporal answers each start in milliseconds, so more would only queue there. */
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

/** Counts a row and how long it took from when it was stored. */
export function countRow({ metrics, now }: RelayContext, queue: 'inbox' | 'outbox', result: string, since: Date): void {
  metrics.relayRows.inc({ queue, result });
  metrics.relayDelay.observe({ queue }, Math.max(0, now() - since.getTime()) / 1_000);
}
