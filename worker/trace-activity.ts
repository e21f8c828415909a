import type { Context } from '@temporalio/activity';
import type { ActivityInterceptors } from '@temporalio/worker';
import { inSpan } from '#telemetry/tracing.ts';
import { traceparentIn } from '#temporal/connection.ts';

/**
 * Runs each activity in a span of the trace that its workflow hands on. Names are those of Temporal's own tracing
 * packages. An activity of a workflow without a trace, such as upkeep, begins one.
 */
export function traceActivity({ info }: Context): ActivityInterceptors {
  const { activityType, activityId, attempt, workflowExecution } = info;
  const attributes = {
    temporalWorkflowId: workflowExecution?.workflowId,
    run_id: workflowExecution?.runId,
    temporalActivityId: activityId,
    temporalAttempt: attempt,
  };
  return {
    inbound: {
      execute: (input, next) =>
        inSpan(`RunActivity:${activityType}`, { parent: traceparentIn(input.headers), attributes }, () => next(input)),
    },
  };
}
