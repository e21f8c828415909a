import { describe, expect, it } from 'vitest';
import { CLUSTER_EVENTS, runClusterDrill } from '#test/drill/cluster-drill.ts';
import { clusterResultLines } from '#test/drill/report.ts';

/** Servers, processes and waits of a busy machine. */
const SLOWEST_MS = 1_200_000;

/** The Temporal server proper on PostgreSQL with a synchronous replica, two APIs and two workers. */
describe('a cluster under load', () => {
  it.for(CLUSTER_EVENTS)(
    'loses no accepted request and buys nothing twice when this happens: %s',
    { timeout: SLOWEST_MS },
    async (event) => {
      const result = await runClusterDrill({ event });
      process.stdout.write(`${clusterResultLines(event, result).join('\n')}\n`);
      expect(result.paidTwice).toEqual([]);
      expect(result.differences).toEqual([]);
      // Without work in progress the drill would prove nothing.
      expect(result.open).toBeGreaterThan(0);
    },
  );
});
