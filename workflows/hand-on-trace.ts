/** Only a header is copied. No command, promise or random number changes, so histories replay with and without it. */
import type { Headers } from '@temporalio/common';
import type { WorkflowInterceptorsFactory } from '@temporalio/workflow';
import { TRACE_HEADER } from '#workflows/messages.ts';

/** The bundle looks for this name (`worker/bundle.ts`). */
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
