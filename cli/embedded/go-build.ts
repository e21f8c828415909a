import { mkdirSync, renameSync, rmSync, statfsSync } from 'node:fs';
import { dirname } from 'node:path';
import { runTool, toolAnswers, ToolError } from '#cli/embedded/tool.ts';
import { UserError } from '#cli/terminal/user-error.ts';

export interface GoBuildOptions {
  /** Folder of the `go.mod` that pins the program and its dependencies. */
  readonly module: string;
  /** Import path of the program. */
  readonly program: string;
  readonly target: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly progress: (text: string) => void;
  readonly signal?: AbortSignal;
}

// 1.21 is the first version that downloads the toolchain required by `go.mod`. Older ones fail with an unclear error.
const OLDEST_GO = [1, 21] as const;
/** Measured size of sources, build cache and program together. */
export const BUILD_DISK_GB = 4;

/** @returns why Go cannot build here, as a clause; undefined when it can. */
export async function goProblem(environment: GoBuildOptions['environment']): Promise<string | undefined> {
  const answer = await toolAnswers('go', ['env', 'GOVERSION'], environment);
  if (answer === undefined) return 'Go is not installed';
  const [, major, minor] = /^go(\d+)\.(\d+)/.exec(answer) ?? [];
  if (major === undefined || minor === undefined) return `Go has an unknown version (${answer})`;
  const old = Number(major) < OLDEST_GO[0] || (Number(major) === OLDEST_GO[0] && Number(minor) < OLDEST_GO[1]);
  return old ? `Go is too old (${answer.trim()}; 1.25 or later is needed)` : undefined;
}

/** Builds a Go program from its pinned sources. @throws UserError when it cannot be built. */
export async function buildWithGo(options: GoBuildOptions): Promise<void> {
  mkdirSync(dirname(options.target), { recursive: true });
  const { bavail, bsize } = statfsSync(dirname(options.target));
  if (bavail * bsize < BUILD_DISK_GB * 1024 ** 3) {
    throw new UserError(
      `Building the Temporal server needs about ${BUILD_DISK_GB} GB of disk, and ` +
        `${Math.floor((bavail * bsize) / 1024 ** 2)} MB are free.`,
      `Free some space on the disk of ${dirname(options.target)} and start again.`,
    );
  }
  const partial = `${options.target}.${process.pid}.partial`;
  // With GOTOOLCHAIN=auto an older Go downloads the toolchain required by go.mod.
  const environment = { ...options.environment, CGO_ENABLED: '0', GOTOOLCHAIN: 'auto' };
  const common = {
    cwd: options.module,
    environment,
    ...(options.signal === undefined ? {} : { signal: options.signal }),
  };
  try {
    let fetched = 0;
    options.progress('fetching the sources');
    await runTool('go', ['mod', 'download', '-x'], {
      ...common,
      onLine: (line) => {
        if (/\.zip: 200/.test(line)) options.progress(`fetched ${(fetched += 1)} modules`);
      },
    });
    const packages = await runTool('go', ['list', '-deps', options.program], common);
    const total = packages.split('\n').length;
    let compiled = 0;
    await runTool('go', ['build', '-v', '-trimpath', '-ldflags=-s -w', '-o', partial, options.program], {
      ...common,
      onLine: () => options.progress(`compiled ${(compiled += 1)} of at most ${total} packages`),
    });
    renameSync(partial, options.target);
  } catch (error) {
    if (!(error instanceof ToolError)) throw error;
    throw new UserError(
      `The Temporal server could not be built: ${error.message}.\n${error.output}`,
      'Check that the Go module proxy can be reached. Or install the Temporal CLI: put `temporal` on the PATH, or ' +
        'set TEMPORAL_CLI_PATH to it.',
    );
  } finally {
    rmSync(partial, { force: true });
  }
}
