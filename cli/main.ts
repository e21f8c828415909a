import { Command, InvalidArgumentError } from 'commander';
import { addEncryptionKeyCommands } from '#cli/access/encryption-key-commands.ts';
import { addKeyCommands } from '#cli/access/key-commands.ts';
import type { ApiOptions } from '#cli/api/api-access.ts';
import { addPricingCommands } from '#cli/money/pricing-commands.ts';
import type { ReconcileOptions } from '#cli/money/reconcile.ts';
import type { ContractCheckOptions } from '#cli/service/contract.ts';
import type { SandboxTourOptions } from '#cli/service/sandbox.ts';
import { SET_UP as DATA, type SetUpOption as DataOption } from '#cli/set-up/set-up-option.ts';
import { refuseOptionsTakenByNpm } from '#cli/start/npm-options.ts';
import { portOf, PORTS, type PortName } from '#cli/start/settings.ts';
import { duration, entries, id, ids, overlap } from '#cli/terminal/arguments.ts';
import { report } from '#cli/terminal/report.ts';
import { UserError } from '#cli/terminal/user-error.ts';
import { addWebhookEndpointCommands } from '#cli/webhook-endpoints/webhook-endpoint-commands.ts';
import type { AuditOptions } from '#cli/work/audit.ts';
import { addDeadLetterCommands } from '#cli/work/dead-letter-commands.ts';
import { addGateCommands } from '#cli/work/gate-commands.ts';
import { addWorkCommands, API, DATA as API_DATA } from '#cli/work/work-commands.ts';
import { CANCELLATIONS, ORDERS, TOPUPS, VPN_SUBSCRIPTIONS } from '#cli/work/work-kinds.ts';
import type { Environment } from '#config/environment.ts';
import { EXIT_CONFIGURATION } from '#config/fields.ts';

// A reader that has seen enough, such as `head`, is no error.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error;
  process.exit(0);
});

const environment: Environment = process.env;
/** Did a command that takes --data go without, and use our environment? */
let withoutData = false;

// Loaded when they are called for: the Temporal SDK alone takes half a second.
const commands = {
  start: () => import('#cli/start/start-command.ts'),
  demo: () => import('#cli/set-up/demo.ts'),
  migrate: () => import('#cli/set-up/migrate.ts'),
  prepare: () => import('#cli/start/prepare.ts'),
  serviceSecret: () => import('#cli/service/service-secret.ts'),
  contract: () => import('#cli/service/contract.ts'),
  doctor: () => import('#cli/doctor/doctor-command.ts'),
  sandbox: () => import('#cli/service/sandbox.ts'),
  capabilities: () => import('#cli/service/capabilities.ts'),
  temporal: () => import('#cli/set-up/temporal.ts'),
  reconcile: () => import('#cli/money/reconcile.ts'),
};

const program = new Command('reseller')
  .description('Order fulfilment for resellers of eSIM data packages and VPN subscriptions')
  .showHelpAfterError('(--help shows what there is)');

const startCommand = program
  .command('start')
  .description('start everything on this machine: PostgreSQL, Temporal, simulator, API and worker')
  .option('--no-demo', 'do not carry a first order through')
  .option('--data <folder>', 'where data is kept', '.data')
  .action(async (options: Record<string, unknown>) => {
    refuseOptionsTakenByNpm(
      startCommand.options.map(({ long }) => long ?? ''),
      environment,
    );
    const { runStartCommand } = await commands.start();
    await runStartCommand(
      { data: String(options['data']), demo: options['demo'] === true, ports: portOptions(options) },
      environment,
    );
  });
for (const { option, use, fallback } of Object.values(PORTS)) {
  startCommand.option(
    `--${option} <port>`,
    `port of ${use} (default ${fallback === 0 ? 'any free one' : fallback})`,
    port,
  );
}

program
  .command('demo')
  .description('carry an order through a set-up that runs, and follow it to its eSIM')
  .option('--api <url>', 'base address of the API (default: of what runs on the data folder)')
  .option('--data <folder>', 'data folder of the set-up; its dev-api-key is used', '.data')
  .action(async (options: ApiOptions) => (await commands.demo()).runDemoCommand(options));

program
  .command('migrate')
  .description('bring the database of DATABASE_URL to the current schema')
  .action(async () => (await commands.migrate()).migrateDatabase(environment));

program
  .command('prepare')
  .description('fetch or build the Temporal server and the test server, which no package carries')
  .action(async () => (await commands.prepare()).prepareBinaries(environment));

addKeyCommands(program, environmentFor);
addEncryptionKeyCommands(program, environmentFor);

const serviceSecret = program
  .command('service-secret')
  .description('the secret that signs the service’s webhooks: made by the service, stored encrypted, shown to nobody');
serviceSecret
  .command('create')
  .description('have the service make its first one')
  .option(...DATA)
  .action(async (options: DataOption) =>
    (await commands.serviceSecret()).changeServiceSecret('create', options, await environmentFor(options)),
  );
serviceSecret
  .command('rotate')
  .description('have the service replace it; the former one still verifies for a while')
  .option(
    '--overlap <duration>',
    'how long, such as 2h; 0s when it has leaked (default POLICY_WEBHOOK_SECRET_OVERLAP)',
    overlap,
  )
  .option(...DATA)
  .action(async (options: { overlap?: number } & DataOption) =>
    (await commands.serviceSecret()).changeServiceSecret('rotate', options, await environmentFor(options)),
  );

addWorkCommands(program, ORDERS, environment);
addWorkCommands(program, TOPUPS, environment);
addWorkCommands(program, VPN_SUBSCRIPTIONS, environment);
addWorkCommands(program, CANCELLATIONS, environment);
addGateCommands(program, environment);
addPricingCommands(program, environment);
addWebhookEndpointCommands(program, environment);
addDeadLetterCommands(program, environment);

