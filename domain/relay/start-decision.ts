/**
 * Whether the workflow of a piece of work must be started. Temporal knows whether it runs, PostgreSQL whether the work
 * has ended. After PostgreSQL has lost commits they may disagree: the workflow has completed, and its row is unfinished
 * again.
 */

/** The newest run of a workflow id, as Temporal has it. `unclean`: terminated, failed, timed out or cancelled. */
export type WorkflowRunState = 'none' | 'running' | 'completed' | 'unclean';

/**
 * `leave`: nothing to do. `start`: start it as work without a workflow. `start_anew`: the row knows nothing of the end
 * of the completed run, so a new run starts with what that run knew.
 */
export type StartDecision = 'leave' | 'start' | 'start_anew';

/** The decision by state of the workflow and of the work. */
export const START_DECISIONS = {
  none: { unfinished: 'start', ended: 'start' },
  running: { unfinished: 'leave', ended: 'leave' },
  completed: { unfinished: 'start_anew', ended: 'leave' },
  unclean: { unfinished: 'start', ended: 'start' },
} as const satisfies Record<WorkflowRunState, Record<'unfinished' | 'ended', StartDecision>>;

/**
 * Decides whether a workflow must be started. A run that is started for ended work finds that out and completes at
 * once.
 * @param isEnded of the row, read after the state of the workflow. A workflow ends its row before it completes, so a
 *   row that is then unfinished has lost that end.
 */
export function startDecision(workflow: WorkflowRunState, isEnded: boolean): StartDecision {
  return START_DECISIONS[workflow][isEnded ? 'ended' : 'unfinished'];
}

/**
 * The outcome of a call that started or woke a workflow. `started`, `notified`: by this call. `running`: it ran
 * already. `finished`: it has completed, and nothing was started.
 */
export type HandOverOutcome = 'started' | 'notified' | 'running' | 'finished';

/** The row of the work, read after the call. `accepted`: no workflow has recorded a step yet. */
type RowProgress = 'accepted' | 'in_progress' | 'ended';

/**
 * `done`: the workflow has the work. `wake`: PostgreSQL has lost what the running workflow recorded, so it has to read
 * its row again. `try_again`: no workflow has the work, although the work has not ended.
 */
type HandOverDecision = 'done' | 'wake' | 'try_again';

/** The decision after a hand-over, by its outcome and the row. */
export const HAND_OVER_DECISIONS = {
  started: { accepted: 'done', in_progress: 'done', ended: 'done' },
  notified: { accepted: 'done', in_progress: 'done', ended: 'done' },
  running: { accepted: 'wake', in_progress: 'done', ended: 'done' },
  finished: { accepted: 'try_again', in_progress: 'try_again', ended: 'done' },
} as const satisfies Record<HandOverOutcome, Record<RowProgress, HandOverDecision>>;

/** True when the decision depends on the row; otherwise the row need not be read. */
export function needsRow(outcome: HandOverOutcome): boolean {
  return new Set(Object.values(HAND_OVER_DECISIONS[outcome])).size > 1;
}
