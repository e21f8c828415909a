import { execFile } from 'node:child_process';
import { chmodSync, chownSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import pg from 'pg';
import {
  type Child,
  commandLineOf,
  describeExit,
  identityOf,
  isRunning,
  sendSignal,
  ServerProcess,
} from '#cli/embedded/child.ts';
import { asAccount, postgresAccount, type PostgresAccount } from '#cli/embedded/postgres-account.ts';
import { findPostgresBinaries, type PostgresBinaries } from '#cli/embedded/postgres-binaries.ts';
import { prepareArchive, archiveSettings } from '#cli/embedded/wal-archive.ts';
import { codeOf, messageOf, saysDiskFull, UserError } from '#cli/terminal/user-error.ts';

export interface EmbeddedPostgresOptions {
  readonly dataDirectory: string;
  readonly port: number;
  readonly password: string;
  readonly logFile: string;
  /** Such as `{ fsync: 'off' }` for the data of a test. */
  readonly settings?: Readonly<Record<string, string>>;
  readonly walArchive?: string;
}

export const STANDBY_SIGNAL = 'standby.signal';

const USER = 'reseller';

const READY_TIMEOUT_MS = 60_000;
/** Backends of a killed server may outlive it. */
const LEFTOVER_TIMEOUT_MS = 10_000;
const READY_POLL_MS = 50;
// A fast shutdown writes a checkpoint, which takes time.
const STOP_GRACE_MS = 20_000;

const run = promisify(execFile);

/**
 * No Unix socket. The package's wrapper is not used: it stops the server on any signal to our process, before the
 * processes that still need it.
 */
export class EmbeddedPostgres extends ServerProcess {
  readonly #options: EmbeddedPostgresOptions;
  readonly #binaries: PostgresBinaries;
  readonly #account: PostgresAccount | undefined;

  private constructor(options: EmbeddedPostgresOptions, binaries: PostgresBinaries) {
    super('PostgreSQL', STOP_GRACE_MS, 'SIGINT');
    this.#options = options;
    this.#binaries = binaries;
    this.#account = postgresAccount(options.dataDirectory);
  }

  /** @throws UserError when this machine cannot run PostgreSQL. */
  static async prepare(options: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> {
    const server = new EmbeddedPostgres(options, await findPostgresBinaries());
    await server.#initialise();
    return server;
  }

  get port(): number {
    return this.#options.port;
  }

  /** A replica recovers until it is promoted. PostgreSQL removes the file then. */
  get #isReplica(): boolean {
    return existsSync(join(this.#options.dataDirectory, STANDBY_SIGNAL));
  }

  /** Contains the password: keep it out of logs and command lines. */
  static connectionString(port: number, password: string, database: string): string {
    return `postgresql://${USER}:${password}@127.0.0.1:${port}/${database}`;
  }

  url(database: string): string {
    return EmbeddedPostgres.connectionString(this.#options.port, this.#options.password, database);
  }

  /** First stops a server that a killed run left on the same data. */
  async start(): Promise<void> {
    await this.#endLeftover();
    const deadline = Date.now() + LEFTOVER_TIMEOUT_MS;
    for (;;) {
      const child = this.#launch();
      try {
        await this.#ready(child);
        return;
      } catch (error) {
        // A backend that has outlived its killed server ends within moments; until then PostgreSQL refuses to start.
        const isLeftover = child.exit !== undefined && child.tail().includes('pre-existing shared memory block');
        if (!isLeftover || Date.now() > deadline) throw error;
      }
      await delay(READY_POLL_MS);
    }
  }

  #launch(): Child {
    const settings = {
      listen_addresses: '127.0.0.1',
      unix_socket_directories: '',
      ...(this.#options.walArchive !== undefined && archiveSettings(this.#options.walArchive)),
      ...this.#options.settings,
    };
    const { dataDirectory, port } = this.#options;
    const flags = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
    const args = ['-D', dataDirectory, '-p', String(port), ...flags];
    return this.launch({
      ...asAccount(this.#account, this.#binaries.postgres, args, [dataDirectory]),
      environment: { PATH: process.env['PATH'], LC_ALL: 'C' },
      cwd: dataDirectory,
      logFile: this.#options.logFile,
    });
  }

  async createDatabase(name: string): Promise<boolean> {
    return withClient(this.url('postgres'), async (client) => {
      const found = await client.query('SELECT 1 FROM pg_database WHERE datname = $1', [name]);
      if (found.rowCount !== 0) return false;
      await client.query(`CREATE DATABASE ${client.escapeIdentifier(name)}`);
      return true;
    });
  }

  async #initialise(): Promise<void> {
    const { dataDirectory, password, walArchive } = this.#options;
    if (walArchive !== undefined) await prepareArchive(walArchive, { account: this.#account, dataDirectory });
    if (existsSync(join(dataDirectory, 'PG_VERSION'))) return;
    // An interrupted initdb leaves a folder that initdb refuses. Without PG_VERSION the folder has no data.
    rmSync(dataDirectory, { recursive: true, force: true });
    mkdirSync(dataDirectory, { recursive: true });
    chmodSync(dataDirectory, 0o700);
    const passwordFile = `${dataDirectory}.initial-password`;
    writeFileSync(passwordFile, `${password}\n`, { mode: 0o600 });
    if (this.#account !== undefined) {
      const { uid, gid } = this.#account;
      for (const path of [dataDirectory, passwordFile]) chownSync(path, uid, gid);
    }
    const { command, args, ...ids } = asAccount(
      this.#account,
      this.#binaries.initdb,
      [
        `--pgdata=${dataDirectory}`,
        `--username=${USER}`,
        `--pwfile=${passwordFile}`,
        '--auth=scram-sha-256',
        '--encoding=UTF8',
        // Makes text sort the same on every machine.
        '--locale-provider=builtin',
        '--builtin-locale=C.UTF-8',
        '--locale=C',
        '--no-instructions',
      ],
      [dataDirectory, passwordFile],
    );
    try {
      await run(command, [...args], { ...ids, cwd: dataDirectory, env: { PATH: process.env['PATH'], LC_ALL: 'C' } });
    } catch (error) {
      rmSync(dataDirectory, { recursive: true, force: true });
      throw startFailure('PostgreSQL could not set up its data folder', messageOf(error), dataDirectory);
    } finally {
      rmSync(passwordFile, { force: true });
    }
  }

  async #ready(child: Child): Promise<void> {
    const failure = (what: string) => startFailure(what, child.tail(), this.#options.dataDirectory);
    let deadline = Date.now() + READY_TIMEOUT_MS;
    for (;;) {
      if (child.exit !== undefined) throw failure(`PostgreSQL ${describeExit(child.exit)}`);
      try {
        if ((await withClient(this.url('postgres'), acceptsWrites)) || this.#isReplica) return;
        // A restored server replays its log first, for as long as that takes.
        deadline = Date.now() + READY_TIMEOUT_MS;
      } catch (error) {
        // `cannot_connect_now`: it recovers from a crash or a restore.
        const isStartingUp = error instanceof Error && codeOf(error.cause) === '57P03';
        if (Date.now() > deadline && !isStartingUp) throw failure(`PostgreSQL does not answer: ${messageOf(error)}`);
      }
      await delay(READY_POLL_MS);
    }
  }

  /** A killed process may have left a server. */
  async #endLeftover(): Promise<void> {
    const pidFile = join(this.#options.dataDirectory, 'postmaster.pid');
    if (!existsSync(pidFile)) return;
    const pid = Number.parseInt(readFileSync(pidFile, 'utf8'), 10);
    const identity = Number.isInteger(pid) && pid > 0 ? identityOf(pid) : undefined;
    // PostgreSQL cannot see that another process has the number now, and would refuse to start.
    if (identity === undefined || !commandLineOf(pid).includes(this.#options.dataDirectory)) {
      rmSync(pidFile, { force: true });
      return;
    }
    sendSignal(pid, 'SIGINT');
    const deadline = Date.now() + STOP_GRACE_MS;
    while (isRunning(identity)) {
      if (Date.now() > deadline) sendSignal(pid, 'SIGQUIT');
      await delay(READY_POLL_MS);
    }
  }
}

export async function withClient<Result>(
  url: string,
  work: (client: pg.Client) => Promise<Result>,
  { connectTimeoutMs = 5_000 }: { readonly connectTimeoutMs?: number } = {},
): Promise<Result> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: connectTimeoutMs });
  client.on('error', () => undefined);
  try {
    await client.connect().catch((error: unknown) => {
      // The driver's error comes from a timer, without the caller's stack and the address.
      throw new Error(`no connection to PostgreSQL at ${new URL(url).host}: ${String(error)}`, { cause: error });
    });
    return await work(client);
  } finally {
    await client.end().catch(() => undefined);
  }
}

async function acceptsWrites(client: pg.Client): Promise<boolean> {
  const { rows } = await client.query<{ recovers: boolean }>('SELECT pg_is_in_recovery() AS recovers');
  return rows[0]?.recovers === false;
}

function startFailure(what: string, output: string, data: string): UserError {
  if (saysDiskFull(output))
    return new UserError(`${what}: no space is left on the disk of ${data}.`, 'Free some space and start again.');
  if (/could not bind|Address already in use/i.test(output)) {
    const advice = 'Start again, or choose a port with --postgres-port.';
    return new UserError(`${what}: its port is taken by another program.`, advice);
  }
  // The exit code of the command that a restore has set.
  if (output.includes('could not restore file')) {
    return new UserError(
      `${what}: it cannot read the archive of its log.\n${output}`,
      `Make the archive that restore_command in ${data}/postgresql.auto.conf names readable for the account of ` +
        'PostgreSQL, and start again. Nothing is lost.',
    );
  }
  if (/EACCES|Permission denied/i.test(output)) {
    return new UserError(
      `${what}: permission denied.\n${output}`,
      'When root starts it, PostgreSQL runs as another account, which must enter the folders of the project and of ' +
        `the data. Allow others to enter the folders above ${data} (chmod o+x), or start as another user.`,
    );
  }
  return new UserError(`${what}.\n${output}`, `Its data is in ${data}; the lines above are the end of its log.`);
}
