import type { OutboxRow } from '#db/queues/outbox.ts';
import { release, settleOutbox, takeOutbox, type TakenRequest } from '#db/queues/relay-queues.ts';
import { startedWork, readWork } from '#db/work/rows.ts';
import { HAND_OVER_DECISIONS, needsRow, type HandOverOutcome } from '#domain/relay/relay-decision.ts';
import { isFinal } from '#domain/work/lifecycle.ts';
import { quarantineOutboxRow } from '#fulfilment/operator/dead-letters.ts';
import {
  countRow,
  handleFailure,
  inParallel,
  inWorkSpan,
  WorkflowEndedError,
  type Batch,
  type RelayContext,
} from '#worker/relay/context.ts';

export async function relayOutbox(context: RelayContext): Promise<Batch> {
  const { database, policy } = context;
  const rows = await database.run((db) => takeOutbox(db, policy));
  const handedOver: OutboxRow[] = [];
  const notBegun: OutboxRow[] = [];
  await inParallel(rows, async (row) => {
    if (context.isCutOff()) notBegun.push(row);
    else if (await handOver(context, row)) handedOver.push(row);
  });
  await database.run((db) => settleOutbox(db, handedOver));
  await database.run((db) => release(db, 'outbox', notBegun));
  return { taken: rows.length, again: rows.length === policy.batch };
}

async function handOver(context: RelayContext, row: TakenRequest): Promise<boolean> {
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
    await handleFailure(context, 'outbox', row, { workId: row.subjectId }, error, (text) =>
      database.transaction((tx) => quarantineOutboxRow(tx, row, text)),
    );
    return false;
  }
}
