import { Command, InvalidArgumentError } from 'commander';
import { report } from '#cli/report.ts';
import { portOf, PORTS, type PortName } from '#cli/start/settings.ts';
import { UserError } from '#cli/user-error.ts';

const environment = process.env;

// Loaded when they are called for: the Temporal SDK alone takes half a second.
const commands = {
  start: () => import('#cli/commands/start.ts'),
  demo: () => import('#cli/commands/demo.ts'),
  migrate: () => import('#cli/commands/migrate.ts'),
  prepare: () => import('#cli/commands/prepare.ts'),
  keys: () => import('#cli/commands/keys.ts'),
  contract: () => import('#cli/commands/contract.ts'),
  doctor: () => import('#cli/commands/doctor.ts'),
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
    const { runStartCommand } = await commands.start();
    await runStartCommand(
      { data: String(options['data']), demo: options['demo'] === true, ports: portOptions(options) },
      environment,
    );
  });
for (const { option, use, fallback } of Object.values(PORTS)) {
  startCommand.option(`--${option} <port>`, `port of ${use} (default ${fallback === 0 ? 'any free one' : fallback})`, port);
}

program
  .command('demo')
  .description('carry an order through a set-up that runs, and follow it to its eSIM')
  .option('--api <url>', 'base address of the API', 'http://127.0.0.1:3000')
  .option('--data <folder>', 'data folder of the set-up; its dev-api-key is used', '.data')
  .action(async (options: { api: string; data: string }) => (await commands.demo()).runDemoCommand(options));

program
  .command('migrate')
  .description('bring the database of DATABASE_URL to the current schema')
  .action(async () => (await commands.migrate()).migrateDatabase(environment));

program
  .command('prepare')
  .description('fetch or build the Temporal server and the test server, which no package carries')
  .action(async () => (await commands.prepare()).prepareBinaries(environment));

const keys = program.command('keys').description('API keys of the database of DATABASE_URL');
keys
  .command('create <name>')
  .description('make a key; it is shown once')
  .option('--scopes <list>', 'comma separated; all of them when left out')
  .option('--expires <days>', 'days until it expires', days)
  .action(async (name: string, options: { scopes?: string; expires?: number }) =>
    (await commands.keys()).createKey(name, options, environment),
  );
keys
  .command('list')
  .description('list all keys')
  .action(async () => (await commands.keys()).listKeys(environment));
keys
  .command('revoke <prefix>')
  .description('end a key’s life at once; the prefix is the part between the underscores')
  .action(async (prefix: string) => (await commands.keys()).revokeKey(prefix, environment));

program
  .command('contract')
  .description('what this product takes the service’s interface to be')
  .command('check <file>')
  .description('compare an OpenAPI document of the service (JSON) with it; exit code 0 compatible, 1 not, 2 no document')
  .option('--download', 'get the document from the service of SERVICE_BASE_URL first, into the file')
  .option('--json', 'print the report as JSON')
  .action(async (file: string, options: { download?: boolean; json?: boolean }) => {
    process.exitCode = await (await commands.contract()).checkContractFile(file, options, environment);
  });

program
  .command('doctor')
  .description('check a set-up and spend nothing; exit code 0 no failure, 1 some, 78 unusable configuration')
  .option('--json', 'print the findings as JSON')
  .action(async (options: { json?: boolean }) => {
    process.exitCode = await (await commands.doctor()).runDoctorCommand(options, environment);
  });

try {
  await program.parseAsync();
} catch (error) {
  process.exitCode = report(error, process.stderr);
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

function days(text: string): number {
  const count = Number(text);
  if (Number.isInteger(count) && count >= 1 && count <= 3650) return count;
  throw new InvalidArgumentError('Use a number of days from 1 to 3650.');
}
