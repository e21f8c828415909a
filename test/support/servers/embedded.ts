/** The embedded PostgreSQL and Temporal of the product, as tests start them. */
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { freePort } from '#cli/embedded/ports.ts';
import { EmbeddedPostgres, type EmbeddedPostgresOptions } from '#cli/embedded/postgres.ts';
import { obtainTemporalCli } from '#cli/embedded/temporal-cli.ts';
import { TemporalServer, type TemporalServerOptions } from '#cli/embedded/temporal-server.ts';
import { migrate } from '#db/connection/migrate.ts';

/** Starts a PostgreSQL with a migrated database, and its data in `data` of the folder. */
export async function startPostgres(
  folder: string,
  database: string,
  options: Pick<EmbeddedPostgresOptions, 'settings' | 'walArchive'>,
): Promise<EmbeddedPostgres> {
  const postgres = await EmbeddedPostgres.prepare({
    dataDirectory: join(folder, 'data'),
    port: await freePort(),
    password: randomBytes(16).toString('hex'),
    logFile: join(folder, 'postgres.log'),
    ...options,
  });
  await postgres.start();
  await postgres.createDatabase(database);
  await migrate(postgres.url(database));
  return postgres;
}

/** Starts a development server of Temporal with its log in the folder. */
export async function startTemporal(
  folder: string,
  options: Omit<TemporalServerOptions, 'cli' | 'port' | 'logFile' | 'environment'>,
): Promise<TemporalServer> {
  const environment = process.env;
  const progress = (text: string) => void process.stdout.write(`Temporal server: ${text}\n`);
  const { path: cli } = await obtainTemporalCli({ environment, progress });
  const logFile = join(folder, 'temporal.log');
  const temporal = new TemporalServer({ cli, port: await freePort(), logFile, environment, ...options });
  await temporal.start();
  return temporal;
}
