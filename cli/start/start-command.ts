import { type Command, InvalidArgumentError } from 'commander';
import { DEFAULT_FOLDER } from '#cli/data-folder/installation.ts';
import { refuseOptionsTakenByNpm } from '#cli/start/npm-options.ts';
import { portOf, PORTS, type PortName } from '#cli/start/settings.ts';
import { UserError } from '#cli/terminal/user-error.ts';
import type { Environment } from '#config/environment.ts';

/** `reseller start`. */
export function addStartCommand(program: Command, environment: Environment): void {
  const command = program
    .command('start')
    .description(
      'start everything on this machine: PostgreSQL, Temporal, simulator, API and worker; data and logs are in ' +
        '.data, or in the folder of --data',
    )
    .option('--no-demo', 'do not buy a first eSIM from the simulator')
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
        ports: portOptions(options),
      },
      environment,
    );
  });
}

function portOptions(options: Record<string, unknown>): Partial<Record<PortName, number>> {
  const given = Object.entries(PORTS).flatMap(([name, { option }]) => {
    const value = options[option.replaceAll(/-(.)/g, (_, letter: string) => letter.toUpperCase())];
    return typeof value === 'number' ? [[name, value] as const] : [];
  });
  return Object.fromEntries(given);
}

function parsePort(text: string): number {
  try {
    return portOf(text, 'it');
  } catch (error) {
    throw new InvalidArgumentError(error instanceof UserError ? error.advice : String(error));
  }
}
