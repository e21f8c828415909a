import { accessAad } from '#db/encryption-aads.ts';
import { postpone, releaseRows, takePending } from '#db/queues/inbox-queue.ts';
import type { InboxRow } from '#db/queues/inbox.ts';
import { startedWork } from '#db/work/rows.ts';
import type { PurchaseEvent } from '#domain/relay/purchase-event.ts';
import { afterFailure } from '#domain/relay/relay-failure.ts';
import { quarantineInboxRow } from '#fulfilment/operator/dead-letters.ts';
import { judgeReport, type JudgeOptions, type Judgement } from '#fulfilment/reports/judge-report.ts';
import { recordNotification } from '#fulfilment/reports/record-notification.ts';
import { settleKnown } from '#fulfilment/reports/settle-known.ts';
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
import { inWorkSpan } from '#worker/relay/work-span.ts';

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
  const reports = new Map(rows.map((row) => [row.id, readOrFail(context, row)]));
  const settled = await settleTogether(context, rows, reports);
  const left = rows.filter(({ id }) => !settled.has(id));
  await eachOf([...groupBySubject(left)], PARALLEL, async (group) => {
    for (const row of group) {
      if (context.isCutOff()) notBegun.push(row);
      else if ((await passOn(context, row, reports.get(row.id))) === 'judge_again') judgeAgain = true;
    }
  });
  await database.run((db) => releaseRows(db, notBegun));
  return { taken: rows.length, again: rows.length === batch || judgeAgain };
}

type Report = PurchaseEvent | { readonly error: unknown };

function readOrFail({ keyRing }: RelayContext, row: InboxRow): Report {
  try {
    return readReport(keyRing, row);
  } catch (error) {
    return { error };
  }
}

/** Applies reports that say nothing new. @returns their ids; none after a failure: the others are judged one by one. */
async function settleTogether(
  context: RelayContext,
  rows: readonly InboxRow[],
  reports: ReadonlyMap<bigint, Report>,
): Promise<ReadonlySet<bigint>> {
  const { database, now, logger } = context;
  const read = rows.flatMap((row) => {
    const event = reports.get(row.id);
    return event === undefined || 'error' in event ? [] : [{ row, event }];
  });
  try {
    const settled = await database.run((db) => settleKnown(db, read, new Date(now())));
    for (const { id, receivedAt } of rows) if (settled.has(id)) countRow(context, 'inbox', 'applied', receivedAt);
    return settled;
  } catch (error) {
    logger.warn({ err: error }, 'known reports of the service could not be applied together; each is judged alone');
    return new Set();
  }
}

async function passOn(
  context: RelayContext,
  row: InboxRow,
  report: Report | undefined,
): Promise<'judge_again' | 'done'> {
  const {
    database,
    keyRing,
    policy: { leaseMs },
    now,
    logger,
  } = context;
  const encryptAccess: JudgeOptions['encryptAccess'] = (workId, access) =>
    keyRing.encrypt(JSON.stringify(access), accessAad(workId));
  try {
    if (report === undefined || 'error' in report) throw report?.error;
    const judgement = await judgeReport(database, row, report, new Date(now()), { leaseMs, encryptAccess });
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
  { match: { work, start }, observation }: Extract<Judgement, { readonly kind: 'signal' }>,
): Promise<'judge_again' | 'done'> {
  const started = startedWork(work, start);
  const outcome = await inWorkSpan('SignalWorkflow', started, { link: row.traceparent }, () =>
    call(() => workflows.signalReport(started, observation)),
  );
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
