import { randomUUID } from 'node:crypto';
import { Client, Connection } from '@temporalio/client';
import { type WorkflowTask, closedLoop, serve } from '#bench/drivers/protocol.ts';

serve(async (task: WorkflowTask) => {
  const connection = await Connection.connect({ address: task.address });
  try {
    const client = new Client({ connection, namespace: task.namespace });
    return await closedLoop(task, async () => {
      await client.workflow.execute(task.workflowType, {
        taskQueue: task.taskQueue,
        args: [...task.args],
        workflowId: `peer/${randomUUID()}`,
        workflowExecutionTimeout: '1m',
      });
    });
  } finally {
    await connection.close();
  }
});
