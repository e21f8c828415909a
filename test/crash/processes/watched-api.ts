import { FaultPoints } from '#test/crash/processes/fault-points.ts';
import { nameRequests, watchCommits } from '#test/crash/processes/instrument.ts';

/** Puts points around the commits of an API process that is about to start. */
export function watchApi(): void {
  const points = FaultPoints.ofProcess();
  nameRequests(points);
  watchCommits(points, 'api');
}
