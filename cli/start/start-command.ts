import type { Command } from 'commander';
import { DEFAULT_FOLDER } from '#cli/data-folder/data-folder.ts';
import { type ClusterSize, PORTS, type PortName } from '#cli/start/settings.ts';
import { wholeNumber } from '#cli/terminal/options.ts';
import { UserError } from '#cli/terminal/user-error.ts';
import type { Environment } from '#config/environment.ts';

/** A cluster that loses one of its machines still has one. */
const CLUSTER: ClusterSize = { workers: 2, apis: 2 };

export function addStartCommand(program: Command, environment: Environment): void {
  const command = program
    .command('start')
    .description(
      'start everything on this machine: PostgreSQL, Temporal, simulator, API and worker; data and logs are in ' +
        '.data, or in the folder of --data',
    )
    .option('--no-demo', 'do not buy a first eSIM from the simulator')
    .option('--cluster', 'start a cluster: the Temporal server for PostgreSQL, and several workers and APIs')
    .option('--workers <number>', `workers of the cluster (default ${CLUSTER.workers})`, parseCount)
    .option('--apis <number>', `APIs of the cluster, behind a load balancer (default ${CLUSTER.apis})`, parseCount)
    .option('--wal-archive <folder>', 'archive the write-ahead log of PostgreSQL there, for `reseller restore`');
  for (const { option, use, fallback } of Object.values(PORTS)) {
    command.option(
      `--${option} <port>`,
      `port of ${use} (default ${fallback === 0 ? 'any free one' : fallback})`,
      parsePort,
    );
  }
  command.action(async (options: Record<string, unknown>) => {
    refuseOptionsTakenByNpm(
      [...command.options, ...program.options].map(({ long }) => long ?? ''),
      environment,
    );
    const { start } = await import('#cli/start/start.ts');
    await start(
      {
        data: typeof options['data'] === 'string' ? options['data'] : DEFAULT_FOLDER,
        demo: options['demo'] === true,
        ...(typeof options['walArchive'] === 'string' && { walArchive: options['walArchive'] }),
        ...clusterOption(options),
        ports: portOptions(options),
      },
      environment,
    );
  });
}

function clusterOption(options: Record<string, unknown>): { readonly cluster?: ClusterSize } {
  const { cluster, workers, apis } = options;
  if (cluster !== true) {
    if (workers === undefined && apis === undefined) return {};
    throw new UserError('--workers and --apis are options of a cluster.', 'Add --cluster.');
  }
  return {
    cluster: {
      workers: typeof workers === 'number' ? workers : CLUSTER.workers,
      apis: typeof apis === 'number' ? apis : CLUSTER.apis,
    },
  };
}

function portOptions(options: Record<string, unknown>): Partial<Record<PortName, number>> {
  const given = Object.entries(PORTS).flatMap(([name, { option }]) => {
    const value = options[option.replaceAll(/-(.)/g, (_, letter: string) => letter.toUpperCase())];
    return typeof value === 'number' ? [[name, value] as const] : [];
  });
  return Object.fromEntries(given);
}

const parseCount = wholeNumber(1, 99, 'Use a number from 1 to 99.');
const parsePort = wholeNumber(0, 65_535, 'Use a number from 1 to 65535.');

/** Without `--` npm keeps a script's options and only sets a variable; the start would ignore them. */
export function refuseOptionsTakenByNpm(options: readonly string[], environment: Environment): void {
  const taken = options.filter((option) => environment[variableOf(option)] !== undefined);
  if (taken.length === 0) return;
  throw new UserError(
    `npm did not pass on ${taken.join(' and ')}, so nothing was started.`,
    `Put \`--\` before the options: ${npmCommand(environment)} -- ${taken.join(' ')}`,
  );
}

function npmCommand({ npm_lifecycle_event: script = 'start' }: Environment): string {
  return script === 'start' ? 'npm start' : `npm run ${script}`;
}

function variableOf(option: string): string {
  return `npm_config_${option.replace(/^--(no-)?/, '').replaceAll('-', '_')}`;
}
