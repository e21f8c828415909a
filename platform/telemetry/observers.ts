import type { FailureClass } from '#domain/work/failure.ts';
import type { WorkFact } from '#domain/work/work-fact.ts';
import type { Logger } from '#telemetry/logger.ts';
import type { Metrics } from '#telemetry/metrics.ts';
import { traceIdOf } from '#telemetry/tracing.ts';

export function workFactObserver(metrics: Metrics, logger: Logger, now: () => number) {
  return (facts: readonly WorkFact[]): void => {
    for (const each of facts) {
      log(logger, each);
      measure(metrics, each, now());
    }
  };
}

function log(logger: Logger, each: WorkFact): void {
  switch (each.fact) {
    case 'batch': {
      const { id, status, size, requestId, traceparent } = each;
      const about = { batchId: id, requestId, traceId: traceIdOf(traceparent), orders: size };
      return logger.info(about, `a batch was ${status}`);
    }
    case 'status': {
      const { status, previous, failureClass, attentionReason } = each;
      const about = { ...aboutWork(each), status };
      if (previous === undefined) return logger.info(about, 'work was accepted');
      const reasons = { previousStatus: previous, failureClass, attentionReason };
      const level = status === 'needs_attention' ? 'warn' : 'info';
      return logger[level]({ ...about, ...reasons }, 'the status of work changed');
    }
    case 'send': {
      const { attempt, send, state, failureClass } = each;
      return logger.info({ ...aboutWork(each), attempt, send, state, failureClass }, 'a send ended');
    }
    case 'report': {
      const { attempt, inboxId, source, outcome, decision } = each;
      const about = { ...aboutWork(each), attempt, inboxId, source, outcome, decision };
      return logger.info(about, 'a report of the service was judged');
    }
  }
}

function aboutWork({ kind, id, requestId, traceparent }: Exclude<WorkFact, { fact: 'batch' }>) {
  return { kind, workId: id, requestId, traceId: traceIdOf(traceparent) };
}

/** A VPN subscription that ends later was measured when it was bought. */
const MEASURED: ReadonlySet<string> = new Set(['completed', 'failed', 'abandoned', 'refused']);

function measure(metrics: Metrics, each: WorkFact, nowMs: number): void {
  if (each.fact !== 'status') return;
  const result = each.isCompletion ? 'completed' : each.status;
  if (!MEASURED.has(result)) return;
  metrics.workDuration.observe({ kind: each.kind, result }, Math.max(0, nowMs - each.acceptedAt.getTime()) / 1_000);
}

/** Names of the contract, no content. */
interface ServiceCall {
  readonly endpoint: string;
  readonly outcome: string;
  readonly durationMs: number;
  readonly unused?: { readonly fields: readonly string[]; readonly items: number };
  /** They name what was sent in another form. */
  readonly differing?: readonly string[];
}

/** @param source a call of the contract, or an event such as `event order.completed`. */
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

/** Each field is logged once in the lifetime of the process. */
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

/**
 * One such call makes an alert, and one success ends it. Prometheus sees an increase only from a value that it has read
 * before.
 */
const FROM_ZERO: readonly (FailureClass | 'ok')[] = [
  'contract_drift',
  'insufficient_balance',
  'not_approved',
  'unauthorized',
  'ok',
];

/** @param endpoints all calls of the contract. @param onUnused unusable parts of an answer. */
export function serviceCallObserver(metrics: Metrics, endpoints: readonly string[], onUnused: UnusedObserver) {
  for (const endpoint of endpoints) {
    for (const outcome of FROM_ZERO) metrics.upstreamCalls.inc({ endpoint, outcome }, 0);
  }
  return ({ endpoint, outcome, durationMs, unused, differing }: ServiceCall): void => {
    metrics.upstreamCalls.inc({ endpoint, outcome });
    metrics.upstreamDuration.observe({ endpoint }, durationMs / 1_000);
    if (unused !== undefined || differing !== undefined) {
      onUnused(endpoint, { fields: [], items: 0, ...unused, ...(differing !== undefined && { differing }) });
    }
  };
}
