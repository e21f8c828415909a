import type { Command } from 'commander';
import { CLUSTER, PORTS, type StartOptions } from '#cli/start/settings.ts';
import { wholeNumber } from '#cli/terminal/options.ts';
import { UserError } from '#cli/terminal/user-error.ts';
import type { Environment } from '#config/environment.ts';

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
  command.action(async (options: StartOptions) => {
    refuseOptionsTakenByNpm(
      [...command.options, ...program.options].map(({ long }) => long ?? ''),
      environment,
    );
    await (await import('#cli/start/start.ts')).start(options, environment);
  });
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
