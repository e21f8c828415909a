/** Invariants in Temporal at the end of a seed: limited histories, and a next step of all unfinished work. */
import { and, gt, inArray, isNull, lte, sql } from 'drizzle-orm';
import { cases, inbox, outbox } from '#db/schema.ts';
import type { WorkRef } from '#domain/work/kinds.ts';
import { isFinal } from '#domain/work/lifecycle.ts';
import { SCHEDULE_IDS } from '#temporal/schedules.ts';
import type { Poisoned } from '#test/crash/run/poison.ts';
import { TemporalOperator } from '#test/support/servers/stack-temporal.ts';
import type { Stack } from '#test/support/servers/stack.ts';
import { readWork } from '#test/support/work/books/both-sides.ts';
import { WORK_WORKFLOWS, workflowId } from '#workflows/messages.ts';

/** Temporal warns at 10,240 events and ends a workflow at 51,200. More than 2,000 are a sign of an endless loop. */
const LONGEST_HISTORY = 2_000;
/** `RelayBehind` fires when a row has waited for a minute. This limit is scaled like the waits of the proof. */
const RELAY_BEHIND_SECONDS = 10;

/** Checks all workflows of a seed, and deletes its schedules, which would keep the shared server busy. */
export async function auditTemporal(stack: Stack, poisoned: readonly Poisoned[]) {
  await using operator = await TemporalOperator.connect(stack);
  const lengths = await historyLengths(operator);
  const silent = await silentWork(stack, operator, new Set(poisoned.map(({ id }) => id)));
  for (const id of SCHEDULE_IDS) await operator.client.schedule.getHandle(id).delete();
  const long = lengths
    .filter(({ events }) => events > LONGEST_HISTORY)
    .map(({ id, events }) => `the history of ${id} has ${events} events, at most ${LONGEST_HISTORY} are allowed`);
  return { violations: [...long, ...silent], longestHistory: Math.max(0, ...lengths.map(({ events }) => events)) };
}

export async function hasEnded(stack: Stack): Promise<boolean> {
  await using operator = await TemporalOperator.connect(stack);
  const query = `WorkflowType = '${WORK_WORKFLOWS.order}' AND ExecutionStatus = 'Completed'`;
  return (await operator.client.workflow.count(query)).count > 0;
}

async function historyLengths({ client }: TemporalOperator) {
  const lengths: { readonly id: string; readonly events: number }[] = [];
  for await (const { workflowId: id, runId, status, historyLength } of client.workflow.list()) {
    // The list contains the length of closed workflows only.
    const isOpen = status.name === 'RUNNING';
    const events = isOpen ? (await client.workflow.getHandle(id, runId).describe()).historyLength : historyLength;
    lengths.push({ id, events });
  }
  return lengths;
}

async function silentWork(stack: Stack, operator: TemporalOperator, poisoned: ReadonlySet<string>): Promise<string[]> {
  const { database } = stack;
  const unfinished = (await database.run(readWork)).filter(({ id, status }) => !isFinal(status) && !poisoned.has(id));
  const visible = await withCaseOrAlert(stack, unfinished);
  const silent = await Promise.all(
    unfinished
      .filter(({ id }) => !visible.has(id))
      .map(async (work) =>
        (await hasNextStep(operator, work))
          ? []
          : [`${work.kind} ${work.id} is ${work.status} in silence: no case, no alert, no timer`],
      ),
  );
  return silent.flat();
}

/** Ids of work with an open case, or with a row that waits so long for the relay that an alert fires. */
async function withCaseOrAlert({ database }: Stack, work: readonly WorkRef[]): Promise<ReadonlySet<string>> {
  const ids = work.map(({ id }) => id);
  if (ids.length === 0) return new Set();
  const isLate = (column: typeof inbox.receivedAt | typeof outbox.createdAt) =>
    lte(column, sql`now() - make_interval(secs => ${RELAY_BEHIND_SECONDS})`);
  const isOpen = and(inArray(cases.subjectId, ids), isNull(cases.closedAt));
  const isUnsent = and(inArray(outbox.subjectId, ids), isLate(outbox.createdAt));
  const isTried = and(
    inArray(inbox.subjectId, ids),
    sql`${inbox.state} = 'pending'`,
    gt(inbox.tries, 0),
    isLate(inbox.receivedAt),
  );
  const found = await database.run((db) =>
    Promise.all([
      db.select({ id: cases.subjectId }).from(cases).where(isOpen),
      db.select({ id: outbox.subjectId }).from(outbox).where(isUnsent),
      db.select({ id: inbox.subjectId }).from(inbox).where(isTried),
    ]),
  );
  return new Set(found.flat().flatMap(({ id }) => id ?? []));
}

async function hasNextStep({ client }: TemporalOperator, work: WorkRef): Promise<boolean> {
  const handle = client.workflow.getHandle(workflowId(work));
  try {
    const { status, raw } = await handle.describe();
    if (status.name !== 'RUNNING') return false;
    if ((raw.pendingActivities ?? []).length > 0 || raw.pendingWorkflowTask != null) return true;
    const events = (await handle.fetchHistory()).events ?? [];
    const ended = new Set(
      events.flatMap(({ timerFiredEventAttributes: fired, timerCanceledEventAttributes: cancelled }) => {
        const id = fired?.startedEventId ?? cancelled?.startedEventId;
        return id == null ? [] : [String(id)];
      }),
    );
    return events.some((event) => event.timerStartedEventAttributes != null && !ended.has(String(event.eventId)));
  } catch {
    return false;
  }
}
