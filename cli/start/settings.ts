import { resolve } from 'node:path';
import { DEFAULT_FOLDER } from '#cli/data-folder/data-folder.ts';
import { isPortFree } from '#cli/embedded/ports.ts';
import { UserError } from '#cli/terminal/user-error.ts';
import { ConfigurationError, type ConfigurationProblem } from '#config/configuration-error.ts';
import { presentOf, type Environment } from '#config/environment.ts';

export interface Ports {
  readonly api: number;
  readonly worker: number;
  readonly simulator: number;
  readonly temporal: number;
  readonly temporalUi: number;
  readonly codec: number;
  /** 0 takes any free port. */
  readonly postgres: number;
}

export type PortName = keyof Ports;

interface PortSetting {
  readonly fallback: number;
  readonly variable?: string;
  readonly option: string;
  readonly use: string;
}

export const PORTS: Readonly<Record<PortName, PortSetting>> = {
  api: { fallback: 3000, variable: 'API_PORT', option: 'api-port', use: 'the API' },
  worker: { fallback: 3001, variable: 'WORKER_PROBE_PORT', option: 'worker-port', use: 'the worker’s probes' },
  simulator: { fallback: 4000, variable: 'SIMULATOR_PORT', option: 'simulator-port', use: 'the simulator' },
  temporal: { fallback: 7233, option: 'temporal-port', use: 'the Temporal server' },
  temporalUi: { fallback: 8233, option: 'temporal-ui-port', use: 'the Temporal UI' },
  codec: { fallback: 8234, variable: 'CODEC_PORT', option: 'codec-port', use: 'the codec server' },
  postgres: { fallback: 0, option: 'postgres-port', use: 'PostgreSQL' },
};

/** A cluster that loses one of its machines still has one. */
export const CLUSTER = { workers: 2, apis: 2 } as const;

type ClusterSize = Readonly<Record<keyof typeof CLUSTER, number>>;

/** As they are typed. */
export interface StartOptions extends Partial<ClusterSize>, Readonly<Partial<Record<`${PortName}Port`, number>>> {
  readonly data?: string;
  readonly demo: boolean;
  readonly walArchive?: string;
  readonly cluster?: boolean;
}

export interface StartSettings {
  readonly dataDirectory: string;
  readonly demo: boolean;
  readonly walArchive?: string;
  /** Undefined: one worker, one API and the Temporal development server. */
  readonly cluster?: ClusterSize;
  readonly ports: Ports;
  /** Undefined: we start it. */
  readonly databaseUrl?: string;
  readonly temporalAddress?: string;
  readonly serviceBaseUrl?: string;
}

/** @throws UserError for a size without a cluster; ConfigurationError for ports, and servers of a cluster elsewhere. */
export function startSettings(options: StartOptions, environment: Environment): StartSettings {
  const elsewhere = {
    databaseUrl: environment['DATABASE_URL'],
    temporalAddress: environment['TEMPORAL_ADDRESS'],
    serviceBaseUrl: environment['SERVICE_BASE_URL'],
  };
  const cluster = clusterOf(options);
  const { ports, problems } = portsOf(options, environment);
  if (cluster !== undefined) problems.push(...problemsOfCluster(elsewhere));
  if (problems.length > 0) throw new ConfigurationError(problems);
  return {
    dataDirectory: dataDirectoryOf(options),
    // Elsewhere than at our simulator, a demo order would spend money.
    demo: options.demo && !elsewhere.serviceBaseUrl,
    ports,
    ...(options.walArchive !== undefined && { walArchive: resolve(options.walArchive) }),
    ...(cluster !== undefined && { cluster }),
    ...presentOf(elsewhere),
  };
}

export function dataDirectoryOf({ data = DEFAULT_FOLDER }: StartOptions): string {
  return resolve(data);
}

function clusterOf({ cluster, workers, apis }: StartOptions): ClusterSize | undefined {
  if (cluster === true) return { workers: workers ?? CLUSTER.workers, apis: apis ?? CLUSTER.apis };
  if (workers === undefined && apis === undefined) return undefined;
  throw new UserError('--workers and --apis are options of a cluster.', 'Add --cluster.');
}

/** Temporal keeps its databases beside ours, and both are started here. */
function problemsOfCluster(
  elsewhere: Readonly<Record<'databaseUrl' | 'temporalAddress', string | undefined>>,
): ConfigurationProblem[] {
  const set = [elsewhere.databaseUrl && 'DATABASE_URL', elsewhere.temporalAddress && 'TEMPORAL_ADDRESS'];
  const message = 'is set, and --cluster starts its own PostgreSQL and Temporal: unset it, or leave out --cluster';
  return set.flatMap((name) => (name ? [{ name, message }] : []));
}

function portOf(text: string): number | undefined {
  const port = Number(text);
  return /^\d{1,5}$/.test(text) && port <= 65_535 ? port : undefined;
}

function portsTaken(settings: StartSettings): PortName[] {
  return [
    'api',
    'worker',
    'codec',
    ...(settings.serviceBaseUrl === undefined ? (['simulator'] as const) : []),
    ...(settings.temporalAddress === undefined ? (['temporal', 'temporalUi'] as const) : []),
    ...(settings.databaseUrl === undefined && settings.ports.postgres !== 0 ? (['postgres'] as const) : []),
  ];
}

function portsOf(
  given: StartOptions,
  environment: Environment,
): { readonly ports: Ports; readonly problems: ConfigurationProblem[] } {
  const problems: ConfigurationProblem[] = [];
  const names = Object.keys(PORTS) as PortName[];
  const ports = Object.fromEntries(
    names.map((name) => {
      const { fallback, variable = '', option } = PORTS[name];
      const asked = given[`${name}Port`];
      const port = asked ?? portOf(environment[variable] || String(fallback));
      // Only PostgreSQL takes any free port: the addresses of the others are told to each other.
      const isUsable = port !== undefined && (port > 0 || fallback === 0);
      if (!isUsable)
        problems.push({ name: asked === undefined ? variable : `--${option}`, message: 'must be a port number' });
      return [name, port ?? fallback];
    }),
  ) as Record<PortName, number>;
  return { ports, problems };
}

/** @throws ConfigurationError when a port is set twice; UserError with every port in use. */
export async function requireFreePorts(settings: StartSettings): Promise<void> {
  const wanted = portsTaken(settings).map((name) => ({ port: settings.ports[name], ...PORTS[name] }));
  const twice = wanted.find(({ port }, index) => wanted.findIndex((other) => other.port === port) !== index);
  if (twice !== undefined) {
    const message = `Port ${twice.port} is set twice, once for ${twice.use}: choose another with --${twice.option}`;
    throw new ConfigurationError([{ name: '', message }]);
  }
  const free = await Promise.all(wanted.map(({ port }) => isPortFree(port)));
  const busy = wanted.filter((_, index) => free[index] !== true);
  if (busy.length === 0) return;
  throw new UserError(
    busy.map(({ port, use }) => `Port ${port}, for ${use}, is used by another program.`).join('\n'),
    `Stop that program (\`lsof -i :${busy[0]?.port}\` names it), or choose other ports: ` +
      `${busy.map(({ option }) => `--${option} N`).join(' ')}.`,
  );
}
