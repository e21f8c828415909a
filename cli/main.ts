/** Entry of the `reseller` command. Each command is registered beside its implementation, which is loaded on use. */
import { Command } from 'commander';
import { addEncryptionKeysCommand } from '#cli/access/encryption-keys-command.ts';
import { addKeysCommand } from '#cli/access/keys-command.ts';
import { addDoctorCommand } from '#cli/doctor/doctor-command.ts';
import { addPricingCommand } from '#cli/money/pricing-command.ts';
import { addReconcileCommand } from '#cli/money/reconcile-command.ts';
import { addSandboxCommand } from '#cli/sandbox-tour/sandbox-command.ts';
import { addCapabilitiesCommand } from '#cli/service/capabilities-command.ts';
import { addContractCommand } from '#cli/service/contract-command.ts';
import { addServiceSecretCommand } from '#cli/service/service-secret-command.ts';
import { addDemoCommand } from '#cli/set-up/demo-command.ts';
import { addMigrateCommand } from '#cli/set-up/migrate-command.ts';
import { addPrepareCommand } from '#cli/set-up/prepare-command.ts';
import { addTemporalCommand } from '#cli/set-up/temporal-command.ts';
import { addStartCommand } from '#cli/start/start-command.ts';
import { report } from '#cli/terminal/report.ts';
import type { SetUpOption } from '#cli/terminal/shared-options.ts';
import { addWebhookEndpointsCommand } from '#cli/webhook-endpoints/webhook-endpoints-command.ts';
import { addAuditCommand } from '#cli/work/audit-command.ts';
import { addDeadLettersCommand } from '#cli/work/dead-letters-command.ts';
import { addGateCommand } from '#cli/work/gate-command.ts';
import { WORK_RESOURCES } from '#cli/work/kinds.ts';
import { addWorkCommand } from '#cli/work/work-command.ts';
import type { Environment } from '#config/environment.ts';
import { EXIT_CONFIGURATION } from '#config/fields.ts';

// A reader such as `head` may close the pipe early.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error;
  process.exit(0);
});

const environment: Environment = process.env;
/** True once a command that takes --data has used the environment of this process instead. */
let withoutData = false;

const program = new Command('reseller')
  .description('Order fulfilment for resellers of eSIM data packages and VPN subscriptions')
  .showHelpAfterError('(--help lists commands and options)');

addStartCommand(program, environment);
addDemoCommand(program);
addMigrateCommand(program, environment);
addPrepareCommand(program, environment);
addKeysCommand(program, environmentFor);
addEncryptionKeysCommand(program, environmentFor);
addServiceSecretCommand(program, environmentFor);
for (const kind of Object.values(WORK_RESOURCES)) addWorkCommand(program, kind, environment);
addGateCommand(program, environment);
addPricingCommand(program, environment);
addWebhookEndpointsCommand(program, environment);
addDeadLettersCommand(program, environment);
addAuditCommand(program, environment);
addContractCommand(program, environmentFor);
addDoctorCommand(program, environmentFor);
addReconcileCommand(program, environmentFor);
addSandboxCommand(program, environmentFor);
addCapabilitiesCommand(program, environmentFor);
addTemporalCommand(program, environmentFor, environment);

try {
  await program.parseAsync();
} catch (error) {
  process.exitCode = report(error, process.stderr);
}
if (withoutData && process.exitCode === EXIT_CONFIGURATION) {
  process.stderr.write((await import('#cli/data-folder/running-environment.ts')).adviceToUseRunning());
}

async function environmentFor({ data }: SetUpOption): Promise<Environment> {
  if (data === undefined) {
    withoutData = true;
    return environment;
  }
  return (await import('#cli/data-folder/running-environment.ts')).readRunningEnvironment(data);
}
