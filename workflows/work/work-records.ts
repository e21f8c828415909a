import { proxyLocalActivities, workflowInfo } from '@temporalio/workflow';
import type { PurchaseActivities, WorkSnapshot } from '#activities/work/work-types.ts';
import type { WorkRef } from '#domain/work/kinds.ts';
import type { RunMemory } from '#workflows/work/run-memory.ts';

/**
 * Short steps in PostgreSQL, repeated until the database answers. A wait between two tries is a timer of the server, so
 * that a waiting workflow does not occupy a worker. The waits grow to five minutes: an outage of a day is a history of
 * less than 2,000 events.
 */
export const database = proxyLocalActivities<Pick<PurchaseActivities, 'beginWork' | 'openNextAttempt' | 'recordStep'>>({
  startToCloseTimeout: '20s',
  localRetryThreshold: '5s',
  retry: { initialInterval: '200ms', maximumInterval: '5m' },
});

/**
 * Reads the work from PostgreSQL. A row that knows less than this run is made unknown. A send without a result counts
 * as sent unless the row proves the contrary.
 * @param isFirst true for the first read of a run, after which PostgreSQL refuses steps of earlier runs.
 */
export async function readWork(work: WorkRef, memory: RunMemory, isFirst = false): Promise<WorkSnapshot> {
  for (;;) {
    const { witness, pendingSendEpoch: sentIn } = memory;
    const known = {
      ...(witness !== undefined && { witness }),
      ...(sentIn !== undefined && { sentIn }),
      ...(isFirst && { run: workflowInfo().runId }),
    };
    const snapshot = await database.beginWork({ work, ...known });
    if (memory.mustAssumeSent(snapshot)) continue;
    memory.noteSnapshot(snapshot);
    return snapshot;
  }
}
