import { ownServersFor, type Disturbance } from '#test/crash/plans/disturbances.ts';
/** Servers of a seed's own: where one goes away, stands still, or loses something, nobody else may use it. */
import { ABOUT_A_SECOND_MS } from '#test/crash/run/disturb.ts';
import {
  startOwnPostgres,
  startOwnTemporal,
  type OwnPostgres,
  type OwnTemporal,
} from '#test/support/servers/own-servers.ts';

export interface OwnServers extends AsyncDisposable {
  readonly postgres: OwnPostgres | undefined;
  readonly temporal: OwnTemporal | undefined;
}

/** Starts those that the disturbances need; the others are the run's. */
export async function ownServers(disturbances: readonly Disturbance[]): Promise<OwnServers> {
  const needed = ownServersFor(disturbances);
  const losesCommitsOf = needed.losesCommits ? { losesCommitsOf: ABOUT_A_SECOND_MS } : {};
  const postgres = needed.postgres ? await startOwnPostgres(losesCommitsOf) : undefined;
  const temporal = needed.temporal ? await startOwnTemporal() : undefined;
  return {
    postgres,
    temporal,
    [Symbol.asyncDispose]: async () => {
      await postgres?.[Symbol.asyncDispose]();
      await temporal?.[Symbol.asyncDispose]();
    },
  };
}