program
  .command('audit')
  .description('who did what, newest first: reveals, acts of operators, changes of keys, secrets and pauses')
  .option('--actor <id>', 'only of this API key (its id), or of command/<account>')
  .option('--action <name>', 'only this act, such as esim.activation_revealed')
  .option('--subject <id>', 'only what was done to this')
  .option('--since <duration>', 'only of this long ago and later, such as 24h', duration)
  .option('--limit <count>', 'how many at most', entries, 50)
  .option('--json', 'print them as JSON')
  .option(...API)
  .option(...API_DATA)
  .action(async (options: AuditOptions) => (await import('#cli/work/audit.ts')).showAuditLog(options, environment));

program
  .command('contract')
  .description('what this product takes the service’s interface to be')
  .command('check <file>')
  .description(
    'compare an OpenAPI document of the service (JSON) with it; exit code 0 compatible, 1 not, 2 no document',
  )
  .option('--download', 'get the document from the service of SERVICE_BASE_URL first, into the file')
  .option('--record', 'in production: release the purchases that the document and reads without charge show to be safe')
  .option('--json', 'print the report as JSON')
  .option(...DATA)
  .action(async (file: string, options: ContractCheckOptions & DataOption) => {
    process.exitCode = await (
      await commands.contract()
    ).checkContractFile(file, options, await environmentFor(options));
  });

program
  .command('doctor')
  .description('check a set-up and spend nothing; exit code 0 no failure, 1 some, 78 unusable configuration')
  .option('--json', 'print the findings as JSON')
  .option(...DATA)
  .action(async (options: { json?: boolean } & DataOption) => {
    process.exitCode = await (await commands.doctor()).runDoctorCommand(options, await environmentFor(options));
  });

program
  .command('reconcile')
  .description(
    'compare our books with the wallet at the service now; exit code 0 nothing was found, 1 something was, 2 not all was compared',
  )
  .option('--json', 'print the report as JSON')
  .option('--wait <duration>', 'how long to wait for the worker that does it (default 5m)', duration)
  .option(...DATA)
  .action(async (options: ReconcileOptions & DataOption) => {
    process.exitCode = await (await commands.reconcile()).runReconcile(options, await environmentFor(options));
  });

program
  .command('sandbox')
  .description('the service’s sandbox, with its fictional balance')
  .command('tour')
  .description('drive it through everything and measure what it is able to do; exit code 0 all as expected, 1 not')
  .option('--json', 'print the report as JSON')
  .option('--no-store', 'do not store what was measured; needs no database')
  .option('--package <id>', 'package to order (default: the first for sale that is completed)', id)
  .option('--vpn-plan <id>', 'VPN plan to order (default: the first for sale)', id)
  .option('--also <ids>', 'further packages to order once each and to follow to their end, comma separated', ids)
  .option('--key-age <duration>', 'how old a key is when it is used once more (default 10s)', duration)
  .option('--wait <duration>', 'how long something that is processing is followed (default 30s)', duration)
  .option(...DATA)
  .action(async (options: SandboxTourOptions & DataOption) => {
    process.exitCode = await (await commands.sandbox()).runSandboxTour(options, await environmentFor(options));
  });

const capabilities = program
  .command('capabilities')
  .description('what the service was found able to do, and who vouches for it');
capabilities
  .command('show')
  .description('the profile that counts, and what it allows; exit code 1 when there is none')
  .option('--json', 'print it as JSON')
  .option(...DATA)
  .action(async (options: { json?: boolean } & DataOption) => {
    process.exitCode = await (await commands.capabilities()).showCapabilities(options, await environmentFor(options));
  });
capabilities
  .command('confirm')
  .description('vouch for it, which lets production rely on it')
  .option('--by <name>', 'who does (default: the account that runs this)')
  .option(...DATA)
  .action(async (options: { by?: string } & DataOption) =>
    (await commands.capabilities()).confirmCapabilities(options, await environmentFor(options)),
  );
capabilities
  .command('import <file>')
  .description('take the profile of a tour’s --json report into the database of production')
  .option(...DATA)
  .action(async (file: string, options: DataOption) =>
    (await commands.capabilities()).importCapabilities(file, await environmentFor(options)),
  );

program
  .command('temporal [arguments...]')
  .description('run the Temporal CLI where Temporal and the codec server are: reseller temporal -- workflow list')
  .option(...DATA)
  .action(async (args: string[], options: DataOption) => {
    process.exitCode = (await commands.temporal()).runTemporalCli(args, await environmentFor(options), environment);
  });

try {
  await program.parseAsync();
} catch (error) {
  process.exitCode = report(error, process.stderr);
}
if (withoutData && process.exitCode === EXIT_CONFIGURATION) {
  process.stderr.write((await import('#cli/start/running.ts')).adviceToUseRunning());
}

async function environmentFor({ data }: DataOption): Promise<Environment> {
  if (data === undefined) {
    withoutData = true;
    return environment;
  }
  return (await import('#cli/start/running.ts')).readRunningEnvironment(data);
}

function portOptions(options: Record<string, unknown>): Partial<Record<PortName, number>> {
  const given = Object.entries(PORTS).flatMap(([name, { option }]) => {
    const value = options[option.replaceAll(/-(.)/g, (_, letter: string) => letter.toUpperCase())];
    return typeof value === 'number' ? [[name, value] as const] : [];
  });
  return Object.fromEntries(given);
}

function port(text: string): number {
  try {
    return portOf(text, 'it');
  } catch (error) {
    throw new InvalidArgumentError(error instanceof UserError ? error.advice : String(error));
  }
}
