import type { Command } from 'commander';
import type { Environment } from '#config/environment.ts';

/** `reseller prepare`. */
export function addPrepareCommand(program: Command, environment: Environment): void {
  program
    .command('prepare')
    .description('download or build the Temporal server and the test server, which no npm package contains')
    .action(async () => (await import('#cli/set-up/prepare.ts')).prepareBinaries(environment));
}
