import type { WorkFact } from '#domain/work/work-fact.ts';
import type { Logger } from '#telemetry/logger.ts';
import type { Metrics } from '#telemetry/metrics.ts';
import { traceIdOf } from '#telemetry/tracing.ts';

/** Logs facts about work, each with its ids, and measures how long work took. */
export function workFactObserver(
  metrics: Metrics,
  logger: Logger,
  now: () => number,
): (facts: readonly WorkFact[]) => void {
  return (facts) => {
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
      logger.info({ batchId: id, requestId, traceId: traceIdOf(traceparent), orders: size }, `a batch was ${status}`);
      return;
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
      logger.info({ ...aboutWork(each), attempt, send, state, failureClass }, 'a send ended');
      return;
    }
    case 'report': {
      const { attempt, inboxId, source, outcome, decision } = each;
      const about = { ...aboutWork(each), attempt, inboxId, source, outcome, decision };
      logger.info(about, 'a report of the service was judged');
    }
  }
}

/** The ids by which the lines of one piece of work are found. */
function aboutWork({ kind, id, requestId, traceparent }: Exclude<WorkFact, { fact: 'batch' }>) {
  return { kind, workId: id, requestId, traceId: traceIdOf(traceparent) };
}

/** Ends of work that are measured. A VPN subscription that ends later was measured when it was bought. */
const MEASURED: ReadonlySet<string> = new Set(['completed', 'failed', 'abandoned', 'refused']);

/** Measures work that is bought or carried out, or ends without that. */
function measure(metrics: Metrics, each: WorkFact, nowMs: number): void {
  if (each.fact !== 'status') return;
  const result = each.isCompletion ? 'completed' : each.status;
  if (!MEASURED.has(result)) return;
  metrics.workDuration.observe({ kind: each.kind, result }, Math.max(0, nowMs - each.acceptedAt.getTime()) / 1_000);
}
