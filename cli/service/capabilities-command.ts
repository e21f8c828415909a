import type { Command } from 'commander';
import type { EnvironmentFor, SetUpOption } from '#cli/terminal/options.ts';

/** `reseller capabilities show`, `confirm` and `import`. */
export function addCapabilitiesCommand(program: Command, environmentFor: EnvironmentFor): void {
  const load = () => import('#cli/service/capabilities.ts');
  const capabilities = program
    .command('capabilities')
    .description('the measured capabilities of the service, and who confirmed them');
  capabilities
    .command('show')
    .description('the capability profile in use, and what it allows; exit code 1 when there is none')
    .option('--json', 'print it as JSON')
    .action(async (options: { json?: boolean } & SetUpOption) => {
      process.exitCode = await (await load()).showCapabilities(options, await environmentFor(options));
    });
  capabilities
    .command('confirm')
    .description('confirm the profile, which lets production rely on it')
    .option('--by <name>', 'who confirms it (default: the account that runs this)')
    .action(async (options: { by?: string } & SetUpOption) =>
      (await load()).confirmCapabilities(options, await environmentFor(options)),
    );
  capabilities
    .command('import <file>')
    .description('import the profile of a tour’s --json report into the database of production')
    .action(async (file: string, options: SetUpOption) =>
      (await load()).importCapabilities(file, await environmentFor(options)),
    );
}
