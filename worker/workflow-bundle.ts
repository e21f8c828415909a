import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bundleWorkflows } from '#worker/bundle-workflows.ts';
import { HAS_VERSION } from '#workflows/versioning.ts';

/**
 * The workflows as one script for the SDK's sandbox.
 *
 * @param file an existing bundle; undefined: builds one.
 * @throws Error when the bundle cannot be read or built.
 */
export async function workflowBundle(file: string | undefined): Promise<{ code: string }> {
  if (file !== undefined) return { code: await readFile(file, 'utf8') };
  const folder = await mkdtemp(join(tmpdir(), 'workflow-bundle-'));
  try {
    const built = join(folder, 'workflows.js');
    await bundleWorkflows(built);
    return { code: await readFile(built, 'utf8') };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** The bundle for workers with a deployment version: `upgradeWithWorkers` then takes effect. */
export function forVersionedWorkers({ code }: { readonly code: string }): { code: string } {
  // On the first line, so that the source map stays right.
  return { code: `globalThis.${HAS_VERSION}=true;${code}` };
}
