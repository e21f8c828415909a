import { ApplicationFailure } from '@temporalio/common';
import { createAbsenceProof } from '#activities/evidence/absence.ts';
import { createDebitEvidence } from '#activities/evidence/debit-evidence.ts';
import { createLookUp } from '#activities/evidence/look-up-purchase.ts';
import { WalletReadings } from '#activities/evidence/wallet-readings.ts';
import { createCompletion } from '#activities/purchases/complete-purchase.ts';
import { createSendPurchase } from '#activities/sending/send-purchase.ts';
import { workHandlers } from '#activities/work/kinds.ts';
import { restoreAttempts } from '#activities/work/restore-attempts.ts';
import { createSubscription } from '#activities/work/subscription-activities.ts';
import { attemptSnapshot, type WorkDependencies } from '#activities/work/work-dependencies.ts';
import type {
  OpenResult,
  PurchaseActivities,
  StepRecord,
  SubscriptionActivities,
  WorkSnapshot,
} from '#activities/work/work-types.ts';
import { attemptKey } from '#crypto/derived-ids.ts';
import { areSettled, findAttempt, readProgress } from '#db/attempts/attempts.ts';
import { runWrites, type Write } from '#db/connection/alongside.ts';
import { type Database, type Executor, isBadData } from '#db/connection/database.ts';
import { requestBodyAad } from '#db/encryption-aads.ts';
import { inboxKey, type InboxRow } from '#db/queues/inbox.ts';
import type { WorkRow } from '#db/work/kinds.ts';
import type { AttemptRow } from '#db/work/rows.ts';
import { timelineEntry } from '#db/work/timeline.ts';
import { lockWorkInEpoch, readWork, RowMissingError, WorkFinishedError, WorkMissingError } from '#db/work/work-rows.ts';
import { plainMoney, plainText } from '#domain/money/money.ts';
import type { ServiceObservation } from '#domain/relay/observation.ts';
import { retryRule, ruleOfWork } from '#domain/retry/retry-rules.ts';
import type { FailureDetail } from '#domain/work/failure.ts';
import { KINDS, type WorkRef } from '#domain/work/kinds.ts';
import { isFinal } from '#domain/work/lifecycle.ts';
import { startOfRun } from '#domain/work/task-position.ts';
import type { WorkEnd } from '#domain/work/work-end.ts';
import { buyingBarrier } from '#fulfilment/attempts/buying-barrier.ts';
import { openAttempt } from '#fulfilment/attempts/open-attempt.ts';
import { comparison } from '#fulfilment/attempts/restored-attempts.ts';
import { performAction } from '#fulfilment/operator/perform-action.ts';
import { recordStep } from '#fulfilment/work/record-step.ts';
import { markRefundNeedsAttention } from '#fulfilment/work/settle-refund.ts';
import { updateWork } from '#fulfilment/work/update-work.ts';
import { ACTION_REFUSED, WORK_FINISHED, WORK_MISSING } from '#workflows/messages.ts';

type WorkActivities = PurchaseActivities & SubscriptionActivities;

