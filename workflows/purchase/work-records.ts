import { proxyLocalActivities } from '@temporalio/workflow';
import type { PurchaseActivities, WorkSnapshot } from '#activities/work/work-types.ts';
import type { RunContext } from '#workflows/purchase/work-state.ts';

/**
 * Short steps in PostgreSQL: retried until the database is back. Every wait between two tries is a timer of the server,
 * so that a workflow that waits is not kept in a worker; the waits grow to five minutes, so that an outage of a day is
 * a history of less than 2,000 events.
 */
export const database = proxyLocalActivities<Pick<PurchaseActivities, 'beginWork' | 'openNextAttempt' | 'recordStep'>>({
  startToCloseTimeout: '20s',
  localRetryThreshold: '5s',
  retry: { initialInterval: '200ms', maximumInterval: '5m' },
});

/**
 * Reads the work from PostgreSQL, with what the run knows: a row that knows less is made unknown. A send of which
 * nothing was heard is reckoned with where the row's silence proves nothing.
 */
export async function readWork({
  input: { work },
  memory,
}: Pick<RunContext, 'input' | 'memory'>): Promise<WorkSnapshot> {
  for (;;) {
    const { witness, pendingSendEpoch: sentIn } = memory;
    const known = { ...(witness !== undefined && { witness }), ...(sentIn !== undefined && { sentIn }) };
    const snapshot = await database.beginWork({ work, ...known });
    if (memory.reckonsWithSend(snapshot)) continue;
    memory.noteSnapshot(snapshot);
    return snapshot;
  }
}
