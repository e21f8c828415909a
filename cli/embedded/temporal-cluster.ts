import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { ServerProcess, untilReady } from '#cli/embedded/child.ts';
import { freePort } from '#cli/embedded/ports.ts';
import type { ObtainOptions } from '#cli/embedded/temporal-cli.ts';
import { namespaceAnswers } from '#cli/embedded/temporal-server.ts';
import { cacheDirectory, BUILD_DISK_GB, buildWithGo, goProblem, SERVER_VERSIONS, runTool } from '#cli/embedded/tool.ts';
import { UserError } from '#cli/terminal/user-error.ts';
import type { TemporalTls } from '#config/config.ts';

export interface TemporalPrograms {
  readonly server: string;
  readonly sqlTool: string;
  readonly ui: string;
}

const MODULE = join(import.meta.dirname, '../../ops/temporal-server');
const IMPORT_PATHS: Readonly<Record<keyof TemporalPrograms, string>> = {
  server: 'go.temporal.io/server/cmd/server',
  sqlTool: 'go.temporal.io/server/cmd/tools/sql',
  ui: 'github.com/temporalio/ui-server/v2/cmd/server',
};

export async function obtainTemporalPrograms(options: Omit<ObtainOptions, 'download'>): Promise<TemporalPrograms> {
  const { environment, progress, announce, signal } = options;
  const folder = join(
    cacheDirectory(environment),
    `temporal-server-${SERVER_VERSIONS.temporal_server}-ui-${SERVER_VERSIONS.temporal_ui}`,
  );
  const programs: TemporalPrograms = {
    server: join(folder, 'temporal-server'),
    sqlTool: join(folder, 'temporal-sql-tool'),
    ui: join(folder, 'temporal-ui-server'),
  };
  const missing = (['server', 'sqlTool', 'ui'] as const).filter((name) => !existsSync(programs[name]));
  if (missing.length === 0) return programs;
  const problem = await goProblem(environment);
  if (problem !== undefined) {
    throw new UserError(
      `The Temporal server ${SERVER_VERSIONS.temporal_server} is built from source, and cannot be built: ${problem}.`,
      'Install Go 1.25 or later and start again.',
    );
  }
  const { temporal_server: server, temporal_ui: ui } = SERVER_VERSIONS;
  announce?.(
    `Temporal ${server} and its UI ${ui} are built from source. This happens once. It takes 4 to 9 minutes\n` +
      `and needs about ${BUILD_DISK_GB} GB of disk below ${cacheDirectory(environment)} and in the folders of Go.`,
  );
  for (const name of missing) {
    await buildWithGo({
      module: MODULE,
      program: IMPORT_PATHS[name],
      target: programs[name],
      environment,
      progress,
      ...(signal !== undefined && { signal }),
    });
  }
  return programs;
}

export interface TemporalClusterOptions {
  readonly programs: TemporalPrograms;
  readonly port: number;
  /** `postgres://user:password@host:port/…`; the account may create databases. */
  readonly postgresUrl: string;
  readonly databases: { readonly main: string; readonly visibility: string };
  /** Beyond the variables of `docker-compose.yml`, and how our own check of readiness then connects. */
  readonly more?: { readonly environment: Readonly<Record<string, string>>; readonly tls: TemporalTls };
  readonly logFile: string;
}

const DYNAMIC_CONFIG = join(import.meta.dirname, '../../ops/temporal/dynamic-config.yaml');
const PLUGIN = 'postgres12_pgx';
/** The same as in `docker-compose.yml`. It cannot be changed later. */
const SHARDS = '16';
const READY_TIMEOUT_MS = 120_000;
const READY_POLL_MS = 250;
const STOP_GRACE_MS = 15_000;
const MOST_STARTS = 3;

/** All four services in one process, on PostgreSQL and loopback. */
export class TemporalCluster extends ServerProcess {
  readonly #options: TemporalClusterOptions;
  #ports: ServicePorts;

