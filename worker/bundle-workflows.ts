import { execFile } from 'node:child_process';
import { mkdtempSync, rmdirSync, symlinkSync, unlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

const PROJECT = join(import.meta.dirname, '..');
/** In a path, webpack takes what follows as a query or a fragment, or as the separator of loaders. */
const NOT_IN_PATHS = /[#?!]/;

/**
 * Bundles the workflows into a file, which takes seconds of a core. In a process of its own, because the bundler leaves
 * more than 100 MB resident.
 *
 * @param signal ends it. @throws Error when the workflows cannot be bundled.
 */
export async function bundleWorkflows(file: string, signal?: AbortSignal): Promise<void> {
  const bundle = async (project: string, ...options: string[]) => {
    const args = [...options, join(project, 'worker/build-bundle.ts'), file];
    await promisify(execFile)(process.execPath, args, signal === undefined ? {} : { signal });
  };
  if (!NOT_IN_PATHS.test(PROJECT)) return await bundle(PROJECT);
  const folder = mkdtempSync(join(tmpdir(), 'reseller-bundle-'));
  const link = join(folder, 'project');
  symlinkSync(PROJECT, link);
  try {
    await bundle(link, '--preserve-symlinks', '--preserve-symlinks-main');
  } finally {
    unlinkSync(link);
    rmdirSync(folder);
  }
}
