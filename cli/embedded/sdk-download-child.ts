/**
 * Lets the Temporal SDK download one of its servers: `sdk-download-child.ts dev-server|test-server FOLDER VERSION`.
 * Runs as a process of its own, because the SDK cannot abort a download that hangs.
 */
import { TestWorkflowEnvironment } from '@temporalio/testing';

const [kind, downloadDir = '.', version = 'default'] = process.argv.slice(2);
const server = { executable: { type: 'cached-download' as const, downloadDir, version } };
const environment =
  kind === 'dev-server'
    ? await TestWorkflowEnvironment.createLocal({ server })
    : await TestWorkflowEnvironment.createTimeSkipping({ server });
await environment.teardown();
