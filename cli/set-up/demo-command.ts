import type { Command } from 'commander';
import type { ApiOptions } from '#cli/api/api-access.ts';

/** `reseller demo`. */
export function addDemoCommand(program: Command): void {
  program
    .command('demo')
    .description('buy an eSIM from the simulator through a running set-up, and follow the order until it is delivered')
    .option('--api <url>', 'base address of the API (default: the API of the `npm start` that runs on the data folder)')
    .option('--data <folder>', 'data folder of the set-up; its dev-api-key is used', '.data')
    .action(async (options: ApiOptions) => (await import('#cli/set-up/demo.ts')).demo(options));
}
