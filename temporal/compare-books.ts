import { WorkflowIdConflictPolicy, type Client } from '@temporalio/client';
import { BOOKS_BY_HAND, MAINTENANCE_WORKFLOWS, TASK_QUEUE, type BooksResult } from '#workflows/messages.ts';

/**
 * Has a worker compare our books with the wallet at the service now, beside the schedule. Whoever asks while such a
 * comparison runs gets that one's result.
 *
 * @param timeoutMs how long to wait for it; it goes on afterwards.
 * @returns undefined when it has not ended by then.
 */
export async function compareBooks(client: Client, timeoutMs: number): Promise<BooksResult | undefined> {
  const handle = await client.workflow.start<() => Promise<BooksResult>>(MAINTENANCE_WORKFLOWS.books, {
    workflowId: BOOKS_BY_HAND,
    taskQueue: TASK_QUEUE,
    args: [],
    workflowIdConflictPolicy: WorkflowIdConflictPolicy.USE_EXISTING,
    staticSummary: 'Compares our books with the wallet at the service, because a person asked for it',
  });
  const { promise: tooLate, resolve } = Promise.withResolvers<undefined>();
  const timeout = setTimeout(() => resolve(undefined), timeoutMs);
  const waiting = new AbortController();
  const result = client.withAbortSignal(waiting.signal, () => handle.result());
  try {
    return await Promise.race([result, tooLate]);
  } finally {
    clearTimeout(timeout);
    // The server would answer only much later, and the process would wait for it.
    waiting.abort();
    result.catch(() => undefined);
  }
}
