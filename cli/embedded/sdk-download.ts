import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { runTool } from '#cli/embedded/tool.ts';

export interface SdkDownloadOptions {
  readonly kind: 'dev-server' | 'test-server';
  /** `default`, or a tag such as `v1.5.1`. */
  readonly version: string;
  /** Path of the downloaded program. */
  readonly target: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly progress: (text: string) => void;
  readonly signal?: AbortSignal;
}

// Without a connection the SDK waits for ever. It creates its file as soon as the server has answered.
const FIRST_SIGN_MS = 8_000;
const STALLED_MS = 30_000;
const LOOK_EVERY_MS = 500;

/** Downloads a Temporal server through the SDK. @returns false when the download fails. */
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

/** Aborts the signal when no file appears within {@link FIRST_SIGN_MS}, or it stops growing for {@link STALLED_MS}. */
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
