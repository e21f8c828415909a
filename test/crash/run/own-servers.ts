/** Own servers of a seed. A server that stops, freezes or loses commits must not be shared with other seeds. */
import { ownServersFor, type Disturbance } from '#test/crash/plans/disturbances.ts';
import { ABOUT_A_SECOND_MS } from '#test/crash/run/disturb.ts';
import { startOwnCluster, type OwnTemporalServer } from '#test/support/servers/own-cluster.ts';
import { startOwnPostgres, startOwnTemporal, type OwnPostgres } from '#test/support/servers/own-servers.ts';
import type { SharedServers } from '#test/support/servers/shared-servers.ts';

export interface OwnServers extends AsyncDisposable {
  readonly postgres: OwnPostgres | undefined;
  readonly temporal: OwnTemporalServer | undefined;
}

/**
 * Starts the servers that the disturbances need. For the others the seed uses the shared servers of the run.
 *
 * @param cluster undefined: Temporal is the development server. Otherwise the seed has a Temporal server of its own,
 * the one for PostgreSQL, with its databases in the shared PostgreSQL of these servers.
 */
export async function ownServers(
  disturbances: readonly Disturbance[],
  cluster: SharedServers | undefined,
): Promise<OwnServers> {
  const needed = ownServersFor(disturbances);
  const losesCommitsOf = needed.losesCommits ? { losesCommitsOf: ABOUT_A_SECOND_MS } : {};
  const postgres = needed.postgres ? await startOwnPostgres(losesCommitsOf) : undefined;
  const temporal =
    cluster !== undefined
      ? await startOwnCluster({ postgresUrl: cluster.postgresUrl })
      : needed.temporal
        ? await startOwnTemporal()
        : undefined;
  return {
    postgres,
    temporal,
    [Symbol.asyncDispose]: async () => {
      await postgres?.[Symbol.asyncDispose]();
      await temporal?.[Symbol.asyncDispose]();
    },
  };
}
