import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bundleWorkflowCode, DefaultLogger } from '@temporalio/worker';
import { temporaryFolder } from '#test/support/temporary.ts';
import { WORKFLOW_SOURCES } from '#worker/bundle.ts';

/** Bundles the workflows with an order that cannot replay the runs of ours. @returns the file for `WORKFLOW_BUNDLE`. */
export async function bundleReorderedOrder(): Promise<string> {
  const { code } = await bundleWorkflowCode({
    ...WORKFLOW_SOURCES,
    workflowInterceptorModules: [...WORKFLOW_SOURCES.workflowInterceptorModules],
    workflowsPath: fileURLToPath(new URL('reordered-order.ts', import.meta.url)),
    logger: new DefaultLogger('WARN'),
  });
  const file = join(temporaryFolder('bundle'), 'workflows.js');
  writeFileSync(file, code);
  return file;
}
