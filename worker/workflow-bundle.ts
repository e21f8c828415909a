import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const BUILD_SCRIPT = fileURLToPath(new URL('build-bundle.ts', import.meta.url));

/**
 * The workflows as one script for the SDK's sandbox.
 *
 * @param file an existing bundle; undefined: builds one in a separate process, because the bundler leaves more than
 *   100 MB resident in its process.
 * @throws Error when the bundle cannot be read or built.
 */
export async function workflowBundle(file: string | undefined): Promise<{ code: string }> {
  if (file !== undefined) return { code: await readFile(file, 'utf8') };
  const folder = await mkdtemp(join(tmpdir(), 'workflow-bundle-'));
  try {
    const built = join(folder, 'workflows.js');
    await promisify(execFile)(process.execPath, [BUILD_SCRIPT, built]);
    return { code: await readFile(built, 'utf8') };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
