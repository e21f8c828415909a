/** Servers of a test's own, for tests that stop, kill and start them again on the same port and data. */
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { EmbeddedPostgres } from '#cli/embedded/postgres.ts';
import { freePort } from '#cli/embedded/ports.ts';
import { obtainTemporalCli } from '#cli/embedded/temporal-cli.ts';
import { TemporalServer } from '#cli/embedded/temporal-server.ts';
import { migrate } from '#db/migrate.ts';
import { atEnd } from '#test/support/at-end.ts';
import { removeFolder, temporaryFolder } from '#test/support/temporary.ts';

export interface OwnServer extends AsyncDisposable {
  /** On the same port and data; waits until it serves. */
  start(): Promise<void>;
  /** As an administrator would. */
  stop(): Promise<void>;
  /** As a power cut would. */
  kill(): Promise<void>;
  /** As a server that hangs: it takes connections and answers nothing, until {@link resume}. */
  pause(): void;
  resume(): void;
}

export interface OwnPostgres extends OwnServer {
  /** A migrated database. */
  readonly url: string;
}

export interface OwnTemporal extends OwnServer {
  readonly address: string;
}

/** A PostgreSQL that runs, with data that survive a kill. */
export async function startOwnPostgres(): Promise<OwnPostgres> {
  const folder = temporaryFolder('postgres');
  const postgres = await EmbeddedPostgres.prepare({
    dataDirectory: join(folder, 'data'),
    port: await freePort(),
    password: randomBytes(16).toString('hex'),
    logFile: join(folder, 'postgres.log'),
    settings: { max_connections: '200' },
  });
  await postgres.start();
  await postgres.createDatabase('reseller');
  const url = postgres.url('reseller');
  await migrate(url);
  return { url, ...controls(postgres, folder) };
}

/**
 * A Temporal server that runs, with state that survives a kill.
 *
 * @param options.longFrom events from which on it suggests to a workflow that it go on in a new run; some thousands by default.
 */
export async function startOwnTemporal({ longFrom }: { readonly longFrom?: number } = {}): Promise<OwnTemporal> {
  const folder = temporaryFolder('temporal');
  const environment = process.env;
  const cli = await obtainTemporalCli({ environment, progress: () => undefined });
  const temporal = new TemporalServer({
    cli: cli.path,
    port: await freePort(),
    databaseFile: join(folder, 'temporal.db'),
    ...(longFrom !== undefined && { dynamicConfig: [`limit.historyCount.suggestContinueAsNew=${longFrom}`] }),
    logFile: join(folder, 'temporal.log'),
    environment,
  });
  await temporal.start();
  return { address: temporal.address, ...controls(temporal, folder) };
}

function controls(server: EmbeddedPostgres | TemporalServer, folder: string): OwnServer {
  const takeBack = atEnd(() => server.child?.killNow());
  return {
    start: () => server.start(),
    stop: () => server.stop(),
    kill: () => server.kill(),
    pause: () => server.child?.signal('SIGSTOP'),
    resume: () => server.child?.signal('SIGCONT'),
    [Symbol.asyncDispose]: async () => {
      await server.kill();
      takeBack();
      removeFolder(folder);
    },
  };
}
