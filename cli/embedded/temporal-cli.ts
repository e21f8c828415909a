import { accessSync, constants, existsSync, statSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { cacheDirectory } from '#cli/embedded/cache.ts';
import { BUILD_DISK_GB, buildWithGo, goProblem } from '#cli/embedded/go-build.ts';
import { downloadBySdk } from '#cli/embedded/sdk-download.ts';
import { UserError } from '#cli/terminal/user-error.ts';
import type { Environment } from '#config/environment.ts';

/** The release that is downloaded or built; `ops/temporal-cli/go.mod` pins the same one. */
export const TEMPORAL_CLI_VERSION = '1.5.1';

/** The program that holds a whole Temporal server for one machine, and where it came from. */
export interface TemporalCli {
  readonly path: string;
  readonly source: 'TEMPORAL_CLI_PATH' | 'PATH' | 'cache' | 'download' | 'build';
}

export interface ObtainOptions {
  readonly environment: Environment;
  readonly progress: (text: string) => void;
  /** Told once, before something that takes minutes. */
  readonly announce?: (text: string) => void;
  readonly signal?: AbortSignal;
  /** Tests put another in its place. */
  readonly download?: typeof downloadBySdk;
}

/**
 * Looks for it on this machine: the path that the environment names, the PATH, our cache.
 *
 * @throws UserError when TEMPORAL_CLI_PATH names no program.
 */
export function findTemporalCli(environment: Environment): TemporalCli | undefined {
  const named = environment['TEMPORAL_CLI_PATH'];
  if (named) {
    if (isProgram(named)) return { path: named, source: 'TEMPORAL_CLI_PATH' };
    throw new UserError(
      `TEMPORAL_CLI_PATH names ${named}, which is not a program that can be run.`,
      'Set it to the Temporal CLI, or leave it out.',
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

/**
 * {@link findTemporalCli}; where there is none, downloads it through the SDK, and where that is not reachable builds
 * it from source. Either is kept in the cache.
 *
 * @throws UserError when none of it is possible.
 */
export async function obtainTemporalCli(options: ObtainOptions): Promise<TemporalCli> {
  const { environment } = options;
  const found = findTemporalCli(environment);
  if (found !== undefined) return found;
  const target = cachedCli(environment);
  const common = { target, environment, progress: options.progress, ...(options.signal && { signal: options.signal }) };

  options.progress('asking for a download');
  const { download = downloadBySdk } = options;
  const downloaded = await download({ ...common, kind: 'dev-server', version: `v${TEMPORAL_CLI_VERSION}` });
  if (downloaded) return { path: target, source: 'download' };

  const problem = await goProblem(environment);
  if (problem !== undefined) throw noCli(problem);
  options.announce?.(
    'The Temporal server could not be downloaded from here, so it is built from source. That happens once, takes ' +
      'some 3 to 6\n' +
      `minutes, and needs about ${BUILD_DISK_GB} GB of disk below ${cacheDirectory(environment)} and in the ` +
      'folders of Go. To be\n' +
      'spared that, stop, and name a Temporal CLI in TEMPORAL_CLI_PATH.',
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

function noCli(problem: string): UserError {
  return new UserError(
    `The Temporal server is not on this machine, it could not be downloaded, and it cannot be built: ${problem}.`,
    [
      'Do one of these and start again:',
      '  - install Go 1.25 or later; the server is then built once (some 3 to 6 minutes)',
      '  - install the Temporal CLI, so that `temporal` is on the PATH or TEMPORAL_CLI_PATH names it',
      '  - set TEMPORAL_ADDRESS to a Temporal server that is running',
    ].join('\n'),
  );
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return existsSync(path) && statSync(path).isFile();
  } catch {
    return false;
  }
}
