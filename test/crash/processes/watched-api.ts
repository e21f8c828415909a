import { FaultPoints } from '#test/crash/processes/fault-points.ts';
import { nameRequests, watchCommits } from '#test/crash/processes/instrument.ts';

/** Adds points around the commits of an API process. Call before its start. */
export function watchApi(): void {
  const points = FaultPoints.ofProcess();
  nameRequests(points);
  watchCommits(points, 'api');
}
