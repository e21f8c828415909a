/**
 * `npm run test:clients`: builds the packages of both clients outside the project, installs them as an integrator does,
 * checks their types, and runs their shops and webhook receivers against the running product.
 */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  buildPythonClient,
  buildTypeScriptClient,
  generatePythonClient,
  pythonTools,
} from '#scripts/clients/build-clients.ts';
import { postOnce } from '#test/support/api/keys.ts';
import { startSharedServers } from '#test/support/servers/shared-servers.ts';
import { type Stack, startStack } from '#test/support/servers/stack.ts';
import { removeFolder, temporaryFolder } from '#test/support/temporary.ts';
import { waitFor } from '#test/support/wait-for.ts';

const PROJECT = join(import.meta.dirname, '../..');
/** What each shop prints. */
const SOLD =
  /Order +ord_\w+ is completed, charged \d[^]*LPA +LPA:1\$[^]*QR code[^]*Top-up +top_\w+ is completed[^]*Wallet +\d/;

const folder = temporaryFolder('clients');
try {
  const typescript = installTypeScript(await buildTypeScriptClient(folder));
  const source = await generatePythonClient(folder);
  const python = installPython(buildPythonClient(source));
  const mypy = join(pythonTools(), 'mypy');
  const tsc = join(PROJECT, 'node_modules/typescript/bin/tsc');
  const results = [
    step('TypeScript: types of the examples', process.execPath, [tsc, '--project', 'tsconfig.json'], typescript),
    step('Python: types', mypy, ['--strict', '--no-error-summary', 'src', 'examples', 'tests'], source),
    step('Python: unit tests', python, ['-m', 'unittest', 'discover', '--start-directory', 'tests'], source),
    ...(await runsAgainstTheProduct(typescript, python, join(source, 'examples'))),
  ];
  process.exitCode = results.every(Boolean) ? 0 : 1;
} finally {
  removeFolder(folder);
}

/** Installs the package in an empty folder, with copies of the examples that import it by its name. */
function installTypeScript(tarball: string): string {
  const shop = join(folder, 'typescript-shop');
  mkdirSync(shop);
  writeFileSync(join(shop, 'package.json'), JSON.stringify({ name: 'shop', private: true, type: 'module' }));
  requireStep('npm install', 'npm', ['install', '--no-audit', '--no-fund', tarball, 'standardwebhooks'], shop);
  for (const example of ['shop.ts', 'watch-events.ts', 'receive-webhooks.ts']) {
    const text = readFileSync(join(PROJECT, 'clients/typescript/examples', example), 'utf8');
    writeFileSync(join(shop, example), text.replace("'../src/index.ts'", "'reseller-fulfilment-client'"));
  }
  const compilerOptions = {
    module: 'nodenext',
    target: 'es2023',
    strict: true,
    noEmit: true,
    allowImportingTsExtensions: true,
    exactOptionalPropertyTypes: true,
    typeRoots: [join(PROJECT, 'node_modules/@types')],
    types: ['node'],
  };
  writeFileSync(join(shop, 'tsconfig.json'), JSON.stringify({ compilerOptions, include: ['*.ts'] }));
  return shop;
}

