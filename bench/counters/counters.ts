import { setTimeout as delay } from 'node:timers/promises';
import * as z from 'zod';
import { cpuSpentBy, type Processes } from '#bench/counters/processes.ts';
import {
  callsBetween,
  type HistorySize,
  historySizes,
  isBegin,
  type PostgresCounters,
  readPostgres,
  temporalCalls,
  WRITTEN_DOWN_AFTER_MS,
} from '#bench/counters/server-counters.ts';
import { median } from '#bench/results.ts';
import type { BenchServers } from '#bench/support/context.ts';
import type { Contestant } from '#bench/support/orders.ts';

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

interface Reading {
  readonly postgres: PostgresCounters;
  readonly operations: ReadonlyMap<string, number>;
  readonly service: number;
}

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
  const statements = callsBetween(before.postgres, after.postgres);
  const operations = [...after.operations]
    .map(([name, calls]) => [name, calls - (before.operations.get(name) ?? 0)] as const)
    .filter(([name, calls]) => calls > 0 && !WAITING.test(name) && contestant.namespace !== undefined)
    .toSorted(([, left], [, right]) => right - left);
  const history = await historyOf(context, contestant);
  const counts = {
    statements: sumOf(statements),
    transactions: sumOf(statements.filter(([query]) => isBegin(query))),
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

async function read(context: BenchServers, contestant: Contestant): Promise<Reading> {
  return {
    postgres: await readPostgres(contestant.databaseUrl),
    operations: await temporalCalls(context.temporalMetricsUrl),
    service: await serviceCalls(contestant.simulatorUrl),
  };
}

/** A quick run has no time for counters that are written late. */
async function settled({ mode }: BenchServers): Promise<void> {
  if (mode === 'full') await delay(WRITTEN_DOWN_AFTER_MS);
}

async function historyOf(context: BenchServers, { namespace }: Contestant): Promise<readonly HistorySize[]> {
  if (namespace === undefined) return [{ events: 0, bytes: 0, turns: [] }];
  return historySizes(context.temporalAddress, namespace, HISTORIES);
}

function byOrder<Name extends string>(counts: Readonly<Record<Name, number>>, orders: number): Record<Name, number> {
  const entries = Object.entries<number>(counts).map(([name, value]) => [name, value / orders]);
  return Object.fromEntries(entries) as Record<Name, number>;
}

function sumOf(calls: readonly (readonly [string, number])[]): number {
  return calls.reduce((sum, [, count]) => sum + count, 0);
}

const state = z.object({ environments: z.object({ sandbox: z.object({ requests: z.int() }) }) });

async function serviceCalls(simulatorUrl: string): Promise<number> {
  const answer = state.parse(await (await fetch(`${simulatorUrl}/simulator/state`)).json());
  return answer.environments.sandbox.requests;
}
