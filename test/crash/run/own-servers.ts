/** Own servers of a seed. A server that stops, freezes or loses commits must not be shared with other seeds. */
import { ownServersFor, type Disturbance } from '#test/crash/plans/disturbances.ts';
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

/** Starts the servers that the disturbances need. For the others the seed uses the shared servers of the run. */
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
