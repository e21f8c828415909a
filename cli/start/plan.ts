/** The addresses, environments and processes of one `reseller start`, computed before anything is started. */
import { join } from 'node:path';
import type { DevelopmentSecrets } from '#cli/data-folder/development-secrets.ts';
import { freePort } from '#cli/embedded/ports.ts';
import { EmbeddedPostgres } from '#cli/embedded/postgres.ts';
import { type ProductEnvironments, productEnvironments } from '#cli/start/environment.ts';
import { NodeProcess } from '#cli/start/managed-process.ts';
import type { Ports, StartSettings } from '#cli/start/settings.ts';
import { readApiConfig, readCodecServerConfig, readWorkerConfig } from '#config/config.ts';
import { readTogether, type Environment } from '#config/environment.ts';

export interface Plan {
  readonly settings: StartSettings;
  readonly secrets: DevelopmentSecrets;
  /** The ports of the settings, with a free port chosen for PostgreSQL. */
  readonly ports: Ports;
  readonly databaseUrl: string;
  readonly temporalAddress: string;
  readonly environments: ProductEnvironments;
}

/** Name of our database in the embedded PostgreSQL. */
export const DATABASE = 'reseller';

const PROJECT = join(import.meta.dirname, '../..');
const STOP_GRACE_MS = 10_000;
/** Longer than WORKER_SHUTDOWN_GRACE (20 s unless set), in which the worker finishes running activities. */
const WORKER_STOP_GRACE_MS = 30_000;

/** @throws ConfigurationError when a process would refuse its environment. */
export async function makePlan(
  settings: StartSettings,
  secrets: DevelopmentSecrets,
  environment: Environment,
): Promise<Plan> {
  const ports = { ...settings.ports, postgres: settings.ports.postgres || (await freePort()) };
  const databaseUrl =
    settings.databaseUrl ?? EmbeddedPostgres.connectionString(ports.postgres, secrets.postgres_password, DATABASE);
  const temporalAddress = settings.temporalAddress ?? `127.0.0.1:${ports.temporal}`;
  const layout = {
    ports,
    databaseUrl,
    temporalAddress,
    simulatorData: join(settings.dataDirectory, 'simulator.sqlite'),
    ...(settings.serviceBaseUrl === undefined ? {} : { serviceBaseUrl: settings.serviceBaseUrl }),
  };
  const environments = productEnvironments(layout, secrets, environment);
  // Reports all configuration errors at once, before any process starts.
  const { api } = readTogether(environments.api, {
    api: readApiConfig,
    worker: () => readWorkerConfig(environments.worker),
    codec: () => readCodecServerConfig(environments.codec),
  });
  // With the password of DATABASE_PASSWORD.
  return { settings, secrets, ports, databaseUrl: api.database.url, temporalAddress, environments };
}

/** The product's own processes. */
export function productProcesses(plan: Plan): Readonly<Record<keyof ProductEnvironments, NodeProcess>> {
  const { ports, environments } = plan;
  const nodeProcess = (
    name: string,
    process: keyof ProductEnvironments,
    script: string,
    readyUrl: string,
    stopGraceMs: number,
  ) =>
    new NodeProcess({
      name,
      script: join(PROJECT, script),
      cwd: PROJECT,
      environment: environments[process],
      readyUrl,
      stopGraceMs,
      logFile: logFile(plan, process),
    });
  const at = (port: number, path: string) => `http://127.0.0.1:${port}${path}`;
  return {
    api: nodeProcess('API', 'api', 'api/main.ts', at(ports.api, '/readyz'), STOP_GRACE_MS),
    worker: nodeProcess('Worker', 'worker', 'worker/main.ts', at(ports.worker, '/readyz'), WORKER_STOP_GRACE_MS),
    codec: nodeProcess(
      'Codec server',
      'codec',
      'temporal/codec-server-main.ts',
      at(ports.codec, '/healthz'),
      STOP_GRACE_MS,
    ),
    simulator: nodeProcess(
      'Simulator',
      'simulator',
      'simulator/main.ts',
      at(ports.simulator, '/simulator/state'),
      STOP_GRACE_MS,
    ),
  };
}

/** The path of the log file of a process. */
export function logFile(plan: Plan, name: string): string {
  return join(plan.settings.dataDirectory, 'logs', `${name}.log`);
}
