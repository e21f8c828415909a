import { randomBytes } from 'node:crypto';
import { Connection } from '@temporalio/client';
import { msToTs } from '@temporalio/common/lib/time.js';
import { inject } from 'vitest';
import { waitFor } from '#test/support/wait-for.ts';

export function temporalAddress(): string {
  return inject('servers').temporalAddress;
}

export const temporalConfig = (namespace: string) => ({
  address: temporalAddress(),
  namespace,
  tls: undefined,
  apiKey: undefined,
});

/**
 * Creates a namespace, so that tests do not share workflows and workers, although all use the same name of the task
 * queue. It has no search attributes.
 */
export async function createNamespace(): Promise<string> {
  const namespace = `test-${randomBytes(6).toString('hex')}`;
  const connection = await Connection.connect({ address: temporalAddress() });
  try {
    await connection.workflowService.registerNamespace({
      namespace,
      workflowExecutionRetentionPeriod: msToTs('1 day'),
    });
    // The parts of the server see a new namespace at different times. The last one is the list of workflows.
    await waitFor(`namespace ${namespace} is usable`, async () => {
      await connection.workflowService.listWorkflowExecutions({ namespace });
      return true;
    });
  } finally {
    await connection.close();
  }
  return namespace;
}
