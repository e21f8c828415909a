import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { type Command, Argument } from 'commander';
import type { ApiOptions } from '#cli/api/api-access.ts';
import type { Recovery } from '#cli/backup/recovery.ts';
import { DEFAULT_FOLDER } from '#cli/data-folder/data-folder.ts';
import {
  type EnvironmentFor,
  type SetUpOption,
  withFormatOptions,
  moment,
  path,
  percentage,
  run,
} from '#cli/terminal/options.ts';
import type { Environment } from '#config/environment.ts';

export function addPrepareCommand(program: Command, environment: Environment): void {
  program
    .command('prepare')
    .description('download or build the Temporal server, which no npm package contains')
    .option('--cluster', 'also build the Temporal server for PostgreSQL and its UI, which tests use (4 to 9 minutes)')
    .action(run(() => import('#cli/set-up/temporal.ts'), 'prepareBinaries', environment));
}

export function addMigrateCommand(program: Command, environmentFor: EnvironmentFor): void {
  program
    .command('migrate')
    .description('migrate the database of DATABASE_URL to the current schema')
    .action(async (options: SetUpOption) =>
      (await import('#cli/set-up/command-database.ts')).migrateDatabase(await environmentFor(options)),
    );
}

const NAME = ['--name <name>', 'the worker deployment (default: WORKER_DEPLOYMENT_NAME)'] as const;

export function addDeploymentCommand(program: Command, environmentFor: EnvironmentFor): void {
  const load = () => import('#cli/set-up/deployment.ts');
  const deployment = program
    .command('deployment')
    .description('versions of the workers in Temporal: which one gets new work');
  withFormatOptions(
    deployment
      .command('show')
      .description('list the versions with their state and their running workflows')
      .option(...NAME),
  ).action(run(load, 'showDeployment', environmentFor));
  deployment
    .command('set-current')
    .argument('[build]', 'the version (default: WORKER_BUILD_ID)')
    .description('send new work to a version; the former one keeps the runs that are pinned to it')
    .option(...NAME)
    .option('--unversioned', 'send all work to workers without a version')
    .action(run(load, 'setCurrent', environmentFor));
  deployment
    .command('set-ramping')
    .argument('<build>', 'the version')
    .addArgument(new Argument('<percentage>', 'share of new work, 0 to 100; 0 ends it').argParser(percentage))
    .description('send a share of new work to a version')
    .option(...NAME)
    .action(run(load, 'setRamping', environmentFor));
  deployment
    .command('delete')
    .argument('<build>', 'the version')
    .description('forget a version that is drained and has no workers')
    .option(...NAME)
    .action(run(load, 'deleteVersion', environmentFor));
}

export function addTemporalCommand(program: Command, environmentFor: EnvironmentFor, environment: Environment): void {
  program
    .command('temporal [arguments...]')
    .description('run the Temporal CLI with our address and codec server: reseller temporal -- workflow list')
    .action(async (args: string[], options: SetUpOption) => {
      const { runTemporalCli } = await import('#cli/set-up/temporal.ts');
      process.exitCode = runTemporalCli(args, await environmentFor(options), environment);
    });
}

export function addDemoCommand(program: Command): void {
  program
    .command('demo')
    .description('buy an eSIM from the simulator through a running set-up, and follow the order until it is delivered')
    .action(async (options: ApiOptions) => (await import('#cli/set-up/demo.ts')).demo(options));
}

export function addConfigCommand(program: Command, environmentFor: EnvironmentFor): void {
  const config = program.command('config').description('check and show the configuration');
  config
    .command('check [file]')
    .description(
      'check the variables of all processes and the policy file, or only the policy file FILE; exit code 0: usable, ' +
        '78: not',
    )
    .option('--json', 'print the problems as JSON')
    .action(async (file: string | undefined, options: { json?: boolean } & SetUpOption) => {
      const { checkConfiguration } = await import('#cli/set-up/config.ts');
      const environment = file === undefined ? await environmentFor(options) : {};
      process.exitCode = checkConfiguration(file, options, environment);
    });
  config
    .command('show')
    .description('print every variable and setting with its value and source; secrets are not printed')
    .option('--json', 'print JSON')
    .action(async (options: { json?: boolean } & SetUpOption) => {
      const { showConfiguration } = await import('#cli/set-up/config.ts');
      const environment = await environmentFor(options);
      const { namesSetByStart } = await import('#cli/data-folder/running-environment.ts');
      showConfiguration(options, environment, options.data === undefined ? [] : namesSetByStart(options.data));
    });
}

export function addBackupCommands(program: Command, environmentFor: EnvironmentFor, environment: Environment): void {
  program
    .command('backup')
    .argument('<folder>', 'folder that gets a new folder with the backup', path)
    .option(
      '--temporal-file <file>',
      'database file of a Temporal development server (default: that of `npm start`)',
      path,
    )
    .description('back up the whole PostgreSQL server of DATABASE_URL, while it works, without the encryption keys')
    .action(async (folder: string, { temporalFile, ...options }: SetUpOption & { readonly temporalFile?: string }) => {
      const { backUp } = await import('#cli/backup/backup.ts');
      const file = temporalFile ?? ownTemporalFile(options.data);
      await backUp({ folder, ...(file !== undefined && { temporalFile: file }) }, await environmentFor(options));
    });
  program
    .command('restore')
    .argument('<backup>', 'folder of the backup', path)
    .option(
      '--into <folder>',
      'restore only PostgreSQL, into this data folder (default: the `npm start` of --data)',
      path,
    )
    .option('--wal-archive <folder>', 'recover later changes from this archive of the write-ahead log', path)
    .option('--until <time>', 'recover to this time, such as 2030-01-31T12:00:00Z (default: all changes)', moment)
    .description('restore a backup into an empty place; checks its files and the encryption keys first')
    .action(async (backup: string, options: SetUpOption & Recovery & { readonly into?: string }) => {
      const { restore } = await import('#cli/backup/restore.ts');
      const { into, data = DEFAULT_FOLDER, ...recovery } = options;
      const target = into === undefined ? { data } : { postgres: into };
      process.exitCode = await restore({ backup, target, ...recovery }, environment);
    });
}

function ownTemporalFile(data: string | undefined): string | undefined {
  const file = data === undefined ? undefined : join(data, 'temporal.db');
  return file !== undefined && existsSync(file) ? file : undefined;
}
