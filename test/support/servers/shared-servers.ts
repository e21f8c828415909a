import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { freePort } from '#cli/embedded/ports.ts';
import { EmbeddedPostgres } from '#cli/embedded/postgres.ts';
import { obtainTemporalCli } from '#cli/embedded/temporal-cli.ts';
import { TemporalServer } from '#cli/embedded/temporal-server.ts';
import { migrate } from '#db/connection/migrate.ts';
import { atEnd } from '#test/support/at-end.ts';
import { removeFolder, temporaryFolder } from '#test/support/temporary.ts';
import { bundleWorkflows } from '#worker/bundle.ts';

/** Addresses of the PostgreSQL and Temporal of a test run. */
export interface SharedServers {
  /** Connection string of the cluster's `postgres` database, for its owner. */
  readonly postgresUrl: string;
  /** A migrated, empty database to clone. */
  readonly templateDatabase: string;
  readonly temporalAddress: string;
  /** The workflows, bundled once for all workers of the run. */
  readonly workflowBundle: string;
}

interface Running {
  readonly servers: SharedServers;
  readonly stop: () => Promise<void>;
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
export async function startSharedServers(): Promise<Running> {
  const folder = temporaryFolder('test');
  const workflowBundle = join(folder, 'workflows.js');
  const [postgres, temporal] = await Promise.all([
    startPostgres(folder),
    startTemporal(folder),
    bundleWorkflows(workflowBundle),
  ]);
  const takeBack = atEnd(() => {
    postgres.child?.killNow();
    temporal.child?.killNow();
  });
  return {
    servers: {
      postgresUrl: postgres.url('postgres'),
      templateDatabase: TEMPLATE,
      temporalAddress: temporal.address,
      workflowBundle,
    },
    stop: async () => {
      await Promise.all([postgres.kill(), temporal.kill()]);
      takeBack();
      removeFolder(folder);
    },
  };
}

async function startPostgres(folder: string): Promise<EmbeddedPostgres> {
  const postgres = await EmbeddedPostgres.prepare({
    dataDirectory: join(folder, 'postgres'),
    port: await freePort(),
    password: randomBytes(16).toString('hex'),
    logFile: join(folder, 'postgres.log'),
    settings: FAST_AND_LOOSE,
  });
  await postgres.start();
  await postgres.createDatabase(TEMPLATE);
  await migrate(postgres.url(TEMPLATE));
  return postgres;
}

async function startTemporal(folder: string): Promise<TemporalServer> {
  const environment = process.env;
  const cli = await obtainTemporalCli({
    environment,
    progress: (text) => process.stdout.write(`Temporal server: ${text}\n`),
  });
  const temporal = new TemporalServer({
    cli: cli.path,
    port: await freePort(),
    databaseFile: join(folder, 'temporal.db'),
    durable: false,
    logFile: join(folder, 'temporal.log'),
    environment,
  });
  await temporal.start();
  return temporal;
}
