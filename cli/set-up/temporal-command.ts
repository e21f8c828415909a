import type { Command } from 'commander';
import type { EnvironmentFor, SetUpOption } from '#cli/terminal/shared-options.ts';
import type { Environment } from '#config/environment.ts';

/** `reseller temporal`. */
export function addTemporalCommand(program: Command, environmentFor: EnvironmentFor, environment: Environment): void {
  program
    .command('temporal [arguments...]')
    .description('run the Temporal CLI with our address and codec server: reseller temporal -- workflow list')
    .action(async (args: string[], options: SetUpOption) => {
      const { runTemporalCli } = await import('#cli/set-up/temporal.ts');
      process.exitCode = runTemporalCli(args, await environmentFor(options), environment);
    });
}
