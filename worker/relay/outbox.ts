import {
  type OutboxRow,
  postponeOutbox,
  releaseOutbox,
  settleOutbox,
  type TakenOutboxRow,
  takeOutbox,
} from '#db/queues/outbox.ts';
import { startedWork } from '#db/work/started-work.ts';
import { readWork } from '#db/work/work-rows.ts';
import { afterFailure, HAND_OVER_DECISIONS, type HandOverOutcome, needsRow } from '#domain/relay/relay-decision.ts';
import { isFinal } from '#domain/work/lifecycle.ts';
import { quarantineOutboxRow } from '#fulfilment/operator/dead-letters.ts';
import {
  type Batch,
  countRow,
  CutOffError,
  describeError,
  eachOf,
  failureOf,
  inWorkSpan,
  PARALLEL,
  type RelayContext,
  WorkflowEndedError,
} from '#worker/relay/loop.ts';

/** Starts and wakes the workflows that outbox rows request. */
export async function relayOutbox(context: RelayContext): Promise<Batch> {
  const {
    database,
    policy: { batch, leaseMs },
  } = context;
  const rows = await database.run((db) => takeOutbox(db, { batch, leaseMs }));
  const handedOver: OutboxRow[] = [];
  const notBegun: OutboxRow[] = [];
  await eachOf(rows, PARALLEL, async (row) => {
    if (context.isCutOff()) notBegun.push(row);
    else if (await handOver(context, row)) handedOver.push(row);
  });
  await database.run((db) => settleOutbox(db, handedOver));
  await database.run((db) => releaseOutbox(db, notBegun));
  return { taken: rows.length, again: rows.length === batch };
}

/** @returns true when the row is finished. */
async function handOver(context: RelayContext, row: TakenOutboxRow): Promise<boolean> {
  const { database, workflows, call } = context;
  try {
    const work = startedWork({ kind: row.subjectKind, id: row.subjectId }, row.start);
    const outcome = await inWorkSpan(row.topic === 'start_work' ? 'StartWorkflow' : 'WakeWorkflow', work, {}, () =>
      call<HandOverOutcome>(() => (row.topic === 'start_work' ? workflows.start(work) : workflows.wake(work))),
    );
    if (needsRow(outcome)) {
      const { status } = await database.run((db) => readWork(db, work));
      const progress = isFinal(status) ? 'ended' : status === 'accepted' ? 'accepted' : 'in_progress';
      const decision = HAND_OVER_DECISIONS[outcome][progress];
      if (decision === 'try_again') throw new WorkflowEndedError();
      if (decision === 'wake') await call(() => workflows.wake(work));
    }
    countRow(context, 'outbox', 'handed_over', row.createdAt);
    return true;
  } catch (error) {
    await fail(context, row, error).catch((failure: unknown) => {
      context.logger.warn(
        { err: failure, workId: row.subjectId },
        'a failure could not be stored; the row is tried again after its lease',
      );
    });
    return false;
  }
}

async function fail(
  { database, policy, metrics, logger, onPostponed }: RelayContext,
  row: OutboxRow,
  error: unknown,
): Promise<void> {
  if (error instanceof CutOffError) return database.run((db) => releaseOutbox(db, [row]));
  const about = { err: error, workId: row.subjectId, tries: row.tries };
  const next = afterFailure(failureOf(error), row, policy);
  if (next.kind === 'quarantine') {
    metrics.relayRows.inc({ queue: 'outbox', result: 'quarantined' });
    logger.error(about, 'a workflow cannot be started or woken; the request is quarantined and a case is open');
    return database.transaction((tx) => quarantineOutboxRow(tx, row, describeError(error)));
  }
  metrics.relayRows.inc({ queue: 'outbox', result: 'postponed' });
  logger.warn(about, 'a workflow could not be started or woken; the relay tries again');
  await database.run((db) => postponeOutbox(db, row, { error: describeError(error), ...next }));
  onPostponed();
}
