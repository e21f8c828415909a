import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';

const BUILD_SCRIPT = join(import.meta.dirname, 'build-bundle.ts');

/**
 * Bundles the workflows into a file, which takes seconds of a core. In a process of its own, because the bundler leaves
 * more than 100 MB resident.
 *
 * @param signal ends it. @throws Error when the workflows cannot be bundled.
 */
export async function bundleWorkflows(file: string, signal?: AbortSignal): Promise<void> {
  await promisify(execFile)(process.execPath, [BUILD_SCRIPT, file], signal === undefined ? {} : { signal });
}
