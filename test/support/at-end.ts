const tasks = new Set<() => void>();
let installed = false;

/**
 * Runs `task` when this process ends, for what a test or a failed set-up left: child processes, folders. Nothing can be
 * awaited then. The test runner ends its workers with SIGTERM, which by itself would pass over the `exit` event.
 *
 * @returns takes the task back.
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
