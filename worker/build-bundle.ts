/** Writes the workflow bundle: `node worker/build-bundle.ts FILE`. The container image runs it once. */
import { writeFileSync } from 'node:fs';
import { bundleWorkflowCode, DefaultLogger } from '@temporalio/worker';
import { WORKFLOW_SOURCES } from '#worker/bundle.ts';

const [, , file] = process.argv;
if (file === undefined) {
  process.stderr.write('Usage: node worker/build-bundle.ts FILE\n');
  process.exit(64);
}
// Set where the path of the project is one that webpack cannot read: `bundle.ts`.
const symlinks = !process.execArgv.includes('--preserve-symlinks');
const { code } = await bundleWorkflowCode({
  ...WORKFLOW_SOURCES,
  logger: new DefaultLogger('WARN'),
  webpackConfigHook: (webpack) => ({
    ...webpack,
    resolve: { ...webpack.resolve, symlinks },
    resolveLoader: { ...webpack.resolveLoader, symlinks },
  }),
});
writeFileSync(file, code);
