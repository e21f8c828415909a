/** PostgreSQL counts these itself. `pg_stat_statements` is loaded for all contestants. */

import { setTimeout as delay } from 'node:timers/promises';
import { Client, Connection } from '@temporalio/client';
import * as z from 'zod';
import { withClient } from '#cli/embedded/postgres.ts';

/** Marks statements of the benchmark, which are not counted. */
const OWN_STATEMENT = '/* bench */';

/** A server process writes its counts at most once a second, an idle one after ten seconds. */
export const WRITTEN_DOWN_AFTER_MS = 11_000;

export const COUNTING_SETTINGS = {
  shared_preload_libraries: 'pg_stat_statements',
  'pg_stat_statements.max': '10000',
  // Statements within functions belong to their caller.
  'pg_stat_statements.track': 'top',
} as const;

const server = z.object({ commits: z.coerce.number(), wal_bytes: z.coerce.number(), fsyncs: z.coerce.number() });
const statements = z.array(z.object({ query: z.string(), calls: z.coerce.number() }));

/** WAL and fsyncs are those of the server, the rest of one database. */
export async function readPostgres(url: string) {
  return withClient(url, async (client) => {
    await client.query(`${OWN_STATEMENT} create extension if not exists pg_stat_statements`);
    const { rows } = await client.query<object>(SERVER);
    const [{ commits, wal_bytes: walBytes, fsyncs }] = z.tuple([server]).parse(rows);
    const counted = statements.parse((await client.query<object>(STATEMENTS)).rows);
    return { statements: new Map(counted.map(({ query, calls }) => [query, calls])), commits, walBytes, fsyncs };
  });
}

const SERVER = `select ${OWN_STATEMENT}
  (select xact_commit from pg_stat_database where datname = current_database()) as commits,
  pg_current_wal_insert_lsn() - '0/0'::pg_lsn as wal_bytes,
  (select sum(fsyncs) from pg_stat_io) as fsyncs`;

const STATEMENTS = `select ${OWN_STATEMENT} query, sum(calls) as calls
  from pg_stat_statements
  where dbid = (select oid from pg_database where datname = current_database()) and query not like '%${OWN_STATEMENT}%'
  group by query`;

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

interface HistorySize {
  readonly events: number;
  readonly bytes: number;
  readonly turns: readonly Turn[];
}

type Turn = 'local' | 'activity';

/** The server lists a workflow a moment after its end. */
const LISTED_WITHIN_MS = 10_000;
const LOOK_EVERY_MS = 200;

/** @throws Error when no order has completed. */
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
