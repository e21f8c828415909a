/** `npm run test:api-fuzz`: runs all checks of schemathesis on the API. Explained in `CONTRIBUTING.md`. */
import { spawn } from 'node:child_process';
import { createReadStream, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { parseArgs } from 'node:util';
import * as z from 'zod';
import type { DescribedOperation } from '#scripts/api/api-document.ts';
import { installPythonPackages } from '#scripts/clients/build-clients.ts';
import { DescribedClient } from '#test/api-fuzz/described-client.ts';
import { EXAMPLES_STACK, VPN_PLAN, createExamples } from '#test/api-fuzz/example-resources.ts';
import { isLeftOut, schemathesisSettings } from '#test/api-fuzz/settings.ts';
import { startSharedServers } from '#test/support/servers/shared-servers.ts';
import { startStack } from '#test/support/servers/stack.ts';
import { removeFolder, temporaryFolder } from '#test/support/temporary.ts';

const ARTIFACTS = join(import.meta.dirname, '../artifacts/api-fuzz');
/** All requests and answers, one event in each line. */
const REPORT = join(ARTIFACTS, 'report.ndjson');
/** A line of it about the requests to an operation, by case. Other lines are ignored. */
const scenarioLine = z.object({
  ScenarioFinished: z.object({
    /** `GET /v1/orders/{id}`, or another text for a chain of calls. No interactions if there are no requests. */
    recorder: z.object({ label: z.string(), interactions: z.record(z.string(), z.unknown()).default({}) }),
  }),
});

const { values: options, positionals: more } = parseArgs({
  allowPositionals: true,
  options: {
    seconds: { type: 'string', default: '120' },
    examples: { type: 'string', default: '20' },
    // The same seed repeats a run, except for the ids of the API.
    seed: { type: 'string', default: '1' },
  },
});

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
  writeFileSync(settings, schemathesisSettings(client, ids, stack.apiKey));
  const facts = join(folder, 'facts.json');
  const ours = { package_id: Number(ids['getPackage']), vpn_plan_id: VPN_PLAN };
  writeFileSync(facts, JSON.stringify({ ...ours, esim_id: ids['esim'], webhook_secret: stack.webhookSecret }));
  const api = stack.process('api');
  const code = await fuzz({ settings, facts, description: `${stack.api.baseUrl}/openapi.json` });
  const restarted = api.running ? 0 : 1;
  if (restarted > 0) process.stdout.write(`The API process ended meanwhile:\n${api.tail()}\n`);
  const wanted = [...client.operations.values()].filter((operation) => !isLeftOut(operation));
  // With operations chosen on the command line, the others are not expected.
  const missed = more.length > 0 ? [] : await operationsWithoutCase(wanted);
  if (missed.length > 0) {
    const counts = `${missed.length} of ${wanted.length} operations`;
    process.stdout.write(`No request was made to ${counts}. Use more --seconds:\n  ${missed.join('\n  ')}\n`);
  }
  process.exitCode = code === 0 && missed.length === 0 ? restarted : 1;
} finally {
  await stop();
  removeFolder(folder);
}

async function fuzz(files: Readonly<Record<'settings' | 'facts' | 'description', string>>): Promise<number | null> {
  const { settings, facts, description } = files;
  const values = {
    'max-examples': options.examples,
    'max-time': options.seconds,
    seed: options.seed,
    // One worker makes runs repeatable. With two, Python 3.11 can fail ("AST constructor recursion depth mismatch").
    workers: '1',
    'generation-database': 'none',
    report: 'ndjson,junit',
    'report-dir': ARTIFACTS,
    'report-ndjson-path': REPORT,
    'report-junit-path': join(ARTIFACTS, 'junit.xml'),
  };
  const given = Object.entries(values).flatMap(([name, value]) => [`--${name}`, value]);
  const args = [
    '--config-file',
    settings,
    'run',
    description,
    ...given,
    '--continue-on-failure',
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

/** The operations without a request, as `GET /v1/orders/{id}`. A run that its time limit ended early has missed them. */
async function operationsWithoutCase(operations: readonly DescribedOperation[]): Promise<string[]> {
  const reached = new Set<string>();
  for await (const line of createInterface({ input: createReadStream(REPORT) })) {
    const scenario = scenarioLine.safeParse(JSON.parse(line));
    if (!scenario.success) continue;
    const { label, interactions } = scenario.data.ScenarioFinished.recorder;
    if (Object.keys(interactions).length > 0) reached.add(label);
  }
  const labels = operations.map(({ method, path }) => `${method.toUpperCase()} ${path}`);
  return labels.filter((label) => !reached.has(label));
}
