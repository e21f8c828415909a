import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Command } from 'commander';
import { DEFAULT_FOLDER } from '#cli/data-folder/installation.ts';
import { moment, path } from '#cli/terminal/arguments.ts';
import type { EnvironmentFor, SetUpOption } from '#cli/terminal/shared-options.ts';
import type { Environment } from '#config/environment.ts';

interface RestoreCommandOptions extends SetUpOption {
  readonly into?: string;
  readonly walArchive?: string;
  readonly until?: string;
}

/** `reseller backup` and `reseller restore`. */
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
    .action(async (backup: string, { into, data = DEFAULT_FOLDER, walArchive, until }: RestoreCommandOptions) => {
      const { restore } = await import('#cli/backup/restore.ts');
      const target = into === undefined ? { data } : { postgres: into };
      const recovery = { ...(walArchive !== undefined && { walArchive }), ...(until !== undefined && { until }) };
      process.exitCode = await restore({ backup, target, ...recovery }, environment);
    });
}

function ownTemporalFile(data: string | undefined): string | undefined {
  const file = data === undefined ? undefined : join(data, 'temporal.db');
  return file !== undefined && existsSync(file) ? file : undefined;
}
