import { randomBytes } from 'node:crypto';
import { Connection } from '@temporalio/client';
import { msToTs } from '@temporalio/common/lib/time.js';
import { inject } from 'vitest';
import { waitFor } from '#test/support/wait-for.ts';

/** Address of the run's Temporal server. */
export function temporalAddress(): string {
  return inject('servers').temporalAddress;
}

/**
 * A namespace of its own, so that tests do not see each other's workflows and workers although the task queue has one
 * name. Search attributes are not set up here.
 */
export async function createNamespace(address = temporalAddress()): Promise<string> {
  const namespace = `test-${randomBytes(6).toString('hex')}`;
  const connection = await Connection.connect({ address });
  try {
    await connection.workflowService.registerNamespace({
      namespace,
      workflowExecutionRetentionPeriod: msToTs('1 day'),
    });
    // The server's parts learn of a namespace one after the other; it is there when its workflows can be listed.
    await waitFor(`namespace ${namespace} is usable`, async () => {
      await connection.workflowService.listWorkflowExecutions({ namespace });
      return true;
    });
  } finally {
    await connection.close();
  }
  return namespace;
}
