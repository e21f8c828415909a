import type { StartedWork } from '#db/work/rows.ts';
import { inSpan } from '#telemetry/tracing.ts';

/**
 * Runs a call to Temporal in a span of the trace of its work. The workflow and its activities continue that trace.
 *
 * @param call name of the span, without the kind of the work.
 * @param options.link `traceparent` of the request that caused the call.
 */
export function inWorkSpan<Result>(
  call: string,
  { kind, id, traceparent }: StartedWork,
  options: { readonly link?: string | null },
  work: () => Promise<Result>,
): Promise<Result> {
  const attributes = { 'reseller.work.kind': kind, 'reseller.work.id': id };
  return inSpan(`${call}:${kind}`, { kind: 'producer', parent: traceparent, attributes, ...options }, work);
}
