import type { Command } from 'commander';
import type { Environment } from '#config/environment.ts';

/** `reseller prepare`. */
export function addPrepareCommand(program: Command, environment: Environment): void {
  program
    .command('prepare')
    .description('download or build the Temporal server and the test server, which no npm package contains')
    .option('--cluster', 'also build the Temporal server for PostgreSQL and its UI, which tests use (4 to 9 minutes)')
    .action(async ({ cluster }: { readonly cluster?: boolean }) => {
      const { prepareBinaries } = await import('#cli/set-up/prepare.ts');
      await prepareBinaries(environment, { cluster: cluster === true });
    });
}
