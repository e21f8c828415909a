import { and, eq } from 'drizzle-orm';
import type { KeyRing } from '#crypto/key-ring.ts';
import type { Executor } from '#db/connection/database.ts';
import { fromNow } from '#db/connection/from-now.ts';
import { accessAad, inboxBodyAad } from '#db/encryption-aads.ts';
import type { InboxRow } from '#db/queues/inbox.ts';
import { inbox } from '#db/schema.ts';
import { startedWork, workTable } from '#db/work/rows.ts';
import type { PurchaseEvent } from '#domain/relay/observation.ts';
import { afterNotifying, type NotifyOutcome } from '#domain/relay/relay-decision.ts';
import type { WorkRef } from '#domain/work/kinds.ts';
import { isFinal } from '#domain/work/lifecycle.ts';
import { judgeReport } from '#fulfilment/reports/judge-report.ts';
import { EVENT_KINDS } from '#upstream/contract.ts';
import { parseEvent } from '#upstream/mapping/events.ts';
import { inWorkSpan, WorkflowEndedError } from '#worker/relay/outbox.ts';
import type { RelayOptions } from '#worker/relay/relay.ts';

/** Judges the report and signals its workflow. */
export async function relayReport(
  { database, keyRing, workflows, policy, now, logger }: RelayOptions,
  row: InboxRow,
): Promise<{ readonly result: string; readonly isToBeJudgedAgain: boolean }> {
  const report = readReport(keyRing, row);
  const judgement = await judgeReport(database, row, report, new Date(now()), policy.leaseMs, (workId, access) =>
    keyRing.encrypt(JSON.stringify(access), accessAad(workId)),
  );
  if (judgement.kind === 'applied' && judgement.contradiction) {
    logger.error(
      { inboxId: String(row.id), event: row.event },
      'a report of the service contradicts what is known of a purchase; a case is open',
    );
  }
  if (judgement.kind !== 'signal') return { result: judgement.kind, isToBeJudgedAgain: false };

  const { match, observation } = judgement;
  const started = startedWork(match.work, match.start);
  const outcome = await inWorkSpan('SignalWorkflow', started, { link: row.traceparent }, async () =>
    workflows.signalReport(started, observation),
  );
  const next = await database.transaction((tx) => recordNotification(tx, row.id, match.work, outcome));
  if (next === 'try_again') throw new WorkflowEndedError();
  return { result: 'handed_over', isToBeJudgedAgain: next === 'judge_again' };
}

export function subjectOf({ subjectKind, reference, serviceId, serviceEsimId, id }: InboxRow): string {
  return `${subjectKind}/${reference ?? serviceId ?? serviceEsimId ?? id}`;
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

export class UnreadableRowError extends Error {
  override readonly name = 'UnreadableRowError';

  constructor(rowId: bigint, what: string) {
    super(`the body of inbox row ${rowId} ${what}`);
  }
}

/** The columns hold the whole report when the service has no such event, as for a VPN subscription in progress. */
function reportInColumns(row: InboxRow): PurchaseEvent | undefined {
  const { source, subjectKind, event, outcome, serviceId, reference } = row;
  const isSent = EVENT_KINDS.some((kind) => kind === event);
  if (source !== 'read' || isSent || outcome !== 'processing' || subjectKind === null || serviceId === null)
    return undefined;
  return { kind: subjectKind, outcome, serviceId, ...(reference !== null && { reference }) };
}
