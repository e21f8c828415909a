import { and, eq } from 'drizzle-orm';
import type { KeyRing } from '#crypto/key-ring.ts';
import type { Executor } from '#db/connection/database.ts';
import { fromNow } from '#db/connection/from-now.ts';
import { accessAad, inboxBodyAad } from '#db/encryption-aads.ts';
import { postpone, releaseRows, takePending } from '#db/queues/inbox-queue.ts';
import type { InboxRow } from '#db/queues/inbox.ts';
import { inbox } from '#db/schema.ts';
import { workTable } from '#db/work/kinds.ts';
import { startedWork } from '#db/work/started-work.ts';
import type { PurchaseEvent } from '#domain/relay/observation.ts';
import { afterFailure, afterNotifying, type NotifyOutcome } from '#domain/relay/relay-decision.ts';
import type { WorkRef } from '#domain/work/kinds.ts';
import { isFinal } from '#domain/work/lifecycle.ts';
import { quarantineInboxRow } from '#fulfilment/operator/dead-letters.ts';
import { type Judgement, type JudgeOptions, judgeReport } from '#fulfilment/reports/judge-report.ts';
import { settleKnown } from '#fulfilment/reports/settle-known.ts';
import { EVENT_KINDS } from '#upstream/contract.ts';
import { parseEvent } from '#upstream/mapping/event-parsing.ts';
import { purchaseEvent } from '#upstream/mapping/purchase-events.ts';
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
  UnreadableRowError,
  WorkflowEndedError,
} from '#worker/relay/loop.ts';

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

/**
 * Decrypts and parses the event of a pending row.
 *
 * @throws UnreadableRowError when it is not an event of a purchase, because the stored data were altered.
 * @throws DecryptionError when the key ring cannot decrypt it.
 */
export function readReport(keyRing: KeyRing, row: InboxRow): PurchaseEvent {
  const found = reportInColumns(row);
  if (found !== undefined) return found;
  const body = keyRing.decrypt(row.encryptedBody, inboxBodyAad(row.deliveryId));
  const event = parseEvent(body);
  const purchase = purchaseEvent(event);
  if (purchase === undefined) throw new UnreadableRowError(row.id, `is no event of a purchase (${event.kind})`);
  return purchase;
}

/**
 * A row of the reconciler whose event the service does not send, such as a VPN subscription in progress. Its columns
 * hold the whole report.
 */
function reportInColumns({
  source,
  subjectKind,
  event,
  outcome,
  serviceId,
  reference,
}: InboxRow): PurchaseEvent | undefined {
  const isSent = EVENT_KINDS.some((kind) => kind === event);
  if (source !== 'read' || isSent || outcome !== 'processing' || subjectKind === null || serviceId === null)
    return undefined;
  return { kind: subjectKind, outcome, serviceId, ...(reference !== null && { reference }) };
}

/**
 * Stores the result of notifying a workflow. When the work has ended meanwhile, the row is judged against that end at
 * once; the share lock waits for a step that is about to end it. When no workflow was notified, the row stays pending.
 * @returns `try_again` when no workflow was notified although the work continues; the caller postpones the row.
 */
export async function recordNotification(
  tx: Executor,
  rowId: bigint,
  { kind, id }: WorkRef,
  outcome: NotifyOutcome,
): Promise<'relayed' | 'judge_again' | 'try_again'> {
  const table = workTable(kind);
  const [work] = await tx.select({ status: table.status }).from(table).where(eq(table.id, id)).for('share');
  const next = afterNotifying(outcome, work === undefined || isFinal(work.status));
  if (next === 'try_again') return next;
  await tx
    .update(inbox)
    .set(next === 'judge_again' ? { availableAt: fromNow(0) } : { state: 'relayed', lastError: null })
    .where(and(eq(inbox.id, rowId), eq(inbox.state, 'pending')));
  return next;
}
