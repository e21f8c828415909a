import type { Command } from 'commander';
import type { EnvironmentFor, SetUpOption } from '#cli/terminal/shared-options.ts';

/** `reseller migrate`. */
export function addMigrateCommand(program: Command, environmentFor: EnvironmentFor): void {
  program
    .command('migrate')
    .description('migrate the database of DATABASE_URL to the current schema')
    .action(async (options: SetUpOption) =>
      (await import('#cli/set-up/migrate.ts')).migrateDatabase(await environmentFor(options)),
    );
}
