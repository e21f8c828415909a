import { WorkflowIdConflictPolicy, type Client } from '@temporalio/client';
import {
  BOOKS_BY_HAND,
  MAINTENANCE_RUN_TIMEOUT_MS,
  MAINTENANCE_WORKFLOWS,
  TASK_QUEUE,
  type BooksResult,
} from '#workflows/messages.ts';

/**
 * Makes a worker compare our books with the wallet at the service now, in addition to the schedule. If such a
 * comparison is running already, waits for its result.
 *
 * @param timeoutMs how long to wait, in milliseconds; the comparison continues afterwards.
 * @returns undefined when it has not ended in time.
 */
export async function compareBooks(client: Client, timeoutMs: number): Promise<BooksResult | undefined> {
  const handle = await client.workflow.start<() => Promise<BooksResult>>(MAINTENANCE_WORKFLOWS.books, {
    workflowId: BOOKS_BY_HAND,
    taskQueue: TASK_QUEUE,
    args: [],
    workflowRunTimeout: MAINTENANCE_RUN_TIMEOUT_MS,
    workflowIdConflictPolicy: WorkflowIdConflictPolicy.USE_EXISTING,
    staticSummary: 'Compares our books with the wallet at the service, at the request of an operator',
  });
  const { promise: tooLate, resolve } = Promise.withResolvers<undefined>();
  const timeout = setTimeout(() => resolve(undefined), timeoutMs);
  const waiting = new AbortController();
  const result = client.withAbortSignal(waiting.signal, () => handle.result());
  try {
    return await Promise.race([result, tooLate]);
  } finally {
    clearTimeout(timeout);
    // Otherwise the process would wait for the long poll.
    waiting.abort();
    result.catch(() => undefined);
  }
}
