/** `npm run drill`: drills the loss of the data on servers of its own. See docs/how-to/backup-and-restore.md. */
import { parseArgs } from 'node:util';
import { runDrill, type Drill } from '#test/drill/drill.ts';
import { resultLines } from '#test/drill/report.ts';
import { startSharedServers } from '#test/support/servers/shared-servers.ts';

for (const [signal, code] of [
  ['SIGINT', 130],
  ['SIGTERM', 143],
] as const)
  process.once(signal, () => process.exit(code));

const { values } = parseArgs({
  options: { purchases: { type: 'string', default: '40' }, shops: { type: 'string', default: '4' } },
});
const size = { purchases: Number(values.purchases), shops: Number(values.shops) };
const drills: readonly Omit<Drill, 'servers'>[] = [
  { lost: ['PostgreSQL'], archive: false, ...size },
  { lost: ['PostgreSQL'], archive: true, ...size },
  { lost: ['PostgreSQL', 'Temporal'], archive: true, ...size },
];

const { servers, stop } = await startSharedServers();
try {
  for (const drill of drills) {
    const result = await runDrill({ ...drill, servers });
    process.stdout.write(`${resultLines(drill, result).join('\n')}\n`);
    if (result.differences.length + result.paidTwice.length > 0) process.exitCode = 1;
  }
} finally {
  await stop();
}
