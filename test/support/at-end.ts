const tasks = new Set<() => void>();
let installed = false;

/**
 * Runs `task` when this process ends, to remove child processes and folders of a test or a failed set-up. The task must
 * be synchronous. Signals would skip the `exit` event: the test runner ends its workers with SIGTERM.
 *
 * @returns a function that removes the task.
 */
export function atEnd(task: () => void): () => void {
  if (!installed) {
    installed = true;
    // Not `once`: npm passes a signal on, and the second would end the process before its children are stopped.
    process.on('SIGINT', () => process.exit(130));
    process.on('SIGTERM', () => process.exit(143));
    process.once('exit', () => tasks.forEach((each) => each()));
  }
  tasks.add(task);
  return () => tasks.delete(task);
}
