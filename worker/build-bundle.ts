/** Bundles the workflows into a file: `node worker/build-bundle.ts FILE`. The image does so once; see `workflow-bundle.ts`. */
import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { bundleWorkflowCode, DefaultLogger } from '@temporalio/worker';
import { FAILURE_CONVERTER_PATH } from '#temporal/data-converter.ts';

const [, , file] = process.argv;
if (file === undefined) {
  process.stderr.write('Usage: node worker/build-bundle.ts FILE\n');
  process.exit(64);
}
const { code } = await bundleWorkflowCode({
  workflowsPath: fileURLToPath(new URL('../workflows/index.ts', import.meta.url)),
  failureConverterPath: FAILURE_CONVERTER_PATH,
  logger: new DefaultLogger('WARN'),
});
writeFileSync(file, code);
