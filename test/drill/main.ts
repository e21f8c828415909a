/**
 * `npm run drill`: drills the loss of the data (docs/how-to/backup-and-restore.md), or with `--cluster` failures of a
 * cluster and a deploy (docs/how-to/fail-over-postgresql.md), on servers of its own.
 */
import { parseArgs } from 'node:util';
import { CLUSTER_EVENTS, runClusterDrill } from '#test/drill/cluster-drill.ts';
import { runDrill, type Drill } from '#test/drill/drill.ts';
import { clusterResultLines, hasFindings, resultLines } from '#test/drill/report.ts';
import { startSharedServers } from '#test/support/servers/shared-servers.ts';

const { values } = parseArgs({
  options: {
    /** Purchases before the backup or the event, and again after it. */
    purchases: { type: 'string', default: '40' },
    /** Shops that order at the same time. */
    shops: { type: 'string', default: '4' },
    cluster: { type: 'boolean', default: false },
    event: { type: 'string' },
  },
});
const size = { purchases: Number(values.purchases), shops: Number(values.shops) };
const events = CLUSTER_EVENTS.filter((each) => each === (values.event ?? each));
if (events.length === 0) throw new Error(`--event is one of ${CLUSTER_EVENTS.join(', ')}`);
const drills: readonly Drill[] = [
  { lost: ['PostgreSQL'], archive: false, ...size },
  { lost: ['PostgreSQL'], archive: true, ...size },
  { lost: ['PostgreSQL', 'Temporal'], archive: true, ...size },
  { lost: ['PostgreSQL', 'Temporal'], archive: true, cluster: true, ...size },
];

/** Prints a result. Findings become the exit code. */
function report(lines: readonly string[], found: Parameters<typeof hasFindings>[0]) {
  process.stdout.write(`${lines.join('\n')}\n`);
  if (hasFindings(found)) process.exitCode = 1;
}

await using shared = await startSharedServers();
const { servers } = shared;
if (values.cluster) {
  for (const event of events) {
    const result = await runClusterDrill({ event, ...size, servers });
    report(clusterResultLines(event, result), result);
  }
} else {
  for (const drill of drills) {
    const result = await runDrill({ ...drill, servers });
    report(resultLines(drill, result), result);
  }
}
