import type { Command } from 'commander';
import type { Environment } from '#config/environment.ts';

/** `reseller migrate`. */
export function addMigrateCommand(program: Command, environment: Environment): void {
  program
    .command('migrate')
    .description('migrate the database of DATABASE_URL to the current schema')
    .action(async () => (await import('#cli/set-up/migrate.ts')).migrateDatabase(environment));
}
