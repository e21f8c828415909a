import { and, eq } from 'drizzle-orm';
import type { KeyRing } from '#crypto/key-ring.ts';
import type { Executor } from '#db/connection/database.ts';
import { fromNow } from '#db/connection/from-now.ts';
import { accessAad, inboxBodyAad } from '#db/encryption-aads.ts';
import type { InboxRow } from '#db/queues/inbox.ts';
import { release, takeInbox } from '#db/queues/relay-queues.ts';
import { inbox } from '#db/schema.ts';
import { startedWork, workTable } from '#db/work/rows.ts';
import type { PurchaseEvent } from '#domain/relay/observation.ts';
import { afterNotifying, type NotifyOutcome } from '#domain/relay/relay-decision.ts';
import type { WorkRef } from '#domain/work/kinds.ts';
import { isFinal } from '#domain/work/lifecycle.ts';
import { quarantineInboxRow } from '#fulfilment/operator/dead-letters.ts';
import { judgeReport, type Judgement } from '#fulfilment/reports/judge-report.ts';
import { settleKnown } from '#fulfilment/reports/settle-known.ts';
import { EVENT_KINDS } from '#upstream/contract.ts';
import { parseEvent } from '#upstream/mapping/events.ts';
import {
  countRow,
  handleFailure,
  inParallel,
  inWorkSpan,
  UnreadableRowError,
  WorkflowEndedError,
  type Batch,
  type RelayContext,
} from '#worker/relay/context.ts';

export async function relayInbox(context: RelayContext): Promise<Batch> {
  const { database, policy } = context;
  const rows = await database.run((db) => takeInbox(db, policy));
  const reports = new Map(rows.map((row) => [row.id, readOrFail(context, row)]));
  const settled = await settleTogether(context, rows, reports);
  const left = rows.filter(({ id }) => !settled.has(id));
  const notBegun: InboxRow[] = [];
  let judgeAgain = false;
  // Reports about the same work are processed in order, those about different work in parallel.
  await inParallel([...Map.groupBy(left, subjectOf).values()], async (group) => {
    for (const row of group) {
      if (context.isCutOff()) notBegun.push(row);
      else if ((await passOn(context, row, reports.get(row.id))) === 'judge_again') judgeAgain = true;
    }
  });
  await database.run((db) => release(db, 'inbox', notBegun));
  return { taken: rows.length, again: rows.length === policy.batch || judgeAgain };
}

function subjectOf({ subjectKind, reference, serviceId, serviceEsimId, id }: InboxRow): string {
  return `${subjectKind}/${reference ?? serviceId ?? serviceEsimId ?? id}`;
}

type ReadRow = PurchaseEvent | { readonly error: unknown };

function readOrFail({ keyRing }: RelayContext, row: InboxRow): ReadRow {
  try {
    return readReport(keyRing, row);
  } catch (error) {
    return { error };
  }
}

/** @returns the ids of applied rows; none after a failure: the others are judged one by one. */
async function settleTogether(
  context: RelayContext,
  rows: readonly InboxRow[],
  reports: ReadonlyMap<bigint, ReadRow>,
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
  report: ReadRow | undefined,
): Promise<'judge_again' | 'done'> {
  const { database, keyRing, policy, now, logger } = context;
  try {
    if (report === undefined || 'error' in report) throw report?.error;
    const judgement = await judgeReport(database, row, report, new Date(now()), {
      leaseMs: policy.leaseMs,
      encryptAccess: (workId, access) => keyRing.encrypt(JSON.stringify(access), accessAad(workId)),
    });
    const settled = judgement.kind === 'signal' ? await signal(context, row, judgement) : 'done';
    if (judgement.kind === 'applied' && judgement.contradiction) {
      logger.error(
        { inboxId: String(row.id), event: row.event },
        'a report of the service contradicts what is known of a purchase; a case is open',
      );
    }
    countRow(context, 'inbox', judgement.kind === 'signal' ? 'handed_over' : judgement.kind, row.receivedAt);
    return settled;
  } catch (error) {
    await handleFailure(context, 'inbox', row, { inboxId: String(row.id) }, error, (text) =>
      quarantineInboxRow(database, row, text),
    );
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

/**
 * Judges the row at once when its work has ended: the share lock waits for a step that is about to end it.
 * `try_again`: no workflow was notified although the work continues; the caller postpones the row.
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

/** @throws UnreadableRowError when the stored data were altered. @throws DecryptionError without the key. */
export function readReport(keyRing: KeyRing, row: InboxRow): PurchaseEvent {
  const found = reportInColumns(row);
  if (found !== undefined) return found;
  const event = parseEvent(keyRing.decrypt(row.encryptedBody, inboxBodyAad(row.deliveryId)));
  if (event.kind !== 'purchase') throw new UnreadableRowError(row.id, `is no event of a purchase (${event.kind})`);
  return event.purchase;
}

/** The columns hold the whole report when the service has no such event, as for a VPN subscription in progress. */
function reportInColumns(row: InboxRow): PurchaseEvent | undefined {
  const { source, subjectKind, event, outcome, serviceId, reference } = row;
  const isSent = EVENT_KINDS.some((kind) => kind === event);
  if (source !== 'read' || isSent || outcome !== 'processing' || subjectKind === null || serviceId === null)
    return undefined;
  return { kind: subjectKind, outcome, serviceId, ...(reference !== null && { reference }) };
}
