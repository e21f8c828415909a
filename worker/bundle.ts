import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, rmdir, symlink, unlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { BundleOptions } from '@temporalio/worker';
import { FAILURE_CONVERTER_PATH } from '#temporal/codec/payload-codec.ts';
import { HAS_VERSION } from '#workflows/options.ts';

const PROJECT = join(import.meta.dirname, '..');

export const WORKFLOW_SOURCES = {
  workflowsPath: join(PROJECT, 'workflows/index.ts'),
  workflowInterceptorModules: [join(PROJECT, 'workflows/interceptors.ts')],
  failureConverterPath: FAILURE_CONVERTER_PATH,
} satisfies BundleOptions;

/** Webpack takes these as the start of a query or fragment, or as the separator of loaders. */
const NOT_IN_PATHS = /[#?!]/;

/** Runs in a process of its own, because the bundler leaves more than 100 MB resident. */
export async function bundleWorkflows(file: string, signal?: AbortSignal): Promise<void> {
  const bundle = async (project: string, ...options: string[]) => {
    const args = [...options, join(project, 'worker/build-bundle.ts'), file];
    await promisify(execFile)(process.execPath, args, signal === undefined ? {} : { signal });
  };
  if (!NOT_IN_PATHS.test(PROJECT)) return await bundle(PROJECT);
  const folder = await mkdtemp(join(tmpdir(), 'reseller-bundle-'));
  const link = join(folder, 'project');
  await symlink(PROJECT, link);
  try {
    await bundle(link, '--preserve-symlinks', '--preserve-symlinks-main');
  } finally {
    await unlink(link);
    await rmdir(folder);
  }
}

/** Builds the bundle without `file`. @throws Error when it cannot be read or built. */
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

/** `upgradeWithWorkers` takes effect only with this declaration. */
export function forVersionedWorkers({ code }: { readonly code: string }): { code: string } {
  // On the first line, so that the source map stays right.
  return { code: `globalThis.${HAS_VERSION}=true;${code}` };
}