/** Installs the wheel in an environment of its own. @returns its interpreter. */
function installPython(wheel: string): string {
  const environment = join(folder, 'python-shop');
  requireStep('python3 -m venv', 'python3', ['-m', 'venv', environment], folder);
  const python = join(environment, 'bin/python');
  requireStep('pip install', python, ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', wheel], folder);
  return python;
}

async function runsAgainstTheProduct(typescript: string, python: string, examples: string): Promise<boolean[]> {
  await using shared = await startSharedServers();
  const environment = { WEBHOOK_ALLOWED_ADDRESSES: '127.0.0.1' };
  await using stack = await startStack({ servers: shared.servers, environment });
  const access = { RESELLER_URL: stack.api.baseUrl, RESELLER_API_KEY: stack.apiKey };
  return [
    sells('TypeScript', process.execPath, [join(typescript, 'shop.ts')], access),
    sells('Python', python, [join(examples, 'shop.py')], access),
    await receives('TypeScript', stack, process.execPath, [join(typescript, 'receive-webhooks.ts')]),
    await receives('Python', stack, python, [join(examples, 'receive_webhooks.py')]),
  ];
}

/** The shop sells; started again with the same number it buys nothing, and prints the same. */
function sells(name: string, command: string, program: readonly string[], access: Record<string, string>): boolean {
  const sale = `${name}-${randomUUID()}`;
  const picture = join(folder, `${sale}.png`);
  const args = [...program, sale, picture];
  const [first, again] = [output(command, args, access), output(command, args, access)];
  const isPicture = readFileSync(picture).toString('latin1', 1, 4) === 'PNG';
  const passed = SOLD.test(first) && isPicture && withoutTimes(first) === withoutTimes(again);
  print(`${name}: the shop sells once, also when it runs twice: ${passed ? 'passed' : 'FAILED'}`);
  print(passed ? first : `${first}\n--- again\n${again}`);
  return passed;
}

/** The usage may grow between two runs, and the balance that is shown may be one of before the first. */
function withoutTimes(text: string): string {
  return text.replaceAll(/^(Usage|Wallet).*$/gm, '');
}

/** The receiver verifies and prints a webhook that the product sends. */
async function receives(name: string, stack: Stack, command: string, program: readonly string[]): Promise<boolean> {
  // The secret is known only after the endpoint exists, and the port only after the receiver runs.
  const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
  const probe = receiver(command, [...program, '0'], secret);
  const port = await probe.port();
  await probe.stop();
  const url = `http://127.0.0.1:${port}/`;
  const created = await postOnce(stack.api, '/v1/webhook-endpoints', { url });
  const listening = receiver(command, [...program, port], created.textAt('secret'));
  try {
    await listening.port();
    const sent = await postOnce(stack.api, `/v1/webhook-endpoints/${created.textAt('id')}/test`, {});
    const id = sent.textAt('event_id');
    await waitFor(`${name} receives the event`, () => (listening.said().includes(id) ? id : undefined), {
      context: listening.said,
    });
    const refused = await fetch(url, { method: 'POST', body: '{}' });
    const passed = refused.status === 400;
    print(`${name}: the receiver takes a webhook of the product, and no other: ${passed ? 'passed' : 'FAILED'}`);
    return passed;
  } finally {
    await listening.stop();
  }
}

function receiver(command: string, args: readonly string[], secret: string) {
  const child: ChildProcess = spawn(command, args, {
    env: { ...process.env, RESELLER_WEBHOOK_SECRET: secret },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let text = '';
  child.stdout?.on('data', (chunk: Buffer) => (text += chunk.toString('utf8')));
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  const said = () => text;
  return {
    said,
    port: async () => await waitFor('the receiver listens', () => /port:? (\d+)/.exec(text)?.[1], { context: said }),
    stop: async () => {
      child.kill();
      await ended;
    },
  };
}

function output(command: string, args: readonly string[], environment: Record<string, string>): string {
  const env = { ...process.env, ...environment };
  const { stdout, stderr } = spawnSync(command, args, { cwd: folder, encoding: 'utf8', env });
  return `${stdout}${stderr}`;
}

function requireStep(name: string, command: string, args: readonly string[], cwd: string): void {
  if (!step(name, command, args, cwd)) throw new Error(`${name} has failed`);
}

function step(name: string, command: string, args: readonly string[], cwd: string): boolean {
  const env = { ...process.env, PYTHONPATH: join(cwd, 'src'), MYPYPATH: join(cwd, 'src') };
  const { status, stdout, stderr, error } = spawnSync(command, args, { cwd, encoding: 'utf8', env });
  const passed = status === 0;
  print(`${name}: ${passed ? 'passed' : `FAILED (${error?.message ?? `exit code ${status}`})`}`);
  if (!passed) print(`${stdout ?? ''}${stderr ?? ''}`);
  return passed;
}

function print(text: string): void {
  process.stdout.write(`${text.trimEnd()}\n`);
}
