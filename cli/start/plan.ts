import { join } from 'node:path';
import { DRAIN_MS } from '#api/http/server.ts';
import type { DevelopmentSecrets } from '#cli/data-folder/development-secrets.ts';
import { freePort, reservePorts } from '#cli/embedded/ports.ts';
import { EmbeddedPostgres } from '#cli/embedded/postgres.ts';
import { type ProductEnvironments, productEnvironments } from '#cli/start/environment.ts';
import type { Ports, StartSettings } from '#cli/start/settings.ts';
import { NodeProcess } from '#cli/start/supervisor.ts';
import { readApiConfig, readCodecServerConfig, readWorkerConfig } from '#config/config.ts';
import { ConfigurationError } from '#config/configuration-error.ts';
import { presentOf, readTogether, type Environment, misspelled } from '#config/environment.ts';
import { VARIABLE_NAMES } from '#config/variables.ts';

export interface Plan {
  readonly settings: StartSettings;
  readonly secrets: DevelopmentSecrets;
  /** `api` is the port that callers use. */
  readonly ports: Ports;
  /** In a cluster, the load balancer is in front of these. */
  readonly apiPorts: readonly number[];
  readonly workerPorts: readonly number[];
  /** Undefined: each worker has its own, or the caller's. */
  readonly workflowBundle: string | undefined;
  readonly databaseUrl: string;
  readonly temporalAddress: string;
  readonly environments: ProductEnvironments;
  readonly workerGraceMs: number;
}

export const DATABASE = 'reseller';

const PROJECT = join(import.meta.dirname, '../..');
const STOP_GRACE_MS = 10_000;
/** An API finishes its answers first. */
const API_STOP_GRACE_MS = DRAIN_MS + STOP_GRACE_MS;
/** A worker stops its relay before WORKER_SHUTDOWN_GRACE, and closes its connections after it. */
const WORKER_STOPS_WITHIN_MS = 15_000;

/** @throws ConfigurationError when a process would refuse its environment. */
export async function makePlan(
  settings: StartSettings,
  secrets: DevelopmentSecrets,
  environment: Environment,
): Promise<Plan> {
  reservePorts(Object.values(settings.ports));
  const ports = { ...settings.ports, postgres: settings.ports.postgres || (await freePort()) };
  const { cluster } = settings;
  const apiPorts = cluster === undefined ? [ports.api] : await freePorts(cluster.apis);
  const workerPorts = [ports.worker, ...(await freePorts((cluster?.workers ?? 1) - 1))];
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
  // A variable set here would hide a misspelling of the caller.
  const misspellings = misspelled([...VARIABLE_NAMES], presentOf(environment));
  if (misspellings.length > 0) throw new ConfigurationError(misspellings);
  // All configuration errors at once, before any process starts.
  const { api, worker } = readTogether(environments.api, {
    api: readApiConfig,
    worker: () => readWorkerConfig(environments.worker),
    codec: () => readCodecServerConfig(environments.codec),
  });
  // With the password of DATABASE_PASSWORD.
  return {
    settings,
    secrets,
    ports,
    apiPorts,
    workerPorts,
    workflowBundle:
      cluster === undefined || environment['WORKFLOW_BUNDLE']
        ? undefined
        : join(settings.dataDirectory, 'workflows.js'),
    databaseUrl: api.database.url,
    temporalAddress,
    environments,
    workerGraceMs: worker.shutdownGraceMs,
  };
}

function freePorts(count: number): Promise<number[]> {
  return Promise.all(Array.from({ length: count }, () => freePort()));
}

export interface ProductProcesses {
  readonly apis: readonly NodeProcess[];
  readonly workers: readonly NodeProcess[];
  readonly codec: NodeProcess;
  readonly simulator: NodeProcess;
}

/** Nothing is started. */
export function productProcesses(plan: Plan): ProductProcesses {
  const { ports, environments, settings, workflowBundle } = plan;
  const bundle = workflowBundle === undefined ? {} : { WORKFLOW_BUNDLE: workflowBundle };
  // An API would name its own port, which is not that of the load balancer.
  const publicUrl = settings.cluster === undefined ? {} : { API_PUBLIC_URL: `http://127.0.0.1:${ports.api}` };
  const nodeProcess = (
    name: string,
    { log, script, environment, port, path, stopGraceMs = STOP_GRACE_MS }: Program,
  ): NodeProcess =>
    new NodeProcess({
      name,
      script: join(PROJECT, script),
      cwd: PROJECT,
      environment,
      readyUrl: `http://127.0.0.1:${port}${path}`,
      stopGraceMs,
      logFile: logFile(plan, log),
    });
  const numbered = (name: string, on: readonly number[], program: (port: number) => Omit<Program, 'port' | 'path'>) =>
    on.map((port, index) => {
      const one = { ...program(port), port, path: '/readyz' };
      if (settings.cluster === undefined) return nodeProcess(name, one);
      return nodeProcess(`${name} ${index + 1}`, { ...one, log: `${one.log}-${index + 1}` });
    });
  return {
    apis: numbered('API', plan.apiPorts, (port) => ({
      log: 'api',
      script: 'api/main.ts',
      environment: { ...publicUrl, ...environments.api, API_PORT: String(port) },
      stopGraceMs: API_STOP_GRACE_MS,
    })),
    workers: numbered('Worker', plan.workerPorts, (port) => ({
      log: 'worker',
      script: 'worker/main.ts',
      environment: { ...environments.worker, ...bundle, WORKER_PROBE_PORT: String(port) },
      stopGraceMs: plan.workerGraceMs + WORKER_STOPS_WITHIN_MS,
    })),
    codec: nodeProcess('Codec server', {
      log: 'codec',
      script: 'platform/temporal/codec-server-main.ts',
      environment: environments.codec,
      port: ports.codec,
      path: '/healthz',
    }),
    simulator: nodeProcess('Simulator', {
      log: 'simulator',
      script: 'simulator/main.ts',
      environment: environments.simulator,
      port: ports.simulator,
      path: '/simulator/state',
    }),
  };
}

interface Program {
  readonly log: string;
  readonly script: string;
  readonly environment: Environment;
  readonly port: number;
  readonly path: string;
  readonly stopGraceMs?: number;
}

export function logFile(plan: Plan, name: string): string {
  return join(plan.settings.dataDirectory, 'logs', `${name}.log`);
}
