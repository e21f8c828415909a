/**
 * `npm run test:openapi`: tools of other people read the description of the API. Redocly and Spectral must find nothing;
 * openapi-python-client (Python) and oapi-codegen (Go) must generate clients, mypy and `go vet` must accept them, and a
 * shop with each must buy an eSIM.
 */
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { apiDocument } from '#scripts/api/api-document.ts';
import { installPythonPackages } from '#scripts/clients/build-clients.ts';
import { startSharedServers } from '#test/support/servers/shared-servers.ts';
import { startStack } from '#test/support/servers/stack.ts';
import { removeFolder, temporaryFolder } from '#test/support/temporary.ts';

const HERE = import.meta.dirname;
/** The linters are a package of their own. */
const LINTERS = join(HERE, 'linters');
/** Warnings of the generator: it has no images. */
const KNOWN_GAPS = ['image/svg+xml', 'image/png', 'application/zip', 'application/pdf', 'text/csv'].map(
  (type) => `Unsupported content_type ${type}`,
);

const folder = temporaryFolder('openapi-tools');
const description = join(folder, 'openapi.json');
const client = join(folder, 'client');
/** A copy of the Go module, which gets the generated client. */
const goModule = join(folder, 'go');
try {
  writeFileSync(description, JSON.stringify(await apiDocument(), undefined, 1));
  cpSync(join(HERE, 'go'), goModule, { recursive: true });
  mkdirSync(join(goModule, 'reseller'));
  installLinters();
  const python = installPythonPackages('openapi-python-client', join(HERE, 'requirements.txt'));
  const spectral = ['--ruleset', join(LINTERS, 'spectral.yaml'), '--fail-severity', 'hint'];
  const results = [
    lint('Redocly', '@redocly/cli/bin/cli.js', ['--config', join(LINTERS, 'redocly.yaml')]),
    lint('Spectral', '@stoplight/spectral-cli/dist/index.js', spectral),
    generatesClient(python),
    step('mypy', join(python, 'mypy'), ['--strict', '--no-error-summary', join(HERE, 'buy_esim.py')]),
    step('oapi-codegen', 'go', ['tool', 'oapi-codegen', '-config', 'oapi-codegen.yaml', description], goModule),
    step('go vet', 'go', ['vet', './...'], goModule),
    ...(await buy(python)),
  ];
  process.exitCode = results.every(Boolean) ? 0 : 1;
} finally {
  removeFolder(folder);
}

/** Installs the linters on first use. */
function installLinters(): void {
  const installed = join(LINTERS, 'node_modules/.package-lock.json');
  const lock = join(LINTERS, 'package-lock.json');
  if (existsSync(installed) && statSync(installed).mtimeMs >= statSync(lock).mtimeMs) return;
  if (!step('npm ci', 'npm', ['ci', '--no-audit', '--no-fund'], LINTERS))
    throw new Error('the linters are not installed');
}

function lint(name: string, file: string, options: readonly string[]): boolean {
  return step(name, process.execPath, [join(LINTERS, 'node_modules', file), 'lint', description, ...options]);
}

function generatesClient(python: string): boolean {
  const { status, stdout, stderr } = spawnSync(
    join(python, 'openapi-python-client'),
    ['generate', '--path', description, '--output-path', client, '--meta', 'setup'],
    { encoding: 'utf8', env: environment(python) },
  );
  const warnings = `${stdout}${stderr}`
    .split('\n')
    .filter((line) => /^(Cannot|Unable|Unsupported|Skipping)/.test(line));
  const unknown = warnings.filter((line) => !KNOWN_GAPS.some((gap) => line.includes(gap)));
  print(`openapi-python-client: ended with ${status}, ${warnings.length} warnings, ${unknown.length} of them new`);
  for (const line of unknown) print(`  ${line}`);
  return status === 0 && unknown.length === 0;
}

/** Buys an eSIM with each client. */
async function buy(python: string): Promise<boolean[]> {
  const { servers, stop } = await startSharedServers();
  try {
    await using stack = await startStack({ servers });
    const target = [stack.api.baseUrl, stack.apiKey];
    return [
      step('a shop in Python', join(python, 'python'), [join(HERE, 'buy_esim.py'), ...target]),
      step('a shop in Go', 'go', ['run', '.', ...target], goModule),
    ];
  } finally {
    await stop();
  }
}

function step(name: string, command: string, args: readonly string[], cwd = folder): boolean {
  const { status, stdout, stderr, error } = spawnSync(command, args, {
    cwd,
    encoding: 'utf8',
    env: environment(join(command, '..')),
  });
  const isPassed = status === 0;
  print(`${name}: ${isPassed ? 'passed' : `FAILED (${error?.message ?? `exit code ${status}`})`}`);
  print(`${stdout ?? ''}${isPassed ? '' : (stderr ?? '')}`.trim());
  return isPassed;
}

/** The linters send no usage data; the generated client is found; the generator finds its formatter. */
function environment(programs: string): NodeJS.ProcessEnv {
  return {
    ...process.env,
    REDOCLY_TELEMETRY: 'off',
    REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true',
    PYTHONPATH: client,
    MYPYPATH: client,
    PATH: `${programs}:${process.env['PATH'] ?? ''}`,
  };
}

function print(text: string): void {
  if (text !== '') process.stdout.write(`${text}\n`);
}
