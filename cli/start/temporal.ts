import { join } from 'node:path';
import { EmbeddedPostgres } from '#cli/embedded/postgres.ts';
import { obtainTemporalCli, type ObtainOptions, type TemporalCli } from '#cli/embedded/temporal-cli.ts';
import { TemporalCluster, obtainTemporalPrograms } from '#cli/embedded/temporal-cluster.ts';
import { TemporalServer } from '#cli/embedded/temporal-server.ts';
import { TemporalUi } from '#cli/embedded/temporal-ui.ts';
import { logFile, type Plan } from '#cli/start/plan.ts';
import type { ManagedProcess } from '#cli/start/supervisor.ts';
import type { Step } from '#cli/terminal/terminal.ts';
import { readWorkerConfig } from '#config/config.ts';

export interface TemporalStart {
  readonly plan: Plan;
  readonly obtain: Omit<ObtainOptions, 'progress'>;
  readonly step: <Value>(name: string, work: (step: Step) => Promise<Value>) => Promise<Value>;
  readonly serve: (server: ManagedProcess) => Promise<void>;
}

/** The same as in `docker-compose.yml`. */
const DATABASES = { main: 'temporal', visibility: 'temporal_visibility' } as const;

export async function startDevelopmentServer({ plan, obtain, step, serve }: TemporalStart): Promise<void> {
  const cli = await step('Temporal CLI', async (shown) => {
    const found = await obtainTemporalCli({ ...obtain, progress: (text) => shown.update(text) });
    shown.done(SOURCE_TEXT[found.source]);
    return found;
  });
  await step('Temporal server', async (shown) => {
    const server = new TemporalServer({
      cli: cli.path,
      port: plan.ports.temporal,
      uiPort: plan.ports.temporalUi,
      databaseFile: join(plan.settings.dataDirectory, 'temporal.db'),
      codecEndpoint: codecEndpoint(plan),
      logFile: logFile(plan, 'temporal'),
      environment: obtain.environment,
    });
    await serve(server);
    shown.done(`on ${server.address}`);
  });
}

/** The programs are built while `postgres` starts. */
export async function startCluster(
  { plan, obtain, step, serve }: TemporalStart,
  postgres: Promise<unknown>,
): Promise<void> {
  const { ports, secrets } = plan;
  const programs = await step('Temporal programs', (shown) =>
    obtainTemporalPrograms({ ...obtain, progress: (text) => shown.update(text) }),
  );
  await postgres;
  await step('Temporal server', async (shown) => {
    shown.update('setting up its databases');
    const server = await TemporalCluster.prepare({
      programs,
      port: ports.temporal,
      postgresUrl: EmbeddedPostgres.connectionString(ports.postgres, secrets.postgres_password, 'postgres'),
      databases: DATABASES,
      logFile: logFile(plan, 'temporal'),
    });
    shown.update('starting');
    await serve(server);
    shown.done(`on ${server.address}`);
  });
  await step('Temporal UI', () =>
    serve(
      new TemporalUi({
        program: programs.ui,
        port: ports.temporalUi,
        temporalAddress: plan.temporalAddress,
        namespace: readWorkerConfig(plan.environments.worker).temporal.namespace,
        codecEndpoint: codecEndpoint(plan),
        logFile: logFile(plan, 'temporal-ui'),
      }),
    ),
  );
}

function codecEndpoint({ ports }: Plan): string {
  return `http://127.0.0.1:${ports.codec}`;
}

const SOURCE_TEXT: Readonly<Record<TemporalCli['source'], string>> = {
  TEMPORAL_CLI_PATH: 'from TEMPORAL_CLI_PATH',
  PATH: 'from the PATH',
  cache: 'from the cache',
  download: 'downloaded and cached',
  build: 'built from source and cached',
};
