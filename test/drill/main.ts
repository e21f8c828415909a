/**
 * `npm run drill`: drills the loss of the data (docs/how-to/backup-and-restore.md), or with `--cluster` failures of a
 * cluster and a deploy (docs/how-to/fail-over-postgresql.md), on servers of its own.
 */
import { parseArgs } from 'node:util';
import { CLUSTER_EVENTS, runClusterDrill } from '#test/drill/cluster-drill.ts';
import { runDrill, type Drill } from '#test/drill/drill.ts';
import { clusterResultLines, hasFindings, resultLines } from '#test/drill/report.ts';
import { startSharedServers, type SharedServers } from '#test/support/servers/shared-servers.ts';

const USAGE = [
  'npm run drill -- [--purchases N] [--shops N] [--cluster [--event EVENT]]',
  '  --purchases N   purchases before the backup or the event, and again after it (default 40)',
  '  --shops N       shops that order at the same time (default 4)',
  '  --cluster       drill failures of a cluster and a deploy instead of the loss of the data',
  `  --event EVENT   only this one of a cluster: ${CLUSTER_EVENTS.join(', ')}`,
].join('\n');
const EXIT_USAGE = 64;

for (const [signal, code] of [
  ['SIGINT', 130],
  ['SIGTERM', 143],
] as const)
  process.once(signal, () => process.exit(code));

const values = readOptions();
if (values.help) {
  process.stdout.write(`Usage: ${USAGE}\n`);
  process.exit(0);
}
const size = { purchases: countOf('purchases'), shops: countOf('shops') };
const events = CLUSTER_EVENTS.filter((each) => each === (values.event ?? each));
if (events.length === 0) refuse(`--event is one of ${CLUSTER_EVENTS.join(', ')}`);
if (values.event !== undefined && !values.cluster) refuse('--event needs --cluster');
const drills: readonly Omit<Drill, 'servers'>[] = [
  { lost: ['PostgreSQL'], archive: false, ...size },
  { lost: ['PostgreSQL'], archive: true, ...size },
  { lost: ['PostgreSQL', 'Temporal'], archive: true, ...size },
  { lost: ['PostgreSQL', 'Temporal'], archive: true, cluster: true, ...size },
];

function readOptions() {
  try {
    const { values: given } = parseArgs({
      options: {
        help: { type: 'boolean', short: 'h', default: false },
        purchases: { type: 'string', default: '40' },
        shops: { type: 'string', default: '4' },
        cluster: { type: 'boolean', default: false },
        event: { type: 'string' },
      },
    });
    return given;
  } catch (error) {
    return refuse(error instanceof Error ? error.message : String(error));
  }
}

function countOf(option: 'purchases' | 'shops'): number {
  const text = values[option];
  return /^[1-9][0-9]{0,5}$/.test(text) ? Number(text) : refuse(`--${option} must be a number from 1 to 999999`);
}

function refuse(message: string): never {
  process.stderr.write(`${message}\nUsage: ${USAGE}\n`);
  process.exit(EXIT_USAGE);
}

/** Prints a result. Findings become the exit code. */
function report(lines: readonly string[], found: Parameters<typeof hasFindings>[0]) {
  process.stdout.write(`${lines.join('\n')}\n`);
  if (hasFindings(found)) process.exitCode = 1;
}

async function drillLosses(servers: SharedServers): Promise<void> {
  for (const drill of drills) {
    const result = await runDrill({ ...drill, servers });
    report(resultLines(drill, result), result);
  }
}

async function drillCluster(servers: SharedServers): Promise<void> {
  for (const event of events) {
    const result = await runClusterDrill({ event, ...size, servers });
    report(clusterResultLines(event, result), result);
  }
}

const { servers, stop } = await startSharedServers();
try {
  await (values.cluster ? drillCluster(servers) : drillLosses(servers));
} finally {
  await stop();
}
