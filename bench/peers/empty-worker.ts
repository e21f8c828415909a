/** Uses the settings of `worker/main.ts` and nothing else of the product. */
import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { NativeConnection, Worker } from '@temporalio/worker';

const { TEMPORAL_ADDRESS, TEMPORAL_NAMESPACE, TASK_QUEUE } = process.env;
if (TEMPORAL_ADDRESS === undefined || TEMPORAL_NAMESPACE === undefined || TASK_QUEUE === undefined) {
  throw new Error('TEMPORAL_ADDRESS, TEMPORAL_NAMESPACE and TASK_QUEUE are needed');
}

const BUNDLE = fileURLToPath(new URL('empty-bundle.ts', import.meta.url));
const MAX_BUNDLE = 16 * 1024 * 1024;

const connection = await NativeConnection.connect({ address: TEMPORAL_ADDRESS });
try {
  const worker = await Worker.create({
    connection,
    namespace: TEMPORAL_NAMESPACE,
    taskQueue: TASK_QUEUE,
    workflowBundle: { code: execFileSync(process.execPath, [BUNDLE], { encoding: 'utf8', maxBuffer: MAX_BUNDLE }) },
    activities: { first: async (): Promise<void> => undefined },
    maxCachedWorkflows: 300,
    maxConcurrentActivityTaskExecutions: 50,
  });
  // Ends at SIGTERM.
  const running = worker.run();
  process.stdout.write('the peer runs\n');
  await running;
} finally {
  await connection.close();
}
