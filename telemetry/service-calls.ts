import type { Logger } from 'pino';
import type { Metrics } from '#telemetry/metrics.ts';

/** One call to the service, as the client reports it. Holds names of the contract and nothing of the contents. */
interface ServiceCall {
  readonly endpoint: string;
  /** `ok` or a failure class. */
  readonly outcome: string;
  readonly durationMs: number;
  /** What of the answer could not be used. */
  readonly unused?: { readonly fields: readonly string[]; readonly items: number };
}

/** Told of what could not be used. @param source a call of the contract, or `event order.completed` and the like. */
export type UnusedObserver = (source: string, unused: NonNullable<ServiceCall['unused']>) => void;

/** A field that a record must have spoils it: the record is an item of a list then, and the item is dropped. */
const UNUSED_FIELD =
  'the service gives a field in a form that is not understood; the product reads an optional field as absent, and ' +
  'drops an item of a list that lacks a needed field';

/** Counts what could not be used of answers and events, and logs each field once in the life of the process. */
export function unusedObserver(metrics: Metrics, logger: Pick<Logger, 'warn'>): UnusedObserver {
  const logged = new Set<string>();
  return (endpoint, { fields, items }) => {
    if (items > 0) metrics.upstreamDropped.inc({ endpoint }, items);
    for (const field of fields) {
      metrics.upstreamUnused.inc({ endpoint, field });
      if (logged.has(`${endpoint} ${field}`)) continue;
      logged.add(`${endpoint} ${field}`);
      logger.warn({ endpoint, field }, UNUSED_FIELD);
    }
  };
}

/** Counts calls to the service. @param onUnused told of what could not be used of an answer. */
export function serviceCallObserver(metrics: Metrics, onUnused: UnusedObserver): (call: ServiceCall) => void {
  return ({ endpoint, outcome, durationMs, unused }) => {
    metrics.upstreamCalls.inc({ endpoint, outcome });
    metrics.upstreamDuration.observe({ endpoint }, durationMs / 1_000);
    if (unused !== undefined) onUnused(endpoint, unused);
  };
}
