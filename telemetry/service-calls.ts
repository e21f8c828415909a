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

/** Counts calls to the service. What could not be used of an answer is also logged, each field once in the life of the process. */
export function serviceCallObserver(metrics: Metrics, logger: Pick<Logger, 'warn'>): (call: ServiceCall) => void {
  const logged = new Set<string>();
  return ({ endpoint, outcome, durationMs, unused }) => {
    metrics.upstreamCalls.inc({ endpoint, outcome });
    metrics.upstreamDuration.observe({ endpoint }, durationMs / 1_000);
    if (unused === undefined) return;
    if (unused.items > 0) metrics.upstreamDropped.inc({ endpoint }, unused.items);
    for (const field of unused.fields) {
      metrics.upstreamUnused.inc({ endpoint, field });
      if (logged.has(`${endpoint} ${field}`)) continue;
      logged.add(`${endpoint} ${field}`);
      logger.warn({ endpoint, field }, 'the service answers a field in a form that is not understood; it is read as absent');
    }
  };
}
