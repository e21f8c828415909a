import type { Command } from 'commander';
import type { ContractCheckOptions } from '#cli/service/contract.ts';
import type { EnvironmentFor, SetUpOption } from '#cli/terminal/options.ts';

/** `reseller contract check`. */
export function addContractCommand(program: Command, environmentFor: EnvironmentFor): void {
  program
    .command('contract')
    .description('the interface of the service that this product expects')
    .command('check [file]')
    .description(
      'compare an OpenAPI document of the service (JSON) with the contract; exit code 0: compatible, ' +
        '1: not, 2: no document',
    )
    .option('--download', 'first download the document from SERVICE_BASE_URL; into the file, if one is named')
    .option('--record', 'in production: release held purchases if the document and free read calls prove them safe')
    .option('--json', 'print the report as JSON')
    .action(async (file: string | undefined, options: ContractCheckOptions & SetUpOption) => {
      const { checkContractFile } = await import('#cli/service/contract.ts');
      process.exitCode = await checkContractFile(file, options, await environmentFor(options));
    });
}
