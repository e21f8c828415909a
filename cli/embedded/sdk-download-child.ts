/** `sdk-download-child.ts KIND FOLDER VERSION`. A process of its own: the SDK cannot abort a hanging download. */
import { TestWorkflowEnvironment } from '@temporalio/testing';

const [kind, downloadDir = '.', version = 'default'] = process.argv.slice(2);
const server = { executable: { type: 'cached-download' as const, downloadDir, version } };
const environment =
  kind === 'dev-server'
    ? await TestWorkflowEnvironment.createLocal({ server })
    : await TestWorkflowEnvironment.createTimeSkipping({ server });
await environment.teardown();