/** Makes the activities of the work workflows, and translates errors to results or Temporal failures. */
export function createWorkActivities(dependencies: WorkDependencies): WorkActivities {
  const { database, keyRing, sendLeaseMs, now, purchaseInForce } = dependencies;
  const handlers = workHandlers(dependencies);

  const openNumbered = async (
    tx: Executor,
    work: WorkRef,
    row: WorkRow,
    number: number,
    writes: readonly Write[] = [],
  ): Promise<AttemptRow> => {
    const { reference, serviceEsimId, body } = await handlers[work.kind].prepare(tx, row, number);
    const prepared = {
      work,
      number,
      idempotencyKey: attemptKey(keyRing, work, number),
      reference,
      serviceEsimId,
      encryptedBody: (attemptId: string) => keyRing.encrypt(body, requestBodyAad(attemptId)),
    };
    const entry = timelineEntry(work, {
      event: 'attempt.prepared',
      message:
        `Attempt ${number} was prepared: its key${reference === undefined ? '' : ', reference'} and exact ` +
        'body are stored.',
      detail: { attempt: number, ...(reference !== undefined && { reference }) },
      dedupKey: `attempt.prepared:${number}`,
    });
    return openAttempt(tx, prepared, [entry, ...writes]);
  };

  const readings = dependencies.readings ?? new WalletReadings(dependencies);
  const readDebitEvidence = createDebitEvidence(dependencies, readings);
  /**
   * The number of attempts that the present policy allows, with the operators' overrides and grants. Stored with the
   * work, so that later grants count from there.
   */
  const attemptsInForce = async (tx: Executor, work: WorkRef, row: WorkRow) => {
    const { retryRule: stored, retryOverrides, extraAttempts } = row;
    const rule = retryRule('supplier_failed', await purchaseInForce(tx));
    if (stored !== null && rule.attempts < stored.attempts) {
      await updateWork(tx, work, row, {
        retryRule: { ...stored, attempts: rule.attempts },
        updatedAt: new Date(now()),
      });
    }
    return ruleOfWork(rule, retryOverrides ?? {}, extraAttempts).attempts;
  };

  const activities: WorkActivities = {
    beginWork: ({ work, witness, sentIn, run }) =>
      database.transaction(async (tx): Promise<WorkSnapshot> => {
        const { row, epoch } = await lockWorkInEpoch(tx, work);
        // Only a run that follows another one writes this.
        const earlierRun = row.recordedIn?.runId;
        if (run !== undefined && earlierRun !== undefined && earlierRun !== run)
          await updateWork(tx, work, row, { recordedIn: startOfRun(run) });
        const open = (executor: Executor, number: number) => openNumbered(executor, work, row, number);
        const tools = { open, leaseMs: sendLeaseMs };
        const isRestored = witness !== undefined && (await restoreAttempts(tx, work, row, witness, tools));
        const { isFirstSinceRestart, writes } = comparison(tx, work, row, { epoch, sentIn });
        const { current: known, reports } = await readProgress(tx, work);
        const attempt = known ?? (await openNumbered(tx, work, row, 1, writes));
        if (known !== undefined) await runWrites(tx, writes);
        const maxPrice = plainMoney(row.maxPriceAmount, row.maxPriceCurrency);
        const subscription = await handlers[work.kind].subscription?.(tx, work.id);
        const cancellation = await handlers[work.kind].cancellation?.(tx, work.id);
        return {
          status: row.status,
          acceptedAt: row.createdAt.getTime(),
          attempt: attemptSnapshot(attempt),
          epoch,
          ...(isRestored && { isRestored }),
          ...(isFirstSinceRestart && { isFirstSinceRestart }),
          extraAttempts: row.extraAttempts,
          observations: reports.flatMap((each) => observationOf(each, attempt, epoch)),
          ...(row.attentionReason !== null && { attention: row.attentionReason }),
          ...(row.retryOverrides !== null && { retryOverrides: row.retryOverrides }),
          ...(row.nextStepAt !== null && { nextStepAt: row.nextStepAt.getTime() }),
          ...(row.failureClass !== null && { failure: row.failureClass }),
          ...(maxPrice !== null && { maxPrice: plainText(maxPrice) }),
          ...(row.deadlineAt !== null && { deadlineAt: row.deadlineAt.getTime() }),
          ...(subscription !== undefined && { subscription }),
          ...(cancellation !== undefined && { cancellation }),
        };
      }),

    openNextAttempt: ({ work, number }) =>
      database.transaction(async (tx): Promise<OpenResult> => {
        const { row, epoch } = await lockWorkInEpoch(tx, work);
        const known = await findAttempt(tx, work, number);
        if (known !== undefined) return { kind: 'opened', attempt: attemptSnapshot(known) };
        if (row.comparedEpoch !== epoch) return { kind: 'not_compared' };
        const by = await buyingBarrier(tx, work);
        if (by !== undefined) return { kind: 'barred', by };
        const attempts = await attemptsInForce(tx, work, row);
        if (number > attempts) return { kind: 'not_allowed', attempts };
        if (KINDS[work.kind].isPurchase && !(await areSettled(tx, work))) return { kind: 'unsettled' };
        return { kind: 'opened', attempt: attemptSnapshot(await openNumbered(tx, work, row, number)) };
      }),

    recordStep: (step) =>
      database.transaction(async (tx) => {
        const failure = await inServiceWords(tx, step);
        const whenUsedUp = failure?.endedBy === undefined ? undefined : (await purchaseInForce(tx)).whenUsedUp;
        const recorded = await recordStep(tx, step.work, { ...workStep(step), failure, whenUsedUp }, new Date(now()));
        const isOfRefund = step.attention?.reason === 'refund_failed' || step.attention?.reason === 'refund_missing';
        if (recorded === 'recorded' && isOfRefund) await markRefundNeedsAttention(tx, step.work.id, new Date(now()));
        return recorded;
      }),

    async actOnWork({ work, action, operator }) {
      // The workflow itself performs the action, so it need not be woken.
      const request = { work, action, operator, owner: undefined, wakesWorkflow: false };
      const outcome = await performAction(database, request, new Date(now())).catch(refuseBadData);
      if (outcome.kind === 'missing') throw new WorkMissingError(work);
      if (outcome.kind === 'refused') throw ApplicationFailure.nonRetryable(outcome.detail, ACTION_REFUSED);
      return outcome.kind;
    },

    sendPurchase: createSendPurchase(dependencies, handlers, readings),
    lookUpPurchase: createLookUp(dependencies, handlers),
    readDebitEvidence,
    proveAbsence: createAbsenceProof(dependencies, handlers, readDebitEvidence),
    completePurchase: createCompletion(dependencies, handlers),
    ...createSubscription(dependencies),
  };
  return translateErrors(activities, database);
}

