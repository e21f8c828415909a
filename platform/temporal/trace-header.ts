/** The header that carries a trace through Temporal. It is not encrypted: a trace id is a random number. */
import type { WorkflowClientInterceptor } from '@temporalio/client';
import { defaultPayloadConverter, type Headers } from '@temporalio/common';
import { currentTraceparent } from '#telemetry/tracing.ts';
import { TRACE_HEADER } from '#workflows/messages.ts';

/** Adds the trace of the caller to the start of a workflow. */
export const traceHeaderSender: WorkflowClientInterceptor = {
  startWithDetails: (input, next) => next({ ...input, headers: withTrace(input.headers) }),
  signalWithStart: (input, next) => next({ ...input, headers: withTrace(input.headers) }),
};

function withTrace(headers: Headers): Headers {
  const traceparent = currentTraceparent();
  if (traceparent === undefined) return headers;
  return { ...headers, [TRACE_HEADER]: defaultPayloadConverter.toPayload({ traceparent }) };
}

/** `traceparent` in the headers of an activity. Any client of the server may have written it: undefined if unusable. */
export function traceparentIn(headers: Headers): string | undefined {
  const payload = headers[TRACE_HEADER];
  if (payload === undefined) return undefined;
  try {
    const carrier = defaultPayloadConverter.fromPayload<unknown>(payload);
    if (typeof carrier !== 'object' || carrier === null || !('traceparent' in carrier)) return undefined;
    return typeof carrier.traceparent === 'string' ? carrier.traceparent : undefined;
  } catch {
    return undefined;
  }
}
