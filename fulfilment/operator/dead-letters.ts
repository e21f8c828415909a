/** Rows of inbox and outbox that cannot be processed. They are kept until an operator requeues or dismisses them. */
import { and, asc, eq, gt, isNotNull, isNull, ne, type SQL } from 'drizzle-orm';
import { addAuditEntry } from '#db/access/audit-log.ts';
import { noteRowsAdded } from '#db/connection/after-commit.ts';
import type { Database, Executor } from '#db/connection/database.ts';
import { fromNow } from '#db/connection/from-now.ts';
import type { PageOptions } from '#db/lists/pages.ts';
import type { InboxRow } from '#db/queues/inbox.ts';
import type { OutboxRow } from '#db/queues/outbox.ts';
import { changeHeld } from '#db/queues/relay-queues.ts';
import { inbox, outbox } from '#db/schema.ts';
import { closeCase, openCase } from '#db/work/cases.ts';
import type { Subject } from '#db/work/timeline.ts';
import type { WorkRef } from '#domain/work/kinds.ts';
import { lockMatch } from '#fulfilment/reports/match-report.ts';

/** The case is about the work that the row names, else about the delivery. `error` must hold no personal data. */
export async function quarantineInboxRow(database: Database, row: InboxRow, error: string): Promise<void> {
  const note = `Cannot be processed: ${error}`;
  // The error may come from the look-up of the work itself; then the case is about the delivery.
  const isStored = await database
    .transaction((tx) => quarantineWithCase(tx, row, note, true))
    .then(
      () => true,
      () => false,
    );
  if (!isStored) await database.transaction((tx) => quarantineWithCase(tx, row, note, false));
}

async function quarantineWithCase(tx: Executor, row: InboxRow, note: string, lookUpWork: boolean): Promise<void> {
  const work = lookUpWork ? await namedWork(tx, row) : undefined;
  const about = work === undefined ? {} : { subjectKind: work.kind, subjectId: work.id };
  if (!(await changeHeld(tx, row, { state: 'quarantined', note, ...about }))) return;
  const event = row.event === null ? 'A report of the service' : `The report ${row.event} of the service`;
  await openCase(
    tx,
    work ?? { kind: 'delivery', id: row.deliveryId },
    'message_quarantined',
    `${event} is quarantined (${deadLetterId('inbox', row.id)}). ${note}`,
  );
}

async function namedWork(tx: Executor, row: InboxRow): Promise<WorkRef | undefined> {
  const { subjectKind: kind, outcome, reference, serviceId, serviceEsimId, receivedAt } = row;
  if (kind === null || outcome === null) return undefined;
  const names = {
    ...(reference !== null && { reference }),
    ...(serviceId !== null && { serviceId }),
    ...(serviceEsimId !== null && { serviceEsimId }),
  };
  return (await lockMatch(tx, { kind, outcome, ...names }, receivedAt))?.work;
}

/** `error` must hold no personal data. */
export async function quarantineOutboxRow(tx: Executor, row: OutboxRow, error: string): Promise<void> {
  const quarantined = await tx
    .update(outbox)
    .set({ quarantinedAt: fromNow(0), lastError: error })
    .where(and(eq(outbox.id, row.id), eq(outbox.tries, row.tries)))
    .returning({ id: outbox.id });
  if (quarantined.length === 0) return;
  const what = row.topic === 'start_work' ? 'start' : 'wake';
  const detail = `The request to ${what} its workflow is quarantined (${deadLetterId('outbox', row.id)}). ${error}`;
  await openCase(tx, { kind: row.subjectKind, id: row.subjectId }, 'message_quarantined', detail);
}

/** A quarantined request that was made again has reached its workflow. */
export async function closeCaseOfRequest(tx: Executor, row: OutboxRow, now: Date): Promise<void> {
  await closeCaseOf(tx, { queue: 'outbox', row }, 'The request was made again and has reached its workflow.', now);
}

export interface DeadLetterAction {
  readonly queue: DeadLetterQueue;
  readonly rowId: bigint;
  readonly action: 'requeue' | 'dismiss';
  readonly actor: string;
  readonly reason: string;
}

/**
 * Closes its case unless another row of its subject is quarantined. @returns undefined when there is no such dead
 * letter: the caller then rolls back.
 */
export async function settleDeadLetter(
  tx: Executor,
  { queue, rowId, action, actor, reason }: DeadLetterAction,
  now: Date,
): Promise<DeadLetter | undefined> {
  const audited = { kind: 'dead_letter', id: deadLetterId(queue, rowId) } as const;
  await addAuditEntry(tx, { actor, action: `dead_letter.${action}`, subject: audited, reason }, now);
  const [found] = await quarantinedIn(tx, queue, { rowId });
  if (found === undefined) return undefined;
  const resolution = `${action === 'requeue' ? 'requeued' : 'dismissed'}: ${reason}`;
  await (action === 'requeue' ? requeue(tx, found) : dismiss(tx, found, resolution));
  await closeCaseOf(tx, found, resolution, now);
  return found;
}

