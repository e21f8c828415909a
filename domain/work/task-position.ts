/**
 * The workflow task that decided a step of work. A worker may lose its workflow task and not know it: frozen, or cut
 * off from Temporal, it still runs the local activities of that task, after another worker has decided newer steps.
 */
export interface TaskPosition {
  /** The run of the workflow. */
  readonly runId: string;
  /** Length of the history when the task began. It grows with every task of a run that the history shows. */
  readonly historyLength: number;
  /** Time of the workflow at the step, in epoch milliseconds. Orders tasks with the same history. */
  readonly at: number;
}

/** Where a run begins, before its first step. */
export function startOfRun(runId: string): TaskPosition {
  return { runId, historyLength: 0, at: 0 };
}

/**
 * True when a step comes from a workflow task that Temporal has given to another worker since.
 * @param last of the last recorded step, or the start of the newest run.
 */
export function isSuperseded(step: TaskPosition, last: TaskPosition): boolean {
  if (step.runId !== last.runId) return true;
  if (step.historyLength !== last.historyLength) return step.historyLength < last.historyLength;
  return step.at < last.at;
}
