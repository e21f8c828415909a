/** A process of its own, as ours: the bundler leaves 100 MB resident. */
import { fileURLToPath } from 'node:url';
import { bundleWorkflowCode, DefaultLogger } from '@temporalio/worker';

const { code } = await bundleWorkflowCode({
  workflowsPath: fileURLToPath(new URL('empty-workflow.ts', import.meta.url)),
  logger: new DefaultLogger('WARN'),
});
process.stdout.write(code);
