/** Each command is registered beside its implementation, which is loaded on use. */
import { Command } from 'commander';
import { productVersion } from '#api/openapi/version.ts';
import { addEncryptionKeysCommand, addKeysCommand } from '#cli/access/access-commands.ts';
import {
  addDeadLettersCommand,
  addGateCommand,
  addListenCommand,
  addPricingActions,
  addReconcileCommand,
  addReplayCommand,
  addWorkActions,
} from '#cli/operator/operator-commands.ts';
import { AUDIT, CASES, EVENTS, REFUNDS, SALES, WALLET, WEBHOOK_ENDPOINTS } from '#cli/resources/account.ts';
import { BATCHES, ESIMS, PACKAGES, PRICING, QUOTES, SHARE_LINKS } from '#cli/resources/catalogue.ts';
import { PURCHASES } from '#cli/resources/purchases.ts';
import { addCall, addResource, describeOnEntry, withExamples } from '#cli/resources/resource-command.ts';
import {
  addCapabilitiesCommand,
  addContractCommand,
  addDoctorCommand,
  addSandboxCommand,
  addServiceSecretCommand,
} from '#cli/service/commands.ts';
import {
  addBackupCommands,
  addConfigCommand,
  addDemoCommand,
  addDeploymentCommand,
  addMigrateCommand,
  addPrepareCommand,
  addTemporalCommand,
} from '#cli/set-up/set-up-commands.ts';
import { addStartCommand } from '#cli/start/start-command.ts';
import { type SetUpOption, withInstallationOptions } from '#cli/terminal/options.ts';
import type { Environment } from '#config/environment.ts';
import { WORK_KINDS } from '#domain/work/kinds.ts';

export function resellerProgram(environment: Environment) {
  let ownEnvironment = false;
  let impliedFolder: string | undefined;

  async function environmentFor({ data }: SetUpOption): Promise<Environment> {
    if (data === undefined) {
      ownEnvironment = true;
      return environment;
    }
    if (data === impliedFolder) process.stderr.write(`Works on the \`npm start\` of ${data}.\n`);
    return (await import('#cli/data-folder/running-environment.ts')).readRunningEnvironment(data);
  }

  const program = new Command('reseller')
    .description('Order fulfilment for resellers of eSIM data packages and VPN subscriptions')
    .version(productVersion(), '--version', 'print the version')
    .configureHelp({ showGlobalOptions: true })
    .showHelpAfterError('(--help lists commands and options)');
  describeOnEntry(program);

  withInstallationOptions(program, environment, (folder) => (impliedFolder = folder));

  addStartCommand(program, environment);
  addDemoCommand(program);
  for (const kind of WORK_KINDS) addWorkActions(addResource(program, PURCHASES[kind], environment), kind, environment);
  for (const resource of [BATCHES, ESIMS, SHARE_LINKS, PACKAGES, QUOTES, WALLET, SALES, REFUNDS, CASES])
    addResource(program, resource, environment);
  addPricingActions(addResource(program, PRICING, environment), environment);
  addListenCommand(addResource(program, EVENTS, environment), environment);
  addReplayCommand(addResource(program, WEBHOOK_ENDPOINTS, environment), environment);
  addCall(program, 'audit', AUDIT, environment);
  addGateCommand(program, environment);
  addDeadLettersCommand(program, environment);
  addKeysCommand(program, environmentFor);
  addEncryptionKeysCommand(program, environmentFor);
  addServiceSecretCommand(program, environmentFor);
  addMigrateCommand(program, environmentFor);
  addBackupCommands(program, environmentFor, environment);
  addPrepareCommand(program, environment);
  addContractCommand(program, environmentFor);
  addConfigCommand(program, environmentFor);
  addDoctorCommand(program, environmentFor);
  addReconcileCommand(program, environmentFor);
  addSandboxCommand(program, environmentFor);
  addCapabilitiesCommand(program, environmentFor);
  addDeploymentCommand(program, environmentFor);
  addTemporalCommand(program, environmentFor, environment);
  withExamples(program, 'reseller', [
    ['orders list --status held', 'orders that wait'],
    ['packages list --country ES --csv', 'packages for Spain, for a spreadsheet'],
    ['events listen --forward-to http://127.0.0.1:5000/hook', 'sends events to your program as they happen'],
  ]);
  return { program, usesOwnEnvironment: () => ownEnvironment };
}
