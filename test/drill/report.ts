import type { Drill, DrillResult } from '#test/drill/drill.ts';

const seconds = (ms: number) => `${(ms / 1_000).toFixed(1)} s`;

/** The result of a drill, for people. */
export function resultLines({ lost, archive }: Drill, result: DrillResult): string[] {
  return [
    `Lost: ${lost.join(' and ')}; archive of the write-ahead log: ${archive ? 'yes' : 'no'}`,
    `  backup under load   ${seconds(result.backupMs)}, ${(result.backupBytes / 1e6).toFixed(0)} MB`,
    `  RPO                 ${seconds(result.lostMs)}: ${result.lostRows} of ${result.accepted} accepted requests`,
    `  RTO                 files ${seconds(result.restoredMs)}, servers ${seconds(result.startedMs)}, ` +
      `API and worker ${seconds(result.readyMs)}`,
    `  books compared      after ${seconds(result.settledMs)}`,
    ...result.paidTwice.map((reference) => `  PAID TWICE          ${reference}`),
    ...result.differences.map((each) => `  DIFFERENCE          ${each}`),
  ];
}
