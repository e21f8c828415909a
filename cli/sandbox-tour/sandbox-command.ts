import type { Command } from 'commander';
import type { SandboxTourOptions } from '#cli/sandbox-tour/sandbox.ts';
import { duration, id, ids, type EnvironmentFor, type SetUpOption } from '#cli/terminal/options.ts';

/** `reseller sandbox tour`. */
export function addSandboxCommand(program: Command, environmentFor: EnvironmentFor): void {
  program
    .command('sandbox')
    .description('the service’s sandbox, with its fictional balance')
    .command('tour')
    .description(
      'call every endpoint of the sandbox and measure its capabilities; exit code 0: all as expected, 1: not',
    )
    .option('--json', 'print the report as JSON')
    .option('--no-store', 'do not store the result; needs no database')
    .option('--package <id>', 'package to order (default: the first for sale that is completed)', id)
    .option('--vpn-plan <id>', 'VPN plan to order (default: the first for sale)', id)
    .option('--also <ids>', 'more packages to order once each and follow to their end, comma separated', ids)
    .option('--key-age <duration>', 'age at which an idempotency key is used again (default 10s)', duration)
    .option('--wait <duration>', 'how long to wait for the end of a purchase (default 30s)', duration)
    .action(async (options: SandboxTourOptions & SetUpOption) => {
      const { runSandboxTour } = await import('#cli/sandbox-tour/sandbox.ts');
      process.exitCode = await runSandboxTour(options, await environmentFor(options));
    });
}
