import type { IncomingMessage } from 'node:http';
import { beginSpan } from '#telemetry/tracing.ts';

/** The span of one request. */
export interface RequestSpan {
  readonly traceparent: string | undefined;
  /** Runs `work` so that its spans belong to the request. */
  run<Result>(work: () => Result): Result;
  /** @param route the path pattern. @param status of the answer, or 499. */
  end(route: string, status: number): void;
}

/** Calls of other programs every few seconds, which would hide the requests of callers. */
const PROBES = /^\/(?:healthz|readyz|metrics)(?:$|\?)/;

/**
 * Begins the span of a request, as part of the trace of a valid `traceparent`. `tracestate` and `baggage` are not read:
 * they may contain anything, and would be handed on to others.
 *
 * @returns undefined for probes.
 */
export function beginRequestSpan({ method = '', url = '', headers }: IncomingMessage): RequestSpan | undefined {
  if (PROBES.test(url)) return undefined;
  const { traceparent } = headers;
  // Node.js joins two headers to one text, which is no valid traceparent.
  const parent = typeof traceparent === 'string' ? traceparent : undefined;
  const span = beginSpan(method, { kind: 'server', parent, attributes: { 'http.request.method': method } });
  return {
    traceparent: span.traceparent,
    run: (work) => span.run(work),
    end: (route, status) => {
      span.rename(`${method} ${route}`);
      span.set({ 'http.route': route, 'http.response.status_code': status });
      if (status >= 500) span.fail(String(status));
      span.end();
    },
  };
}
