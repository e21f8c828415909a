import type { TakenRequest } from '#db/queues/relay-queues.ts';
import { startedWork, readWork } from '#db/work/rows.ts';
import { afterHandOver, needsRow } from '#domain/relay/relay-decision.ts';
import type { WorkStart } from '#domain/work/kinds.ts';
import { inSpan } from '#telemetry/tracing.ts';
import type { RelayOptions } from '#worker/relay/relay.ts';

/** Starts or wakes the workflow of the work. */
export async function relayRequest(
  { database, workflows }: Pick<RelayOptions, 'database' | 'workflows'>,
  row: TakenRequest,
): Promise<'handed_over'> {
  const work = startedWork({ kind: row.subjectKind, id: row.subjectId }, row.start);
  const isStart = row.topic === 'start_work';
  const outcome = await inWorkSpan(isStart ? 'StartWorkflow' : 'WakeWorkflow', work, {}, async () =>
    isStart ? workflows.start(work) : workflows.wake(work),
  );
  if (needsRow(outcome)) {
    const { status } = await database.run((db) => readWork(db, work));
    const decision = afterHandOver(outcome, status);
    if (decision === 'try_again') throw new WorkflowEndedError();
    if (decision === 'wake') await workflows.wake(work);
  }
  return 'handed_over';
}

/** No workflow got the message, because it ended before its work. The row is tried again. */
export class WorkflowEndedError extends Error {
  override readonly name = 'WorkflowEndedError';

  constructor() {
    super('the workflow has ended although the work has not');
  }
}

/** The workflow and its activities continue the trace of this span. */
export function inWorkSpan<Result>(
  call: string,
  { kind, id, traceparent }: WorkStart,
  options: { readonly link?: string | null },
  work: () => Promise<Result>,
): Promise<Result> {
  const attributes = { 'reseller.work.kind': kind, 'reseller.work.id': id };
  return inSpan(`${call}:${kind}`, { kind: 'producer', parent: traceparent, attributes, ...options }, work);
}
