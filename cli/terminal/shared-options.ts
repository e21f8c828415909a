/** Options that several commands take. */
import { type Command, Option } from 'commander';
import { impliedFolder } from '#cli/data-folder/installation.ts';
import { path } from '#cli/terminal/arguments.ts';
import type { Environment } from '#config/environment.ts';

/** `--data`: as given, or the folder that was found without it. */
export interface SetUpOption {
  readonly data?: string;
}

/** Reads the environment of the installation that a command works on. */
export type EnvironmentFor = (option: SetUpOption) => Promise<Environment>;

/**
 * Adds --data and --api to the program, which then takes them at every place of a command line, and finds the
 * installation before a command runs: the handler of the command gets `data` and `api` with its own options.
 *
 * @param onImplied called with the folder that was found without --data.
 */
export function withInstallationOptions(
  program: Command,
  environment: Environment,
  onImplied: (folder: string) => void,
): Command {
  return program
    .option(
      '--data <folder>',
      'work on the `npm start` that runs on this folder (default: the installation of the environment variables, ' +
        'or else the `npm start` on .data)',
      path,
    )
    .option('--api <url>', 'address of the REST API, for commands that call it (default: RESELLER_URL, or the above)')
    .hook('preAction', (_program, command) => {
      const { data, api } = program.opts<{ data?: string; api?: string }>();
      const implied = data === undefined ? impliedFolder(environment) : undefined;
      if (implied !== undefined) onImplied(implied);
      command.setOptionValue('data', data ?? implied);
      command.setOptionValue('api', api);
    });
}

/** Adds --json and --csv. */
export function withFormatOptions(command: Command): Command {
  return command
    .addOption(new Option('--json', 'print JSON, as the API sends it').conflicts('csv'))
    .option('--csv', 'print CSV with field names');
}

/** The reason that is stored with an operator's action. */
export const REASON = ['--reason <text>', 'reason, shown in the timeline; no personal data'] as const;
