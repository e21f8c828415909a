import type { KeyRing } from '#crypto/key-ring.ts';
import type { Database } from '#db/connection/database.ts';
import type { Wakeups } from '#db/connection/wakeups.ts';
import type { StartedWork } from '#db/work/rows.ts';
import type { RelayPolicy } from '#domain/policy/relay-policy.ts';
import type { NotifyOutcome } from '#domain/relay/inbox-decision.ts';
import type { ServiceObservation } from '#domain/relay/service-observation.ts';
import type { Logger } from '#telemetry/logger.ts';
import type { Metrics } from '#telemetry/metrics.ts';
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
