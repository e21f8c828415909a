/**
 * `npm run test:api-fuzz`: schemathesis over the running API, with all its checks. What it does and how to read it:
 * `docs/how-to/fuzz-the-api.md`.
 */
import { spawn } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { installSchemathesis } from '#test/api-fuzz/install.ts';
import { operationsWithoutCase } from '#test/api-fuzz/report.ts';
import { isLeftOut, schemathesisSettings } from '#test/api-fuzz/settings.ts';
import { Clerk } from '#test/documentation/clerk.ts';
import { FOR_ONE_OF_EACH, oneOfEach, VPN_PLAN } from '#test/documentation/one-of-each.ts';
import { startSharedServers } from '#test/support/servers/shared-servers.ts';
import { startStack } from '#test/support/servers/stack.ts';
import { removeFolder, temporaryFolder } from '#test/support/temporary.ts';

const ARTIFACTS = join(import.meta.dirname, '../artifacts/api-fuzz');
/** Every request with its answer, an event a line. */
const REPORT = join(ARTIFACTS, 'report.ndjson');

const { values: options, positionals: more } = parseArgs({
  allowPositionals: true,
  options: {
    seconds: { type: 'string', default: '120' },
    examples: { type: 'string', default: '20' },
    // Another one finds other things; the same one repeats a run, as far as the API's own ids allow.
    seed: { type: 'string', default: '1' },
  },
});

for (const [signal, code] of [
  ['SIGINT', 130],
  ['SIGTERM', 143],
] as const)
  process.once(signal, () => process.exit(code));

const program = installSchemathesis();
mkdirSync(ARTIFACTS, { recursive: true });
// Of a run that writes none, that of the run before must not be read.
rmSync(REPORT, { force: true });
const folder = temporaryFolder('api-fuzz');
const { servers, stop } = await startSharedServers();
try {
  // Thousands of calls a minute come from one address, many of them without a key: that is what is tested, not the
  // limits.
  const environment = {
    ...FOR_ONE_OF_EACH.environment,
    API_RATE_LIMIT: '1000000',
    API_FAILED_AUTHENTICATIONS: '1000000',
  };
  await using stack = await startStack({ ...FOR_ONE_OF_EACH, environment, servers });
  const clerk = await Clerk.at(stack);
  const ids = await oneOfEach(stack, clerk);
  const settings = join(folder, 'schemathesis.toml');
  writeFileSync(settings, schemathesisSettings(clerk, ids, { apiKey: stack.apiKey }));
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
  const wanted = [...clerk.operations.values()].filter((operation) => !isLeftOut(operation));
  // Operations that are chosen by hand replace the others.
  const missed = more.length > 0 ? [] : await operationsWithoutCase(REPORT, wanted);
  if (missed.length > 0) {
    process.stdout.write(
      `No request was made to ${missed.length} of ${wanted.length} operations; with more --seconds there will be:\n  ${missed.join('\n  ')}\n`,
    );
  }
  process.exitCode = code === 0 && missed.length === 0 ? restarted : 1;
} finally {
  await stop();
  removeFolder(folder);
}

async function fuzz({
  settings,
  facts,
  description,
}: {
  settings: string;
  facts: string;
  description: string;
}): Promise<number | null> {
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
    // Python 3.11 loses count when two threads parse at once ("AST constructor recursion depth mismatch"); and one is
    // repeatable.
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
