const tasks = new Set<() => void>();
let installed = false;

/**
 * Runs `task` when this process ends, to remove child processes and folders of a test or a failed set-up. The task must
 * be synchronous. The test runner ends its workers with SIGTERM, which would skip the `exit` event.
 *
 * @returns a function that removes the task.
 */
export function atEnd(task: () => void): () => void {
  if (!installed) {
    installed = true;
    process.once('SIGTERM', () => process.exit(143));
    process.once('exit', () => tasks.forEach((each) => each()));
  }
  tasks.add(task);
  return () => tasks.delete(task);
}
