import {
  ActivityFailure,
  ApplicationFailure,
  currentUpdateInfo,
  proxyActivities,
  setHandler,
} from '@temporalio/workflow';
import { REFUSALS, type OperatorAction } from '#domain/operator/operator-actions.ts';
import type { PurchaseActivities } from '#domain/purchase/results.ts';
import { retryChangeOf } from '#domain/retry/retry-change.ts';
import { isFinal } from '#domain/work/lifecycle.ts';
import { HEARTBEAT_TIMEOUT } from '#workflows/activity-options.ts';
import {
  abandonUpdate,
  ACTION_REFUSED,
  changeLimitUpdate,
  changeRetryPolicyUpdate,
  releaseUpdate,
  resolveUpdate,
  retryUpdate,
  type ActionBy,
  type Explanation,
} from '#workflows/messages.ts';
import { HANDLER_DESCRIPTIONS, HANDLER_EXAMPLES } from '#workflows/operator/handler-descriptions.ts';
import {
  actionProblem,
  limitProblem,
  objectProblem,
  resolutionProblem,
  retryPolicyProblem,
} from '#workflows/operator/operator-arguments.ts';
import { explanationOf } from '#workflows/run/display.ts';
import type { Run } from '#workflows/run/run.ts';

/**
 * Not a local activity: several handlers may each have one in a workflow task, and a replay could finish them in
 * another order than the timer that the first action ends.
 */
function actOnWork(input: Parameters<PurchaseActivities['actOnWork']>[0]): Promise<unknown> {
  const activities = proxyActivities<Pick<PurchaseActivities, 'actOnWork'>>({
    startToCloseTimeout: '20s',
    heartbeatTimeout: HEARTBEAT_TIMEOUT,
    retry: { initialInterval: '200ms', maximumInterval: '20s' },
    summary: `Carry out the operator's ${actionText(input.action)}`,
  });
  return activities.actOnWork(input);
}

/** Without the operator's name and reason. */
function actionText(action: OperatorAction): string {
  return action.action === 'resolve' ? `verdict ${action.verdict} (${action.reason})` : `action ${action.action}`;
}

/**
 * The activity applies the same rules and audit record as the API. The validator refuses what it can without
 * PostgreSQL; that leaves no event in the history.
 */
export function handleOperatorUpdates(run: Run): void {
  const perform = async (by: ActionBy, action: OperatorAction): Promise<Explanation> => {
    const actionId = currentUpdateInfo()?.id;
    if (actionId === undefined) throw new Error('an operator acts by an update');
    await actOnWork({
      work: run.work,
      action,
      operator: { actor: `temporal/${by.by}`, reason: by.reason, actionId },
    }).catch((error: unknown) => {
      // The operator must read the reason, not that an activity failed.
      throw error instanceof ActivityFailure && error.cause instanceof ApplicationFailure ? error.cause : error;
    });
    // The wait under way ends.
    run.actions += 1;
    return explanationOf(run.work, run.shown);
  };
  const validated = (name: keyof typeof HANDLER_EXAMPLES, problem: (input: unknown) => string | undefined) => ({
    description: HANDLER_DESCRIPTIONS[name],
    validator: (input: unknown) => {
      const wrong = objectProblem(input, HANDLER_EXAMPLES[name]) ?? problem(input);
      if (wrong !== undefined) refuse(wrong);
      const { status } = run.shown;
      if (isFinal(status)) refuse(`${REFUSALS.already_ended} (${status})`);
    },
  });
  setHandler(retryUpdate, (by) => perform(by, { action: 'retry' }), validated('retry', actionProblem));
  setHandler(releaseUpdate, (by) => perform(by, { action: 'release' }), validated('release', actionProblem));
  setHandler(abandonUpdate, (by) => perform(by, { action: 'abandon' }), validated('abandon', actionProblem));
  setHandler(
    changeLimitUpdate,
    (by) => perform(by, { action: 'change_limit', maxPrice: by.max_price }),
    validated('changeLimit', limitProblem),
  );
  setHandler(
    changeRetryPolicyUpdate,
    (by) => perform(by, { action: 'change_retry', change: retryChangeOf(by) }),
    validated('changeRetryPolicy', retryPolicyProblem),
  );
  setHandler(
    resolveUpdate,
    (by) =>
      perform(by, {
        action: 'resolve',
        reason: by.case,
        verdict: by.verdict,
        ...(by.service_id !== undefined && { serviceId: by.service_id }),
        ...(by.service_esim_id !== undefined && { serviceEsimId: by.service_esim_id }),
        ...(by.next !== undefined && { next: by.next }),
      }),
    validated('resolve', resolutionProblem),
  );
}

function refuse(message: string): never {
  throw ApplicationFailure.nonRetryable(message, ACTION_REFUSED);
}