/** Refuses data that PostgreSQL rejects: a retry would not help, and a caller waits for the answer. */
function refuseBadData(error: unknown): never {
  if (!isBadData(error)) throw error;
  throw ApplicationFailure.nonRetryable('It cannot be stored as it is.', ACTION_REFUSED);
}

function observationOf(row: InboxRow, latest: AttemptRow, epoch: string): ServiceObservation[] {
  // A row that the relay has not judged yet reaches the workflow as a signal.
  if (row.decision === null || row.decision === 'known' || row.outcome === null) return [];
  return [
    {
      inboxId: inboxKey(row),
      epoch,
      source: row.source,
      attemptNumber: latest.number,
      outcome: row.outcome,
      decision: row.decision,
    },
  ];
}

function workStep(step: StepRecord) {
  return {
    status: step.status,
    entry: {
      event: step.event,
      message: step.message,
      detail: {
        attempt: step.attemptNumber,
        ...(step.failure !== undefined && { failure_class: step.failure.class }),
        ...(step.attention !== undefined && { attention_reason: step.attention.reason }),
      },
      dedupKey: step.stepKey,
    },
    attention: step.attention,
    ...(step.attemptState !== undefined && { judged: { number: step.attemptNumber, state: step.attemptState } }),
    nextStepAt: step.nextStepAt === undefined ? undefined : new Date(step.nextStepAt),
    retryRule: step.retryRule,
    task: step.task,
    applied: step.applied,
  };
}

/** The failure with the reason that the service gave for it, which the workflow does not know. */
async function inServiceWords(
  tx: Executor,
  { work, attemptNumber, failure }: StepRecord,
): Promise<FailureDetail | undefined> {
  if (failure === undefined) return undefined;
  const attempt = await findAttempt(tx, work, attemptNumber);
  const { failureClass, serviceMessage = null } = attempt ?? {};
  return failureClass !== failure.class || serviceMessage === null ? failure : { ...failure, serviceMessage };
}

/**
 * Translates ended or missing work to Temporal failures that are not retried. Other errors pass and are retried by the
 * policy of the activity.
 */
function translateErrors(activities: WorkActivities, database: Database): WorkActivities {
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
  // Same names and signatures: each entry is only wrapped.
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

/** The end of finished work, from its row. */
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
