/** What the Temporal server counts itself: calls of its API, by its metrics, and sizes of histories. */
import { setTimeout as delay } from 'node:timers/promises';
import { Client, Connection } from '@temporalio/client';

/**
 * Calls of the server's API so far, without those that wait for work: they end by their timeout when there is none.
 *
 * @param metricsUrl of the server's Prometheus endpoint.
 */
export async function temporalCalls(metricsUrl: string): Promise<ReadonlyMap<string, number>> {
  const text = await (await fetch(metricsUrl)).text();
  const calls = new Map<string, number>();
  for (const [, labels = '', value] of text.matchAll(/^service_requests\{([^}]*)\} (\S+)$/gm)) {
    if (!labels.includes('service_name="frontend"')) continue;
    const operation = /operation="([^"]*)"/.exec(labels)?.[1] ?? '';
    calls.set(operation, (calls.get(operation) ?? 0) + Number(value));
  }
  if (calls.size === 0) throw new Error('the Temporal server tells no service_requests');
  return calls;
}

export interface HistorySize {
  readonly events: number;
  readonly bytes: number;
  /** Activities in their order. */
  readonly turns: readonly Turn[];
}

/** A step of a workflow, as its history shows it. */
export type Turn = 'local' | 'activity';

/** The server lists a workflow a moment after its end. */
const LISTED_WITHIN_MS = 10_000;
const LOOK_EVERY_MS = 200;

/** The newest completed workflows of orders. @throws Error when there is none. */
export async function historySizes(address: string, namespace: string, count: number): Promise<HistorySize[]> {
  const connection = await Connection.connect({ address });
  try {
    const client = new Client({ connection, namespace });
    const deadline = Date.now() + LISTED_WITHIN_MS;
    for (;;) {
      const sizes = await newestSizes(client, count);
      if (sizes.length > 0) return sizes;
      if (Date.now() > deadline) throw new Error(`no workflow of an order has completed in ${namespace}`);
      await delay(LOOK_EVERY_MS);
    }
  } finally {
    await connection.close();
  }
}

async function newestSizes(client: Client, count: number): Promise<HistorySize[]> {
  const sizes: HistorySize[] = [];
  const query = `WorkflowId STARTS_WITH 'order/' AND ExecutionStatus = 'Completed'`;
  for await (const { workflowId, runId } of client.workflow.list({ query, pageSize: count })) {
    const handle = client.workflow.getHandle(workflowId, runId);
    const { historyLength, historySize } = await handle.describe();
    const { events } = await handle.fetchHistory();
    sizes.push({
      events: historyLength,
      bytes: historySize ?? 0,
      turns: (events ?? []).flatMap((event): Turn[] => {
        if (event.activityTaskScheduledEventAttributes != null) return ['activity'];
        return event.markerRecordedEventAttributes?.markerName === 'core_local_activity' ? ['local'] : [];
      }),
    });
    if (sizes.length === count) break;
  }
  return sizes;
}
