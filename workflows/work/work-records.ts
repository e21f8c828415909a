import { proxyLocalActivities, workflowInfo } from '@temporalio/workflow';
import type { RecordResult } from '#domain/purchase/purchase-decision.ts';
import type { OpenResult, PurchaseActivities, StepRecord, WorkSnapshot } from '#domain/purchase/results.ts';
import { KINDS, type WorkRef } from '#domain/work/kinds.ts';
import type { TaskPosition } from '#domain/work/lifecycle.ts';
import type { RunMemory } from '#workflows/work/run-memory.ts';

/**
 * Waits between tries are timers of the server, so a waiting workflow occupies no worker. They grow to five minutes:
 * an outage of a day makes less than 2,000 events.
 * A replay compares the types of local activities, so a type is never renamed. Summaries are not compared.
 */
function database(summary: string) {
  return proxyLocalActivities<Pick<PurchaseActivities, 'beginWork' | 'openNextAttempt' | 'recordStep'>>({
    startToCloseTimeout: '20s',
    localRetryThreshold: '5s',
    retry: { initialInterval: '200ms', maximumInterval: '5m' },
    summary,
  });
}

export async function recordStep(step: StepRecord): Promise<RecordResult> {
  const cause = step.attention?.reason ?? step.failure?.class;
  return database(`Record ${step.event}${cause === undefined ? '' : ` (${cause})`}`).recordStep(step);
}

export async function openNextAttempt(work: WorkRef, number: number): Promise<OpenResult> {
  return database(`Store key and body of attempt ${number}`).openNextAttempt({ work, number });
}

/**
 * A row that knows less than this run is made unknown. A send without a result counts as sent unless the row proves
 * the contrary. After the first read PostgreSQL refuses steps of earlier runs.
 */
export async function readWork(work: WorkRef, memory: RunMemory, isFirst = false): Promise<WorkSnapshot> {
  const summary = `Read the ${KINDS[work.kind].noun} from PostgreSQL`;
  for (;;) {
    const { witness, pendingSendEpoch: sentIn } = memory;
    const known = {
      ...(witness !== undefined && { witness }),
      ...(sentIn !== undefined && { sentIn }),
      ...(isFirst && { run: workflowInfo().runId }),
    };
    const snapshot = await database(summary).beginWork({ work, ...known });
    if (memory.mustAssumeSent(snapshot)) continue;
    memory.noteSnapshot(snapshot);
    return snapshot;
  }
}

export function taskPosition(): TaskPosition {
  const { runId, historyLength } = workflowInfo();
  return { runId, historyLength, at: Date.now() };
}
