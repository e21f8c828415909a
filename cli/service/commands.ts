import type { Command } from 'commander';
import { type EnvironmentFor, type SetUpOption, duration, id, ids, overlap, run } from '#cli/terminal/options.ts';
import { printText } from '#cli/terminal/output.ts';

export function addDoctorCommand(program: Command, environmentFor: EnvironmentFor): void {
  program
    .command('doctor')
    .description('check a set-up; spends nothing; exit code 0: no failure, 1: at least one, 78: unusable configuration')
    .option('--json', 'print the findings as JSON')
    .action(run(() => import('#cli/doctor/doctor.ts'), 'runDoctor', environmentFor));
}

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
    .action(run(() => import('#cli/sandbox-tour/sandbox.ts'), 'runSandboxTour', environmentFor));
}

export function addCapabilitiesCommand(program: Command, environmentFor: EnvironmentFor): void {
  const load = () => import('#cli/service/capabilities.ts');
  const capabilities = program
    .command('capabilities')
    .description('the measured capabilities of the service, and who confirmed them');
  capabilities
    .command('show')
    .description('the capability profile in use, and what it allows; exit code 1 when there is none')
    .option('--json', 'print it as JSON')
    .action(run(load, 'showCapabilities', environmentFor));
  capabilities
    .command('confirm')
    .description('confirm the profile, which lets production rely on it')
    .option('--by <name>', 'who confirms it (default: the account that runs this)')
    .action(run(load, 'confirmCapabilities', environmentFor));
  capabilities
    .command('import <file>')
    .description('import the profile of a tour’s --json report into the database of production')
    .action(async (file: string, options: SetUpOption) =>
      (await load()).importCapabilities(file, await environmentFor(options)),
    );
}

export function addContractCommand(program: Command, environmentFor: EnvironmentFor): void {
  const contract = program.command('contract').description('the interface of the service that this product expects');
  contract
    .command('check [file]')
    .description(
      'compare an OpenAPI document of the service (JSON) with the contract; exit code 0: compatible, ' +
        '1: not, 2: no document',
    )
    .option('--download', 'first download the document from SERVICE_BASE_URL; into the file, if one is named')
    .option('--record', 'in production: release held purchases if the document and free read calls prove them safe')
    .option('--json', 'print the report as JSON')
    .action(run(() => import('#cli/service/contract.ts'), 'checkContractFile', environmentFor));
  contract
    .command('assumptions')
    .description('what the specification states, what is assumed and why, and what takes the place of a missing call')
    .action(async () => {
      const { assumptionsDocument } = await import('#cli/service/assumptions.ts');
      printText(process.stdout, assumptionsDocument());
    });
}

export function addServiceSecretCommand(program: Command, environmentFor: EnvironmentFor): void {
  const load = () => import('#cli/service/service-secret.ts');
  const secret = program
    .command('service-secret')
    .description('the secret that signs the service’s webhooks: the service creates it, we store it encrypted');
  secret
    .command('create')
    .description('make the service create its first secret')
    .action(run(load, 'changeServiceSecret', environmentFor, 'create'));
  secret
    .command('rotate')
    .description('make the service replace the secret; the former one remains valid for a while')
    .option(
      '--overlap <duration>',
      'how long the former one is accepted, such as 2h; 0s when it has leaked (default ' +
        'service_webhooks.secret_overlap)',
      overlap,
    )
    .action(run(load, 'changeServiceSecret', environmentFor, 'rotate'));
}
