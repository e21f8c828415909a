import type { ClusterDrillResult, ClusterEvent } from '#test/drill/cluster-drill.ts';
import type { Drill, DrillFindings, DrillResult } from '#test/drill/drill.ts';
import type { ShopRequest } from '#test/drill/load.ts';

type Found = DrillFindings & Partial<Pick<DrillResult, 'notRecovered'>>;

const seconds = (ms: number) => `${(ms / 1_000).toFixed(1)} s`;

export function resultLines({ lost, archive, cluster = false }: Drill, result: DrillResult): string[] {
  const what = `${lost.join(' and ')}${cluster ? ' (a cluster)' : ''}`;
  return [
    `Lost: ${what}; archive of the write-ahead log: ${archive ? 'yes' : 'no'}`,
    `  backup under load   ${seconds(result.backupMs)}, ${(result.backupBytes / 1e6).toFixed(0)} MB`,
    `  RPO                 ${seconds(result.lostMs)}: ${result.lostRows} of ${result.accepted} accepted requests`,
    `  RTO                 files ${seconds(result.restoredMs)}, servers ${seconds(result.startedMs)}, ` +
      `API and worker ${seconds(result.readyMs)}`,
    `  books compared      after ${seconds(result.settledMs)}`,
    ...findings(result),
  ];
}

const EVENTS: Readonly<Record<ClusterEvent, string>> = {
  machine: 'Killed: one of two machines, with its API and its worker',
  temporal: 'Killed: the Temporal server, which is started again',
  postgres: 'Killed: the primary PostgreSQL server; its synchronous replica is promoted',
  deploy: 'Deployed: another version of both workers and both APIs',
};

const RESTORED: Readonly<Record<Exclude<ClusterEvent, 'machine'>, string>> = {
  temporal: 'server works again',
  postgres: 'server works again',
  deploy: 'new work on it',
};

export function clusterResultLines(event: ClusterEvent, result: ClusterDrillResult): string[] {
  const { accepted, acceptedBefore, open, removedMs } = result;
  return [
    EVENTS[event],
    `  accepted            ${accepted} requests, ${acceptedBefore} before the event, ${open} of them in progress`,
    `  repeated            ${result.repeated} requests, which were not accepted at once`,
    ...(event === 'machine' ? [] : [`  ${RESTORED[event].padEnd(18)}  after ${seconds(result.restoredMs)}`]),
    `  accepts again       after ${seconds(result.acceptsMs)}`,
    `  work of before      ended after ${seconds(result.deliveredMs)}`,
    ...(removedMs === undefined ? [] : [`  old workers stopped after ${seconds(removedMs)}`]),
    `  books of both sides ${result.differences.length === 0 ? 'equal' : 'DIFFER'}`,
    ...findings(result),
  ];
}

function findings({ paidTwice, differences, notRecovered: missing = [] }: Found): string[] {
  return [
    ...paidTwice.map((reference) => `  PAID TWICE          ${reference}`),
    ...differences.map((each) => `  DIFFERENCE          ${each}`),
    ...missing.map((each) => `  NOT RECOVERED       ${each}`),
  ];
}

export function hasFindings(found: Found): boolean {
  return findings(found).length > 0;
}

/**
 * Lost requests that the restore must have recovered: their commits are in the archive.
 *
 * @param archivedMs time at which the last archived file of the log was ended; undefined: there was no archive.
 */
export function notRecovered(lost: readonly ShopRequest[], archivedMs: number | undefined): string[] {
  if (archivedMs === undefined) return [];
  return lost.flatMap(({ id, acceptedAtMs = archivedMs }) =>
    acceptedAtMs < archivedMs
      ? [`${id} was accepted ${seconds(archivedMs - acceptedAtMs)} before the end of the archive`]
      : [],
  );
}
