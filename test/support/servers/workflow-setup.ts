import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { obtainTestServer } from '#test/support/servers/time-skipping-server.ts';
import { removeFolder, temporaryFolder } from '#test/support/temporary.ts';
import { bundleWorkflows } from '#worker/bundle.ts';

declare module 'vitest' {
  export interface ProvidedContext {
    /** Path of Temporal's time-skipping server. */
    testServer: string;
    /** File with the workflows as production bundles them. */
    bundledWorkflows: string;
  }
}

/**
 * Workflow tests need the time-skipping server. Without it the run fails with the reason. All files share one bundle,
 * because its build takes two seconds.
 */
export default async function setUp(project: TestProject): Promise<() => void> {
  const environment = process.env;
  const folder = temporaryFolder('workflow');
  const bundle = join(folder, 'workflows.js');
  const [path] = await Promise.all([
    obtainTestServer({
      environment,
      progress: (text) => process.stdout.write(`time-skipping test server: ${text}\n`),
    }),
    bundleWorkflows(bundle),
  ]);
  project.provide('testServer', path);
  project.provide('bundledWorkflows', bundle);
  return () => removeFolder(folder);
}
