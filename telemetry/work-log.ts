import type { WorkFact } from '#domain/work/work-fact.ts';
import type { Logger } from '#telemetry/logger.ts';
import type { Metrics } from '#telemetry/metrics.ts';

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
      const { id, status, size, requestId } = each;
      logger.info({ batchId: id, requestId, orders: size }, `a batch was ${status}`);
      return;
    }
    case 'status': {
      const { kind, id, requestId, status, previous, failureClass, attentionReason } = each;
      const about = { kind, workId: id, requestId, status };
      if (previous === undefined) return logger.info(about, 'work was accepted');
      const reasons = { previousStatus: previous, failureClass, attentionReason };
      const level = status === 'needs_attention' ? 'warn' : 'info';
      return logger[level]({ ...about, ...reasons }, 'the status of work changed');
    }
    case 'send': {
      const { kind, id, requestId, attempt, send, state, failureClass } = each;
      logger.info({ kind, workId: id, requestId, attempt, send, state, failureClass }, 'a send ended');
      return;
    }
    case 'report': {
      const { kind, id, requestId, attempt, inboxId, source, outcome, decision } = each;
      const about = { kind, workId: id, requestId, attempt, inboxId, source, outcome, decision };
      logger.info(about, 'a report of the service was judged');
    }
  }
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
