import type { Command } from 'commander';
import type { ApiOptions } from '#cli/api/api-access.ts';

/** `reseller demo`. */
export function addDemoCommand(program: Command): void {
  program
    .command('demo')
    .description('buy an eSIM from the simulator through a running set-up, and follow the order until it is delivered')
    .action(async (options: ApiOptions) => (await import('#cli/set-up/demo.ts')).demo(options));
}
