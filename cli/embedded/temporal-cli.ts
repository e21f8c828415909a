import {
  accessSync,
  constants,
  existsSync,
  statSync,
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
} from 'node:fs';
import { delimiter, join, dirname } from 'node:path';
import { cacheDirectory, BUILD_DISK_GB, buildWithGo, goProblem, SERVER_VERSIONS, runTool } from '#cli/embedded/tool.ts';
import { UserError } from '#cli/terminal/user-error.ts';
import type { Environment } from '#config/environment.ts';

/** A test compares it with `ops/temporal-cli/go.mod`. */
export const TEMPORAL_CLI_VERSION = SERVER_VERSIONS.temporal_cli;

/** The CLI contains a whole Temporal server. */
export interface TemporalCli {
  readonly path: string;
  readonly source: 'TEMPORAL_CLI_PATH' | 'PATH' | 'cache' | 'download' | 'build';
}

export interface ObtainOptions {
  readonly environment: Environment;
  readonly progress: (text: string) => void;
  /** A build takes minutes. */
  readonly announce?: (text: string) => void;
  readonly signal?: AbortSignal;
  readonly download?: typeof downloadBySdk;
}

/** @throws UserError when TEMPORAL_CLI_PATH is not a program. */
export function findTemporalCli(environment: Environment): TemporalCli | undefined {
  const named = environment['TEMPORAL_CLI_PATH'];
  if (named) {
    if (isProgram(named)) return { path: named, source: 'TEMPORAL_CLI_PATH' };
    throw new UserError(
      `TEMPORAL_CLI_PATH is ${named}, which is not an executable program.`,
      'Set it to the Temporal CLI, or unset it.',
    );
  }
  const onPath = (environment['PATH'] ?? '')
    .split(delimiter)
    .filter(Boolean)
    .map((folder) => join(folder, 'temporal'))
    .find(isProgram);
  if (onPath !== undefined) return { path: onPath, source: 'PATH' };
  const cached = cachedCli(environment);
  return isProgram(cached) ? { path: cached, source: 'cache' } : undefined;
}

/** Tries this machine, then the SDK's download, then a build from source. */
export async function obtainTemporalCli(options: ObtainOptions): Promise<TemporalCli> {
  const { environment } = options;
  const found = findTemporalCli(environment);
  if (found !== undefined) return found;
  const target = cachedCli(environment);
  const common = { target, environment, progress: options.progress, ...(options.signal && { signal: options.signal }) };

  options.progress('starting a download');
  const { download = downloadBySdk } = options;
  const downloaded = await download({ ...common, kind: 'dev-server', version: `v${TEMPORAL_CLI_VERSION}` });
  if (downloaded) return { path: target, source: 'download' };

  const problem = await goProblem(environment);
  if (problem !== undefined) {
    throw new UserError(
      `The Temporal server is not on this machine, could not be downloaded, and cannot be built: ${problem}.`,
      [
        'Do one of these and start again:',
        '  - install Go 1.25 or later; the server is then built once (3 to 6 minutes)',
        '  - install the Temporal CLI: put `temporal` on the PATH, or set TEMPORAL_CLI_PATH',
        '  - set TEMPORAL_ADDRESS to a running Temporal server',
      ].join('\n'),
    );
  }
  options.announce?.(
    'The Temporal server could not be downloaded, so it is built from source. This happens once. It takes 3 to 6\n' +
      `minutes and needs about ${BUILD_DISK_GB} GB of disk below ${cacheDirectory(environment)} and in the ` +
      'folders of Go. To avoid\nthe build, stop and set TEMPORAL_CLI_PATH to a Temporal CLI.',
  );
  await buildWithGo({
    ...common,
    module: join(import.meta.dirname, '../../ops/temporal-cli'),
    program: 'github.com/temporalio/cli/cmd/temporal',
  });
  return { path: target, source: 'build' };
}

function cachedCli(environment: Environment): string {
  return join(cacheDirectory(environment), `temporal-cli-${TEMPORAL_CLI_VERSION}`, 'temporal');
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return existsSync(path) && statSync(path).isFile();
  } catch {
    return false;
  }
}

export interface SdkDownloadOptions {
  readonly kind: 'dev-server' | 'test-server';
  readonly version: string;
  readonly target: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly progress: (text: string) => void;
  readonly signal?: AbortSignal;
}

// Offline the SDK waits for ever. It creates its file as soon as the server has answered.
const FIRST_SIGN_MS = 8_000;
const STALLED_MS = 30_000;
const LOOK_EVERY_MS = 500;

export async function downloadBySdk(options: SdkDownloadOptions): Promise<boolean> {
  mkdirSync(dirname(options.target), { recursive: true });
  const folder = mkdtempSync(join(dirname(options.target), 'download-'));
  const watch = watchGrowth(folder, options.progress);
  try {
    await runTool(
      process.execPath,
      [join(import.meta.dirname, 'sdk-download-child.ts'), options.kind, folder, options.version],
      {
        environment: options.environment,
        signal: options.signal === undefined ? watch.signal : AbortSignal.any([watch.signal, options.signal]),
      },
    );
    const program = readdirSync(folder).find((name) => !name.endsWith('.downloading'));
    if (program === undefined) return false;
    chmodSync(join(folder, program), 0o755);
    renameSync(join(folder, program), options.target);
    return existsSync(options.target);
  } catch {
    options.signal?.throwIfAborted();
    return false;
  } finally {
    watch.end();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Aborts without a file within {@link FIRST_SIGN_MS}, or without growth for {@link STALLED_MS}. */
function watchGrowth(folder: string, progress: (text: string) => void): { signal: AbortSignal; end: () => void } {
  const givingUp = new AbortController();
  let size = 0;
  let changedAt = Date.now();
  const timer = setInterval(() => {
    const now = readdirSync(folder).reduce(
      (sum, name) => sum + (statSync(join(folder, name), { throwIfNoEntry: false })?.size ?? 0),
      0,
    );
    if (now !== size) {
      size = now;
      changedAt = Date.now();
      progress(`downloaded ${Math.round(size / 1_048_576)} MB`);
    }
    if (Date.now() - changedAt > (size === 0 ? FIRST_SIGN_MS : STALLED_MS)) givingUp.abort(new Error('no answer'));
  }, LOOK_EVERY_MS);
  return { signal: givingUp.signal, end: () => clearInterval(timer) };
}
