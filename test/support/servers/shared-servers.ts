import { join } from 'node:path';
import { atEnd } from '#test/support/at-end.ts';
import { startPostgres, startTemporal } from '#test/support/servers/embedded.ts';
import { removeFolder, temporaryFolder } from '#test/support/temporary.ts';
import { bundleWorkflows } from '#worker/bundle.ts';

export interface SharedServers {
  /** Connection string of the cluster's `postgres` database, for its owner. */
  readonly postgresUrl: string;
  /** A migrated, empty database to clone. */
  readonly templateDatabase: string;
  readonly temporalAddress: string;
  /** The workflows, bundled once for all workers of the run. */
  readonly workflowBundle: string;
}

const TEMPLATE = 'template_reseller';

/** Test data may be lost with the machine. Without waits for the disk PostgreSQL is several times faster. */
const FAST_AND_LOOSE = {
  fsync: 'off',
  synchronous_commit: 'off',
  full_page_writes: 'off',
  max_connections: '300',
};

/** Starts one PostgreSQL and one Temporal server for a whole test run. */
export async function startSharedServers() {
  const folder = temporaryFolder('test');
  const workflowBundle = join(folder, 'workflows.js');
  const [postgres, temporal] = await Promise.all([
    startPostgres(folder, TEMPLATE, { settings: FAST_AND_LOOSE }),
    startTemporal(folder, { databaseFile: join(folder, 'temporal.db'), durable: false }),
    bundleWorkflows(workflowBundle),
  ]);
  const takeBack = atEnd(() => {
    postgres.child?.killNow();
    temporal.child?.killNow();
  });
  const stop = async () => {
    await Promise.all([postgres.kill(), temporal.kill()]);
    takeBack();
    removeFolder(folder);
  };
  return {
    servers: {
      postgresUrl: postgres.url('postgres'),
      templateDatabase: TEMPLATE,
      temporalAddress: temporal.address,
      workflowBundle,
    },
    stop,
    [Symbol.asyncDispose]: stop,
  };
}
