/** `npm run build:clients -- FOLDER`: a `.tgz` for npm and a `.whl` for pip. */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cpSync, mkdirSync, readdirSync, writeFileSync, existsSync, readFileSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { cacheDirectory } from '#cli/embedded/tool.ts';
import { apiDocument } from '#scripts/api/api-document.ts';
import { writeClient } from '#scripts/api/generate-api.ts';

const PROJECT = join(import.meta.dirname, '../..');
const REQUIREMENTS = join(PROJECT, 'test/openapi-tools/requirements.txt');

export function pythonTools(): string {
  return installPythonPackages('openapi-python-client', REQUIREMENTS);
}

/** In a copy outside the project, as somebody does who has only this folder. */
export async function buildTypeScriptClient(folder: string): Promise<string> {
  await writeClient();
  const copy = copyOf('typescript', folder, /node_modules|dist|\.tgz$/);
  run('npm', ['install', '--no-audit', '--no-fund', '--no-package-lock'], copy);
  run('npm', ['pack', '--silent'], copy);
  return only(copy, '.tgz');
}

export async function generatePythonClient(folder: string): Promise<string> {
  const copy = copyOf('python', folder, /__pycache__|\/rest$|\/dist$/);
  const description = join(folder, 'openapi.json');
  writeFileSync(description, JSON.stringify(pythonDescription(await apiDocument())));
  const generated = join(copy, 'src/reseller_fulfilment/rest');
  // The generator would make an enumeration for each call.
  const settings = join(folder, 'generator.yaml');
  writeFileSync(settings, 'literal_enums: true\n');
  const args = ['generate', '--path', description, '--output-path', generated, '--meta', 'none', '--fail-on-warning'];
  run(join(pythonTools(), 'openapi-python-client'), [...args, '--config', settings], folder);
  return copy;
}

export function buildPythonClient(source: string): string {
  const wheels = join(source, 'dist');
  const args = ['wheel', '--quiet', '--no-build-isolation', '--no-deps', '--wheel-dir', wheels, '.'];
  run(join(pythonTools(), 'pip'), args, source);
  return only(wheels, '.whl');
}

function copyOf(client: string, folder: string, left: RegExp): string {
  const copy = join(folder, client);
  cpSync(join(PROJECT, 'clients', client), copy, { recursive: true, filter: (path) => !left.test(path) });
  return copy;
}

function only(folder: string, ending: string): string {
  const [found, ...others] = readdirSync(folder).filter((name) => name.endsWith(ending));
  if (found === undefined || others.length > 0) throw new Error(`${folder} does not contain exactly one ${ending}`);
  return join(folder, found);
}

function run(command: string, args: readonly string[], cwd: string): void {
  const environment = { ...process.env, PATH: `${join(command, '..')}:${process.env['PATH'] ?? ''}` };
  const { status, stdout, stderr, error } = spawnSync(command, args, { cwd, encoding: 'utf8', env: environment });
  if (status === 0) return;
  const output = `${stdout ?? ''}${stderr ?? ''}`;
  throw new Error(`${command} ${args.join(' ')} ended with ${status ?? error?.message}\n${output}`);
}

/** The client replaces it by a new key: `NEW_KEY` in `retries.py`. */
const NEW_KEY = 'new';
/** The generator writes files for this content type only. */
const FILE = 'application/octet-stream';
const FILE_TYPES = /^(image\/.*|application\/zip|application\/pdf|text\/csv)$/;

interface Parameter {
  readonly name?: string;
  readonly in?: string;
  readonly style?: string;
  readonly description?: string;
  readonly schema?: object;
}

/** Keys are optional: the client makes them. Names of pairs are complete: the generator omits their prefix. */
function pythonDescription(document: unknown): unknown {
  if (Array.isArray(document)) return document.map(pythonDescription);
  if (typeof document !== 'object' || document === null) return document;
  const { name, in: where, schema, style, description }: Parameter = document;
  if (name === 'Idempotency-Key' && where === 'header') {
    return { ...document, required: false, schema: { ...schema, default: NEW_KEY } };
  }
  if (style === 'deepObject') return { ...document, description: `${description} Give \`{"${name}[key]": "value"}\`.` };
  return Object.fromEntries(
    Object.entries(document).map(([key, value]: [string, unknown]) => {
      if (FILE_TYPES.test(key)) return [FILE, { schema: { type: 'string', format: 'binary' } }];
      return [key, key === 'tags' && isTexts(value) ? value.map(moduleName) : pythonDescription(value)];
    }),
  );
}

function isTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((each) => typeof each === 'string');
}

/** The generator would split `eSIMs` and `Top-ups` into several words. */
function moduleName(tag: string): string {
  return tag.toLowerCase().replaceAll('-', '');
}

/** Into a virtual environment in the user's cache. @throws Error without Python, or when a download fails. */
export function installPythonPackages(name: string, requirements: string): string {
  const version = createHash('sha256').update(readFileSync(requirements)).digest('hex').slice(0, 12);
  const folder = join(cacheDirectory(process.env), `${name}-${version}`);
  const marker = join(folder, 'complete');
  const programs = join(folder, 'bin');
  if (existsSync(marker)) return programs;
  process.stdout.write(`${name} is installed into ${folder}\n`);
  rmSync(folder, { recursive: true, force: true });
  run('python3', ['-m', 'venv', folder], PROJECT);
  const args = ['install', '--quiet', '--disable-pip-version-check', '--requirement', requirements];
  run(join(programs, 'pip'), args, PROJECT);
  // Last, so that an interrupted installation is repeated.
  writeFileSync(marker, '');
  return programs;
}

if (import.meta.main) {
  const folder = resolve(process.argv[2] ?? 'dist');
  mkdirSync(folder, { recursive: true });
  console.log(await buildTypeScriptClient(folder));
  console.log(buildPythonClient(await generatePythonClient(folder)));
}
