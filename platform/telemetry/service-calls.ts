import type { Logger } from 'pino';
import type { FailureClass } from '#domain/work/failure.ts';
import type { Metrics } from '#telemetry/metrics.ts';

/** One call to the service, as the client reports it. Has names of the contract, no content. */
interface ServiceCall {
  readonly endpoint: string;
  /** `ok` or a failure class. */
  readonly outcome: string;
  readonly durationMs: number;
  /** Parts of the answer that could not be used. */
  readonly unused?: { readonly fields: readonly string[]; readonly items: number };
  /** Fields of the answer that name what was sent in another form. */
  readonly differing?: readonly string[];
}

/** Receives unusable parts. @param source a call of the contract, or an event such as `event order.completed`. */
export type UnusedObserver = (
  source: string,
  unused: NonNullable<ServiceCall['unused']> & Pick<ServiceCall, 'differing'>,
) => void;

const UNUSED_FIELD =
  'a field of the service has an unknown form; an optional field is treated as absent, and an item of a list without ' +
  'a required field is dropped';

const DIFFERING_FIELD =
  'the service names what we sent in another form (case, end, or another id of its own); it is accepted, because it ' +
  'answers our own call. Compare the field with the contract: in lists and events only the exact form is ours';

/** Counts unusable parts of answers and events, and logs each field once in the lifetime of the process. */
export function unusedObserver(metrics: Metrics, logger: Pick<Logger, 'warn'>): UnusedObserver {
  const logged = new Set<string>();
  const logOnce = (endpoint: string, field: string, message: string) => {
    const line = JSON.stringify([endpoint, field, message]);
    if (!logged.has(line)) logger.warn({ endpoint, field }, message);
    logged.add(line);
  };
  return (endpoint, { fields, items, differing = [] }) => {
    if (items > 0) metrics.upstreamDropped.inc({ endpoint }, items);
    for (const field of fields) {
      metrics.upstreamUnused.inc({ endpoint, field });
      logOnce(endpoint, field, UNUSED_FIELD);
    }
    for (const field of differing) logOnce(endpoint, field, DIFFERING_FIELD);
  };
}

/** One such call makes an alert. Prometheus sees an increase only from a value that it has read before. */
const OUTCOMES_FROM_ZERO: readonly FailureClass[] = [
  'contract_drift',
  'insufficient_balance',
  'not_approved',
  'unauthorized',
];

/**
 * Counts calls to the service.
 *
 * @param endpoints all calls of the contract.
 * @param onUnused receives the unusable parts of an answer.
 */
export function serviceCallObserver(
  metrics: Metrics,
  endpoints: readonly string[],
  onUnused: UnusedObserver,
): (call: ServiceCall) => void {
  for (const endpoint of endpoints) {
    for (const outcome of OUTCOMES_FROM_ZERO) metrics.upstreamCalls.inc({ endpoint, outcome }, 0);
  }
  return ({ endpoint, outcome, durationMs, unused, differing }) => {
    metrics.upstreamCalls.inc({ endpoint, outcome });
    metrics.upstreamDuration.observe({ endpoint }, durationMs / 1_000);
    if (unused !== undefined || differing !== undefined) {
      onUnused(endpoint, { fields: [], items: 0, ...unused, ...(differing !== undefined && { differing }) });
    }
  };
}
