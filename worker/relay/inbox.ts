import { postpone, releaseRows, takePending } from '#db/queues/inbox-queue.ts';
import type { InboxRow } from '#db/queues/inbox.ts';
import { readStartedWork } from '#db/work/started-work.ts';
import { afterFailure } from '#domain/relay/relay-failure.ts';
import { quarantineInboxRow } from '#fulfilment/operator/dead-letters.ts';
import { judgeReport, type Judgement } from '#fulfilment/reports/judge-report.ts';
import { recordNotification } from '#fulfilment/reports/record-notification.ts';
import {
  CutOffError,
  countRow,
  eachOf,
  WorkflowEndedError,
  PARALLEL,
  type RelayContext,
} from '#worker/relay/context.ts';
import { describeError, failureOf } from '#worker/relay/failures.ts';
import type { Batch } from '#worker/relay/loop.ts';
import { readReport } from '#worker/relay/read-report.ts';

/** Judges reports of the service and signals them to the workflows of their work. */
export async function relayInbox(context: RelayContext): Promise<Batch> {
  const {
    database,
    policy: { batch, leaseMs },
  } = context;
  const rows = await database.run((db) => takePending(db, { batch, leaseMs }));
  const notBegun: InboxRow[] = [];
  let judgeAgain = false;
  // Reports about the same work are processed in order, those about different work in parallel.
  await eachOf([...groupBySubject(rows)], PARALLEL, async (group) => {
    for (const row of group) {
      if (context.isCutOff()) notBegun.push(row);
      else if ((await passOn(context, row)) === 'judge_again') judgeAgain = true;
    }
  });
  await database.run((db) => releaseRows(db, notBegun));
  return { taken: rows.length, again: rows.length === batch || judgeAgain };
}

async function passOn(context: RelayContext, row: InboxRow): Promise<'judge_again' | 'done'> {
  const {
    database,
    keyRing,
    policy: { leaseMs },
    now,
    logger,
  } = context;
  try {
    const judgement = await judgeReport(database, row, readReport(keyRing, row), new Date(now()), { leaseMs });
    const settled = judgement.kind === 'signal' ? await signal(context, row, judgement) : undefined;
    if (judgement.kind === 'applied' && judgement.contradiction) {
      logger.error(
        { inboxId: String(row.id), event: row.event },
        'a report of the service contradicts what is known of a purchase; a case is open',
      );
    }
    countRow(context, 'inbox', judgement.kind === 'signal' ? 'handed_over' : judgement.kind, row.receivedAt);
    return settled ?? 'done';
  } catch (error) {
    await fail(context, row, error).catch((failure: unknown) => {
      logger.warn(
        { err: failure, inboxId: String(row.id) },
        'a failure could not be stored; the row is tried again after its lease',
      );
    });
    return 'done';
  }
}

async function signal(
  { database, workflows, call }: RelayContext,
  row: InboxRow,
  { match: { work }, observation }: Extract<Judgement, { readonly kind: 'signal' }>,
): Promise<'judge_again' | 'done'> {
  const facts = await database.run((db) => readStartedWork(db, work));
  const outcome = await call(() => workflows.signalReport(facts, observation));
  const settled = await database.transaction((tx) => recordNotification(tx, row.id, work, outcome));
  if (settled === 'try_again') throw new WorkflowEndedError();
  return settled === 'judge_again' ? settled : 'done';
}

async function fail(
  { database, policy, metrics, logger, onPostponed }: RelayContext,
  row: InboxRow,
  error: unknown,
): Promise<void> {
  if (error instanceof CutOffError) return database.run((db) => releaseRows(db, [row]));
  const about = { err: error, inboxId: String(row.id), tries: row.tries };
  const next = afterFailure(failureOf(error), row, policy);
  if (next.kind === 'quarantine') {
    metrics.relayRows.inc({ queue: 'inbox', result: 'quarantined' });
    logger.error(about, 'a report of the service cannot be processed; it is quarantined and a case is open');
    return quarantineInboxRow(database, row, describeError(error));
  }
  metrics.relayRows.inc({ queue: 'inbox', result: 'postponed' });
  logger.warn(about, 'a report of the service could not be passed on; the relay tries again');
  await database.run((db) => postpone(db, row, { error: describeError(error), ...next }));
  onPostponed();
}

function groupBySubject(rows: readonly InboxRow[]): Iterable<InboxRow[]> {
  return Map.groupBy(
    rows,
    (row) => `${row.subjectKind}/${row.reference ?? row.serviceId ?? row.serviceEsimId ?? row.id}`,
  ).values();
}
