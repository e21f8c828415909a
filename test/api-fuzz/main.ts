/** `npm run test:api-fuzz`: runs all checks of schemathesis on the API. Explained in `CONTRIBUTING.md`. */
import { spawn } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { installPythonPackages } from '#scripts/clients/build-clients.ts';
import { DescribedClient } from '#test/api-fuzz/described-client.ts';
import { EXAMPLES_STACK, VPN_PLAN, createExamples } from '#test/api-fuzz/example-resources.ts';
import { operationsWithoutCase } from '#test/api-fuzz/report.ts';
import { isLeftOut, schemathesisSettings } from '#test/api-fuzz/settings.ts';
import { startSharedServers } from '#test/support/servers/shared-servers.ts';
import { startStack } from '#test/support/servers/stack.ts';
import { removeFolder, temporaryFolder } from '#test/support/temporary.ts';

const ARTIFACTS = join(import.meta.dirname, '../artifacts/api-fuzz');
/** All requests and answers, one event in each line. */
const REPORT = join(ARTIFACTS, 'report.ndjson');

const { values: options, positionals: more } = parseArgs({
  allowPositionals: true,
  options: {
    seconds: { type: 'string', default: '120' },
    examples: { type: 'string', default: '20' },
    // The same seed repeats a run, except for the ids of the API.
    seed: { type: 'string', default: '1' },
  },
});

for (const [signal, code] of [
  ['SIGINT', 130],
  ['SIGTERM', 143],
] as const)
  process.once(signal, () => process.exit(code));

const program = join(installPythonPackages('schemathesis', join(import.meta.dirname, 'requirements.txt')), 'st');
mkdirSync(ARTIFACTS, { recursive: true });
// A run without a report must not read an earlier one.
rmSync(REPORT, { force: true });
const folder = temporaryFolder('api-fuzz');
const { servers, stop } = await startSharedServers();
try {
  // The rate limits must not refuse the thousands of calls in a minute.
  const environment = {
    ...EXAMPLES_STACK.environment,
    API_RATE_LIMIT: '1000000',
    API_FAILED_AUTHENTICATIONS: '1000000',
    API_SHARE_LINK_RATE: '1000000',
  };
  await using stack = await startStack({ ...EXAMPLES_STACK, environment, servers });
  const client = await DescribedClient.at(stack);
  const ids = await createExamples(stack, client);
  const settings = join(folder, 'schemathesis.toml');
  writeFileSync(settings, schemathesisSettings(client, ids, { apiKey: stack.apiKey }));
  const facts = join(folder, 'facts.json');
  writeFileSync(
    facts,
    JSON.stringify({
      esim_id: ids['esim'],
      webhook_secret: stack.webhookSecret,
      package_id: Number(ids['getPackage']),
      vpn_plan_id: VPN_PLAN,
    }),
  );
  const api = stack.process('api');
  const code = await fuzz({ settings, facts, description: `${stack.api.baseUrl}/openapi.json` });
  const restarted = api.running ? 0 : 1;
  if (restarted > 0) process.stdout.write(`The API process ended meanwhile:\n${api.tail()}\n`);
  const wanted = [...client.operations.values()].filter((operation) => !isLeftOut(operation));
  // With operations chosen on the command line, the others are not expected.
  const missed = more.length > 0 ? [] : await operationsWithoutCase(REPORT, wanted);
  if (missed.length > 0) {
    const counts = `${missed.length} of ${wanted.length} operations`;
    process.stdout.write(`No request was made to ${counts}. Use more --seconds:\n  ${missed.join('\n  ')}\n`);
  }
  process.exitCode = code === 0 && missed.length === 0 ? restarted : 1;
} finally {
  await stop();
  removeFolder(folder);
}

interface Run {
  readonly settings: string;
  readonly facts: string;
  readonly description: string;
}

async function fuzz({ settings, facts, description }: Run): Promise<number | null> {
  const args = [
    '--config-file',
    settings,
    'run',
    description,
    '--max-examples',
    options.examples,
    '--max-time',
    options.seconds,
    '--seed',
    options.seed,
    // One worker makes runs repeatable. With two, Python 3.11 can fail ("AST constructor recursion depth mismatch").
    '--workers',
    '1',
    '--continue-on-failure',
    '--generation-database',
    'none',
    '--report',
    'ndjson,junit',
    '--report-dir',
    ARTIFACTS,
    '--report-ndjson-path',
    REPORT,
    '--report-junit-path',
    join(ARTIFACTS, 'junit.xml'),
    '--no-color',
    ...more,
  ];
  const child = spawn(program, args, {
    stdio: ['ignore', 'inherit', 'inherit'],
    cwd: folder,
    env: { ...process.env, API_FUZZ_FACTS: facts },
  });
  process.once('exit', () => child.kill('SIGKILL'));
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', resolve);
  });
}