  private constructor(options: TemporalClusterOptions, ports: ServicePorts) {
    super('Temporal', STOP_GRACE_MS);
    this.#options = options;
    this.#ports = ports;
  }

  static async prepare(options: TemporalClusterOptions): Promise<TemporalCluster> {
    const { databases, programs, postgresUrl } = options;
    const url = new URL(postgresUrl);
    const environment = {
      PATH: process.env['PATH'],
      SQL_PLUGIN: PLUGIN,
      SQL_HOST: url.hostname,
      SQL_PORT: url.port,
      SQL_USER: decodeURIComponent(url.username),
      SQL_PASSWORD: decodeURIComponent(url.password),
    };
    for (const [folder, database] of [
      ['temporal', databases.main],
      ['visibility', databases.visibility],
    ] as const) {
      const tool = async (...args: string[]) => {
        await runTool(programs.sqlTool, args, { environment: { ...environment, SQL_DATABASE: database } });
      };
      await tool('create-database', '--defaultdb', 'postgres');
      await tool('setup-schema', '--version', '0.0');
      await tool('update-schema', '--schema-name', `postgresql/v12/${folder}`);
    }
    return new TemporalCluster(options, await servicePorts());
  }

  get address(): string {
    return `127.0.0.1:${this.#options.port}`;
  }

  async start(): Promise<void> {
    for (let tries = 1; ; tries += 1) {
      const child = this.launch({
        command: this.#options.programs.server,
        args: ['start'],
        environment: this.#environment(),
        logFile: this.#options.logFile,
      });
      try {
        await untilReady(child, {
          timeoutMs: READY_TIMEOUT_MS,
          pollMs: READY_POLL_MS,
          answers: () => namespaceAnswers(this.address, 'temporal-system', this.#options.more?.tls),
          what: 'The Temporal server',
        });
        return;
      } catch (error) {
        // Another program has taken a port between its choice and its use. It may be the port of the frontend, too.
        const isTaken = child.exit !== undefined && child.tail().includes('address already in use');
        if (!isTaken || tries === MOST_STARTS) throw error;
        this.#ports = await servicePorts();
      }
    }
  }

  /** The same as in `docker-compose.yml`. */
  #environment(): Readonly<Record<string, string | undefined>> {
    const { databases, postgresUrl, port, more } = this.#options;
    const url = new URL(postgresUrl);
    return {
      PATH: process.env['PATH'],
      LOG_LEVEL: 'warn',
      DB: PLUGIN,
      DBNAME: databases.main,
      VISIBILITY_DBNAME: databases.visibility,
      POSTGRES_SEEDS: url.hostname,
      DB_PORT: url.port,
      VISIBILITY_DB_PORT: url.port,
      POSTGRES_USER: decodeURIComponent(url.username),
      POSTGRES_PWD: decodeURIComponent(url.password),
      NUM_HISTORY_SHARDS: SHARDS,
      BIND_ON_IP: '127.0.0.1',
      TEMPORAL_BROADCAST_ADDRESS: '127.0.0.1',
      FRONTEND_GRPC_PORT: String(port),
      DYNAMIC_CONFIG_FILE_PATH: DYNAMIC_CONFIG,
      ...this.#ports,
      ...more?.environment,
    };
  }
}

type ServicePorts = Readonly<Record<string, string>>;

async function servicePorts(): Promise<ServicePorts> {
  const names = [
    'FRONTEND_HTTP_PORT',
    ...['FRONTEND', 'HISTORY', 'MATCHING', 'WORKER'].map((service) => `${service}_MEMBERSHIP_PORT`),
    ...['HISTORY', 'MATCHING', 'WORKER'].map((service) => `${service}_GRPC_PORT`),
  ];
  return Object.fromEntries(await Promise.all(names.map(async (name) => [name, String(await freePort())] as const)));
}
