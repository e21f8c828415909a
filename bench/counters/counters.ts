import { setTimeout as delay } from 'node:timers/promises';
import { cpuSpentBy, type Processes } from '#bench/counters/processes.ts';
import { historySizes, readPostgres, temporalCalls, WRITTEN_DOWN_AFTER_MS } from '#bench/counters/server-counters.ts';
import { median, sum } from '#bench/results.ts';
import type { BenchServers } from '#bench/support/context.ts';
import { type Contestant, sandboxOf } from '#bench/support/orders.ts';

export interface OrderCounts {
  readonly counts: Readonly<Record<Counter, number>>;
  /** CPU milliseconds by process; empty where the system does not tell. */
  readonly cpu: Readonly<Record<string, number>>;
  readonly statements: readonly (readonly [query: string, calls: number])[];
  readonly operations: readonly (readonly [operation: string, calls: number])[];
}

export const COUNTERS = {
  statements: { unit: 'statements', measured: 'statements of PostgreSQL, BEGIN and COMMIT included' },
  transactions: { unit: 'transactions', measured: 'explicit transactions' },
  commits: { unit: 'commits', measured: 'commits, those of single statements included' },
  wal_bytes: { unit: 'bytes', measured: 'write-ahead log of PostgreSQL' },
  fsyncs: { unit: 'fsyncs', measured: 'fsyncs of PostgreSQL' },
  history_events: { unit: 'events', measured: 'events in the history of the workflow' },
  history_bytes: { unit: 'bytes', measured: 'history of the workflow' },
  temporal_calls: { unit: 'calls', measured: 'calls of the Temporal server, without those that wait for work' },
  service_calls: { unit: 'calls', measured: 'calls of the service' },
} as const;
export type Counter = keyof typeof COUNTERS;

/** After an order's end its webhook is judged, and its events are published. */
const AFTERWORK_MS = 1_000;
const HISTORIES = 5;
/** These calls end when there is work, or by their timeout. */
const WAITING = /^Poll/;
/** Every other statement is a transaction by itself. */
const BEGIN = /^\s*(?:begin|start transaction)\b/i;

/** WAL and fsyncs are those of the whole server, so nobody else may work meanwhile. */
export async function countOrders(
  context: BenchServers,
  contestant: Contestant,
  orders: number,
  work: () => Promise<unknown>,
): Promise<OrderCounts> {
  await settled(context);
  const before = await read(context, contestant);
  const { cpu } = await cpuSpentBy(processesOf(context, contestant), async () => {
    await work();
    await delay(AFTERWORK_MS);
  });
  const after = await read(context, contestant);
  await settled(context);
  // Only these are written late; all others would count the processes' idling.
  const { commits, fsyncs } = await readPostgres(contestant.databaseUrl);
  const statements = callsBetween(before.postgres.statements, after.postgres.statements);
  const { namespace } = contestant;
  const called = namespace === undefined ? [] : callsBetween(before.operations, after.operations);
  const operations = called.filter(([name]) => !WAITING.test(name));
  const history =
    namespace === undefined
      ? [{ events: 0, bytes: 0 }]
      : await historySizes(context.temporalAddress, namespace, HISTORIES);
  const counts = {
    statements: sumOf(statements),
    transactions: sumOf(statements.filter(([query]) => BEGIN.test(query))),
    commits: commits - before.postgres.commits,
    wal_bytes: after.postgres.walBytes - before.postgres.walBytes,
    fsyncs: fsyncs - before.postgres.fsyncs,
    temporal_calls: sumOf(operations),
    service_calls: after.service - before.service,
  };
  return {
    counts: {
      ...byOrder(counts, orders),
      history_events: median(history.map(({ events }) => events)),
      history_bytes: median(history.map(({ bytes }) => bytes)),
    },
    cpu: byOrder(cpu, orders),
    statements: statements.map(([query, calls]) => [query, calls / orders]),
    operations: operations.map(([name, calls]) => [name, calls / orders]),
  };
}

/** With the shared servers that it uses. */
export function processesOf({ postgres, temporal }: BenchServers, contestant: Contestant): Processes {
  const engine = contestant.namespace === undefined ? {} : { temporal: temporal.child };
  return { ...contestant.processes, postgres: postgres.child, ...engine };
}

async function read(context: BenchServers, contestant: Contestant) {
  return {
    postgres: await readPostgres(contestant.databaseUrl),
    operations: await temporalCalls(context.temporalMetricsUrl),
    service: (await sandboxOf(contestant)).requests,
  };
}

function callsBetween(before: ReadonlyMap<string, number>, after: ReadonlyMap<string, number>) {
  return [...after]
    .map(([name, calls]) => [name, calls - (before.get(name) ?? 0)] as const)
    .filter(([, calls]) => calls > 0)
    .toSorted(([, left], [, right]) => right - left);
}

/** A quick run has no time for counters that are written late. */
async function settled({ mode }: BenchServers): Promise<void> {
  if (mode === 'full') await delay(WRITTEN_DOWN_AFTER_MS);
}

function byOrder<Name extends string>(counts: Readonly<Record<Name, number>>, orders: number): Record<Name, number> {
  const entries = Object.entries<number>(counts).map(([name, value]) => [name, value / orders]);
  return Object.fromEntries(entries) as Record<Name, number>;
}

function sumOf(calls: readonly (readonly [string, number])[]): number {
  return sum(calls.map(([, count]) => count));
}
