import { ApplicationFailure } from '@temporalio/common';
import { isBadData, type Database, type Executor } from '#db/connection/database.ts';
import { findAttempt } from '#db/work/attempts.ts';
import { readWork, WorkFinishedError, RowMissingError, WorkMissingError } from '#db/work/rows.ts';
import type { RecordResult } from '#domain/purchase/purchase-decision.ts';
import type { PurchaseActivities, StepRecord, SubscriptionActivities } from '#domain/purchase/results.ts';
import type { WorkRef } from '#domain/work/kinds.ts';
import { isFinal, type WorkEnd } from '#domain/work/lifecycle.ts';
import { performAction } from '#fulfilment/operator/perform-action.ts';
import { proveAbsence } from '#fulfilment/purchase/absence.ts';
import { beginWork, openNextAttempt } from '#fulfilment/purchase/begin.ts';
import { completePurchase } from '#fulfilment/purchase/deliver.ts';
import { withSharedReads, type WorkDependencies } from '#fulfilment/purchase/dependencies.ts';
import { readDebitEvidence } from '#fulfilment/purchase/evidence.ts';
import { lookUpPurchase } from '#fulfilment/purchase/look-up.ts';
import { sendPurchase } from '#fulfilment/purchase/send.ts';
import { cancelSubscription, lookUpSubscription } from '#fulfilment/purchase/vpn-subscription.ts';
import { recordStep } from '#fulfilment/work/record-step.ts';
import { markRefundNeedsAttention } from '#fulfilment/work/refunds.ts';
import { ACTION_REFUSED, SEND_NOT_BEGUN, WORK_FINISHED, WORK_MISSING } from '#workflows/messages.ts';

/** At a time, in first tasks. The others are regular activities: a slow service must leave tasks to other workflows. */
export const MAX_FIRST_SENDS = 60;

type WorkActivities = PurchaseActivities & SubscriptionActivities;

/** @param maxFirstSends 0 where a rate limits the sends, because Temporal limits task queues only. */
export function createWorkActivities(
  dependencies: WorkDependencies,
  maxFirstSends: number = MAX_FIRST_SENDS,
): WorkActivities {
  const { database, now } = dependencies;
  const shared = withSharedReads(dependencies);
  let firstSends = 0;
  const beginWithRoom: WorkActivities['beginWork'] = async ({ firstSend, ...input }) => {
    if (firstSend === undefined || firstSends >= maxFirstSends) return beginWork(shared, input);
    firstSends += 1;
    try {
      return await beginWork(shared, { ...input, firstSend });
    } finally {
      firstSends -= 1;
    }
  };
  return withTemporalErrors(database, {
    beginWork: beginWithRoom,
    openNextAttempt: (input) => openNextAttempt(shared, input),
    sendPurchase: (input) => failAsNotBegun((begin) => sendPurchase(shared, input, begin)),
    lookUpPurchase: (input) => lookUpPurchase(shared, input),
    readDebitEvidence: (input) => readDebitEvidence(shared, input),
    proveAbsence: (input) => proveAbsence(shared, input),
    completePurchase: (input) => completePurchase(shared, input),
    cancelSubscription: (input) => cancelSubscription(shared, input),
    lookUpSubscription: (input) => lookUpSubscription(shared, input),
    recordStep: (step) => recordWorkflowStep(shared, step),

    async actOnWork({ work, action, operator }) {
      // The workflow itself performs the action, so it need not be woken.
      const request = { work, action, operator, owner: undefined, wakesWorkflow: false };
      const outcome = await performAction(database, request, new Date(now())).catch(refuseBadData);
      if (outcome.kind === 'missing') throw new WorkMissingError(work);
      if (outcome.kind === 'refused') throw ApplicationFailure.nonRetryable(outcome.detail, ACTION_REFUSED);
      return outcome.kind;
    },
  });
}

/**
 * Fails with `SEND_NOT_BEGUN` when the request could not leave. The workflow may then trust a row by which nothing was
 * sent, even after PostgreSQL has lost commits. `send` calls its argument right before the request may leave.
 */
async function failAsNotBegun<Result>(send: (begin: () => void) => Promise<Result>): Promise<Result> {
  let hasBegun = false;
  try {
    return await send(() => void (hasBegun = true));
  } catch (error) {
    if (hasBegun || error instanceof WorkFinishedError || error instanceof RowMissingError) throw error;
    const cause = error instanceof Error ? error : new Error('not an error');
    throw ApplicationFailure.create({
      type: SEND_NOT_BEGUN,
      message: `Nothing was sent: ${cause.name}`,
      nonRetryable: true,
      cause,
    });
  }
}

/** Refuses data that PostgreSQL rejects: a retry would not help, and a caller waits for the answer. */
function refuseBadData(error: unknown): never {
  if (!isBadData(error)) throw error;
  throw ApplicationFailure.nonRetryable('It cannot be stored as it is.', ACTION_REFUSED);
}

async function recordWorkflowStep(
  { database, now, purchaseInForce }: WorkDependencies,
  step: StepRecord,
): Promise<RecordResult> {
  return database.transaction(async (tx) => {
    const { work, attention } = step;
    const whenUsedUp = step.failure?.endedBy === undefined ? undefined : (await purchaseInForce(tx)).whenUsedUp;
    const recorded = await recordStep(tx, await inServiceWords(tx, step), new Date(now()), whenUsedUp);
    const isOfRefund = attention?.reason === 'refund_failed' || attention?.reason === 'refund_missing';
    if (recorded === 'recorded' && isOfRefund) await markRefundNeedsAttention(tx, work.id, new Date(now()));
    return recorded;
  });
}

async function inServiceWords(tx: Executor, step: StepRecord): Promise<StepRecord> {
  const { work, attemptNumber, failure } = step;
  if (failure === undefined) return step;
  const attempt = await findAttempt(tx, work, attemptNumber);
  const { failureClass, serviceMessage = null } = attempt ?? {};
  return failureClass !== failure.class || serviceMessage === null
    ? step
    : { ...step, failure: { ...failure, serviceMessage } };
}

/** Ended or missing work becomes a Temporal failure without retries; other errors pass. */
function withTemporalErrors(database: Database, activities: WorkActivities): WorkActivities {
  const translated = Object.entries(activities).map(([name, activity]) => [
    name,
    async (input: never) => {
      try {
        return await (activity as (input: never) => Promise<unknown>)(input);
      } catch (error) {
        throw await translate(error, database);
      }
    },
  ]);
  return Object.fromEntries(translated) as WorkActivities;
}

async function translate(error: unknown, database: Database): Promise<unknown> {
  if (error instanceof WorkFinishedError) {
    const end = await database.run((db) => readWorkEnd(db, error.work));
    return ApplicationFailure.create({
      type: WORK_FINISHED,
      message: error.message,
      nonRetryable: true,
      details: [end],
    });
  }
  if (error instanceof RowMissingError) return ApplicationFailure.nonRetryable(error.message, WORK_MISSING);
  if (error instanceof RangeError) return ApplicationFailure.nonRetryable(error.message, error.name);
  return error;
}

async function readWorkEnd(db: Executor, work: WorkRef): Promise<WorkEnd> {
  const { status, failureClass, failureEnd, esimId } = await readWork(db, work);
  if (!isFinal(status)) throw new Error(`${work.kind} ${work.id} was reported as finished, but it is ${status}`);
  return {
    status,
    ...(esimId !== null && { esimId }),
    ...(failureClass !== null && { failure: failureClass }),
    ...(failureEnd !== null && { endedBy: failureEnd }),
  };
}
