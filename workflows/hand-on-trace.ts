/**
 * Hands the trace of a workflow on to its activities, and to the run that continues it. Bundled with the workflows as
 * an interceptor of all of them.
 *
 * It copies a header and does nothing else: no command, no promise and no random number of the workflow changes, so
 * that histories with and without the header replay alike.
 */
import type { Headers } from '@temporalio/common';
import type { WorkflowInterceptorsFactory } from '@temporalio/workflow';
import { TRACE_HEADER } from '#workflows/messages.ts';

/** The bundle looks for this name (`worker/bundle.ts`). It is called once for each workflow. */
export const interceptors: WorkflowInterceptorsFactory = () => {
  let trace: Headers = {};
  const withTrace = <Input extends { headers: Headers }>(input: Input): Input => ({
    ...input,
    headers: { ...input.headers, ...trace },
  });
  return {
    inbound: [
      {
        execute: (input, next) => {
          const header = input.headers[TRACE_HEADER];
          if (header !== undefined) trace = { [TRACE_HEADER]: header };
          return next(input);
        },
      },
    ],
    outbound: [
      {
        scheduleActivity: (input, next) => next(withTrace(input)),
        scheduleLocalActivity: (input, next) => next(withTrace(input)),
        continueAsNew: (input, next) => next(withTrace(input)),
      },
    ],
  };
};
