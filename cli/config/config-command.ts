import type { Command } from 'commander';
import type { EnvironmentFor, SetUpOption } from '#cli/terminal/shared-options.ts';

/** `reseller config`. */
export function addConfigCommand(program: Command, environmentFor: EnvironmentFor): void {
  const config = program.command('config').description('check and show the configuration');
  config
    .command('check [file]')
    .description(
      'check the variables of all processes and the policy file, or only the policy file FILE; exit code 0: usable, ' +
        '78: not',
    )
    .option('--json', 'print the problems as JSON')
    .action(async (file: string | undefined, options: { json?: boolean } & SetUpOption) => {
      const { checkConfiguration } = await import('#cli/config/config.ts');
      const environment = file === undefined ? await environmentFor(options) : {};
      process.exitCode = checkConfiguration(file, options, environment);
    });
  config
    .command('show')
    .description('print every variable and setting with its value and source; secrets are not printed')
    .option('--json', 'print JSON')
    .action(async (options: { json?: boolean } & SetUpOption) => {
      const { showConfiguration } = await import('#cli/config/config.ts');
      const environment = await environmentFor(options);
      const { namesSetByStart } = await import('#cli/data-folder/running-environment.ts');
      showConfiguration(options, environment, options.data === undefined ? [] : namesSetByStart(options.data));
    });
}
