import { attemptKey } from '#crypto/derived-ids.ts';
import type { Executor } from '#db/connection/database.ts';
import { requestBodyAad } from '#db/encryption-aads.ts';
import { inboxKey, type InboxRow } from '#db/queues/inbox.ts';
import { areSettled, findAttempt, readProgress } from '#db/work/attempts.ts';
import { lockWorkInEpoch, type AttemptRow, type WorkRow } from '#db/work/rows.ts';
import { addUnrepeatedEntry } from '#db/work/timeline.ts';
import { plainMoney, plainText } from '#domain/money/money.ts';
import type { OpenResult, PurchaseActivities, WorkSnapshot } from '#domain/purchase/results.ts';
import type { ServiceObservation } from '#domain/relay/observation.ts';
import { retryRule, ruleOfWork } from '#domain/retry/retry-rules.ts';
import { KINDS, type WorkRef } from '#domain/work/kinds.ts';
import { startOfRun } from '#domain/work/lifecycle.ts';
import { noteCompared, restoreAttempts } from '#fulfilment/attempts/recover.ts';
import { openAttempt } from '#fulfilment/purchase/attempt.ts';
import { attemptSnapshot, type WorkDependencies, type WorkHandlers } from '#fulfilment/purchase/handler.ts';
import { buyingBarrier } from '#fulfilment/work/buying-barrier.ts';
import { updateWork } from '#fulfilment/work/change.ts';

export function attemptOpening(
  { database, keyRing, sendLeaseMs, now, purchaseInForce }: WorkDependencies,
  handlers: WorkHandlers,
): Pick<PurchaseActivities, 'beginWork' | 'openNextAttempt'> {
  const openNumbered = async (tx: Executor, work: WorkRef, row: WorkRow, number: number): Promise<AttemptRow> => {
    const { reference, serviceEsimId, body } = await handlers[work.kind].prepare(tx, row, number);
    const prepared = {
      work,
      number,
      idempotencyKey: attemptKey(keyRing, work, number),
      reference,
      serviceEsimId,
      encryptedBody: (attemptId: string) => keyRing.encrypt(body, requestBodyAad(attemptId)),
    };
    const attempt = await openAttempt(tx, prepared);
    await addUnrepeatedEntry(tx, work, {
      event: 'attempt.prepared',
      message:
        `Attempt ${number} was prepared: its key${reference === undefined ? '' : ', reference'} and exact ` +
        'body are stored.',
      detail: { attempt: number, ...(reference !== undefined && { reference }) },
      dedupKey: `attempt.prepared:${number}`,
    });
    return attempt;
  };

  /** Stored with the work, so that later grants count from there. */
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

  return {
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
        const isFirstSinceRestart = await noteCompared(tx, work, row, { epoch, sentIn });
        const { current: known, reports } = await readProgress(tx, work);
        const attempt = known ?? (await openNumbered(tx, work, row, 1));
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
  };
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
