import { describe, expect, it } from 'vitest';
import { type Drill, runDrill } from '#test/drill/drill.ts';
import { resultLines } from '#test/drill/report.ts';

/** A disaster takes several waits of the sweeper and the reconciler. */
const SLOWEST_MS = 1_200_000;

const DRILLS: readonly Drill[] = [
  { lost: ['PostgreSQL'], archive: false, cluster: false },
  { lost: ['PostgreSQL'], archive: true, cluster: false },
  { lost: ['PostgreSQL', 'Temporal'], archive: false, cluster: false },
  { lost: ['PostgreSQL', 'Temporal'], archive: false, cluster: true },
];

describe('a machine that is lost under load, and restored from a backup older than the last purchases', () => {
  it.for(DRILLS)(
    'ends with equal books and nothing bought twice: $lost, with an archive: $archive, a cluster: $cluster',
    { timeout: SLOWEST_MS },
    async (drill) => {
      const result = await runDrill(drill);
      process.stdout.write(`${resultLines(drill, result).join('\n')}\n`);
      expect(result.paidTwice).toEqual([]);
      expect(result.differences).toEqual([]);
      expect(result.notRecovered).toEqual([]);
      // Without an archive, everything since the backup is lost; otherwise the drill would prove nothing.
      expect(drill.archive || result.lostRows > 0).toBe(true);
    },
  );
});