async function closeCaseOf(tx: Executor, letter: DeadLetter, resolution: string, now: Date): Promise<void> {
  const subject = subjectOf(letter);
  if (!(await hasOthers(tx, letter, subject))) await closeCase(tx, subject, 'message_quarantined', resolution, now);
}

/** It has the tries of a new row. */
async function requeue(tx: Executor, { queue, row }: DeadLetter): Promise<void> {
  const again = { availableAt: fromNow(0), lastingErrors: 0 };
  if (queue === 'inbox') {
    const pending = { ...again, state: 'pending' } as const;
    await tx.update(inbox).set(pending).where(eq(inbox.id, row.id));
  } else {
    const pending = { ...again, quarantinedAt: null };
    await tx.update(outbox).set(pending).where(eq(outbox.id, row.id));
  }
  noteRowsAdded(tx, queue);
}

/** It bars nothing any more. A report is kept as `ignored` with the resolution; an outbox row is deleted. */
async function dismiss(tx: Executor, { queue, row }: DeadLetter, resolution: string): Promise<void> {
  if (queue === 'outbox') {
    await tx.delete(outbox).where(eq(outbox.id, row.id));
    return;
  }
  const note = [row.note, resolution].filter((each) => each !== null).join(' ');
  await tx.update(inbox).set({ state: 'ignored', note }).where(eq(inbox.id, row.id));
}

function subjectOf({ queue, row }: DeadLetter): Subject {
  if (queue === 'outbox') return { kind: row.subjectKind, id: row.subjectId };
  const { subjectKind: kind, subjectId: id, deliveryId } = row;
  return kind === null || id === null ? { kind: 'delivery', id: deliveryId } : { kind, id };
}

async function hasOthers(tx: Executor, { queue, row }: DeadLetter, subject: Subject): Promise<boolean> {
  const but = (own: DeadLetterQueue, other: SQL) => (own === queue ? other : undefined);
  const named: SQL | undefined =
    subject.kind === 'delivery'
      ? and(isNull(inbox.subjectId), eq(inbox.deliveryId, subject.id))
      : and(eq(inbox.subjectKind, subject.kind), eq(inbox.subjectId, subject.id));
  const reports = await tx
    .select({ id: inbox.id })
    .from(inbox)
    .where(and(eq(inbox.state, 'quarantined'), named, but('inbox', ne(inbox.id, row.id))))
    .limit(1);
  if (reports.length > 0 || subject.kind === 'delivery') return reports.length > 0;
  const requests = await tx
    .select({ id: outbox.id })
    .from(outbox)
    .where(
      and(
        isNotNull(outbox.quarantinedAt),
        eq(outbox.subjectKind, subject.kind),
        eq(outbox.subjectId, subject.id),
        but('outbox', ne(outbox.id, row.id)),
      ),
    )
    .limit(1);
  return requests.length > 0;
}

export const DEAD_LETTER_QUEUES = ['inbox', 'outbox'] as const;
export type DeadLetterQueue = (typeof DEAD_LETTER_QUEUES)[number];

export type DeadLetter =
  | { readonly queue: 'inbox'; readonly row: InboxRow }
  | { readonly queue: 'outbox'; readonly row: OutboxRow };

export function deadLetterId(queue: DeadLetterQueue, rowId: bigint): string {
  return `${queue}_${rowId}`;
}

export async function listDeadLetters(
  db: Executor,
  queue: DeadLetterQueue,
  page: PageOptions<bigint>,
): Promise<DeadLetter[]> {
  return quarantinedIn(db, queue, page);
}

async function quarantinedIn(
  db: Executor,
  queue: DeadLetterQueue,
  { rowId, limit = 1, after }: { readonly rowId?: bigint } & Partial<PageOptions<bigint>>,
): Promise<DeadLetter[]> {
  const { id } = queue === 'inbox' ? inbox : outbox;
  const isQuarantined = queue === 'inbox' ? eq(inbox.state, 'quarantined') : isNotNull(outbox.quarantinedAt);
  const which = and(
    isQuarantined,
    rowId === undefined ? undefined : eq(id, rowId),
    after === undefined ? undefined : gt(id, after),
  );
  if (queue === 'inbox') {
    const query = db.select().from(inbox).where(which).orderBy(asc(id)).limit(limit);
    return (await (rowId === undefined ? query : query.for('update'))).map((row) => ({ queue, row }));
  }
  const query = db.select().from(outbox).where(which).orderBy(asc(id)).limit(limit);
  return (await (rowId === undefined ? query : query.for('update'))).map((row) => ({ queue, row }));
}
