/** How many processes, cores and bytes a number of orders a day needs, from measured costs of one order. */
import type { Part } from '#bench/capacity/queue.ts';

/** What one order takes, as `npm run bench -- --only workers --cluster` measures it. */
export interface OrderCosts {
  /** CPU time in milliseconds. */
  readonly apiMs: number;
  readonly workerMs: number;
  readonly postgresMs: number;
  readonly temporalMs: number;
  /** Growth of the databases and of the write-ahead log, in bytes. */
  readonly productBytes: number;
  readonly temporalBytes: number;
  readonly walBytes: number;
  /** Commits of the Temporal server, of which each changes one history shard. */
  readonly temporalCommits: number;
}

/** What nobody measures for you, and the claims a second of docs/benchmarks.md. */
export const ASSUMED = {
  /** Share of a day's orders in its busiest hour: 2.4 times the average. */
  busiestHour: 0.1,
  /** How much of a part the busiest hour may use, so that bursts and the loss of a machine fit. */
  mostUsed: 0.6,
  /** How much of the time a history shard may write. */
  mostUsedShard: 0.3,
  /** One commit of the Temporal server, in milliseconds: over a network, with a synchronous replica. */
  commitMs: 5,
  /** Processes of API and worker: one machine may fail. */
  fewest: 2,
  /** Claims at the purchase gate, one after the other, among 1,000,000 orders of the day: the scenario `scale`. */
  claimsPerSecond: 308,
  daysOfMonth: 30,
  /** Retention of closed workflows in the namespace, in days (`platform/temporal/set-up.ts`). */
  temporalRetentionDays: 30,
} as const;

export interface CapacityPlan {
  readonly ordersPerDay: number;
  /** In the busiest hour. */
  readonly perSecond: number;
  /** API and workers by process, PostgreSQL and Temporal by core, the gate as one. */
  readonly parts: readonly Part[];
  readonly shards: number;
  /** In GB (10^9 bytes). The database of Temporal is full after the retention; the others grow each month. */
  readonly gigabytes: Readonly<Record<'productAMonth' | 'temporalAtMost' | 'walAMonth', number>>;
}

/** @param ordersPerDay of all kinds. */
export function planFor(ordersPerDay: number, costs: OrderCosts): CapacityPlan {
  const perSecond = (ordersPerDay * ASSUMED.busiestHour) / 3_600;
  const part = (name: string, serviceMs: number, fewest: number): Part => ({
    name,
    serviceMs,
    servers: Math.max(fewest, Math.ceil((perSecond * serviceMs) / 1_000 / ASSUMED.mostUsed)),
  });
  const aMonth = (bytes: number, days: number) => (ordersPerDay * days * bytes) / 1e9;
  const { daysOfMonth, temporalRetentionDays, fewest } = ASSUMED;
  return {
    ordersPerDay,
    perSecond,
    parts: [
      part('API', costs.apiMs, fewest),
      part('worker', costs.workerMs, fewest),
      part('PostgreSQL', costs.postgresMs, 1),
      part('Temporal', costs.temporalMs, 1),
      { name: 'gate', servers: 1, serviceMs: 1_000 / ASSUMED.claimsPerSecond },
    ],
    shards: shardsFor(perSecond, costs),
    gigabytes: {
      productAMonth: aMonth(costs.productBytes, daysOfMonth),
      temporalAtMost: aMonth(costs.temporalBytes, temporalRetentionDays),
      walAMonth: aMonth(costs.walBytes, daysOfMonth),
    },
  };
}

/** The most orders a day at which a part with so many servers is used no more than {@link ASSUMED}.mostUsed. */
export function mostOrdersPerDay({ servers, serviceMs }: Part): number {
  return ((servers * 1_000) / serviceMs) * ASSUMED.mostUsed * (3_600 / ASSUMED.busiestHour);
}

/** A power of two, and never fewer than a small cluster has. A shard writes one commit after the other. */
function shardsFor(perSecond: number, { temporalCommits }: OrderCosts): number {
  const busy = (perSecond * temporalCommits * ASSUMED.commitMs) / 1_000;
  return Math.max(16, 2 ** Math.ceil(Math.log2(busy / ASSUMED.mostUsedShard)));
}
