/**
 * Whether the workflow of a piece of work is to be started. Temporal knows whether one runs, PostgreSQL whether the
 * work has ended. After PostgreSQL has lost commits the two may disagree: the workflow has completed, and its row is
 * unfinished again.
 */

/** The newest run of a workflow id, as Temporal has it. `unclean`: terminated, failed, timed out or cancelled. */
export type WorkflowRunState = 'none' | 'running' | 'completed' | 'unclean';

/**
 * `leave`: nothing is to be done. `start`: as work that has no workflow. `start_anew`: the completed run does not
 * count, since the row knows nothing of its end; what that run knew is handed to the new one.
 */
export type StartDecision = 'leave' | 'start' | 'start_anew';

/** By the workflow, what is to be done for work that has not ended and for work that has. */
export const START_DECISIONS = {
  none: { unfinished: 'start', ended: 'start' },
  running: { unfinished: 'leave', ended: 'leave' },
  completed: { unfinished: 'start_anew', ended: 'leave' },
  unclean: { unfinished: 'start', ended: 'start' },
} as const satisfies Record<WorkflowRunState, Record<'unfinished' | 'ended', StartDecision>>;

/**
 * Decides whether a workflow is to be started. A run started for work that has ended finds that out and completes at
 * once.
 *
 * @param isEnded of the row, read after the state of the workflow: a workflow ends its row first, so a row that is
 *   still unfinished then has lost that end.
 */
export function startDecision(workflow: WorkflowRunState, isEnded: boolean): StartDecision {
  return START_DECISIONS[workflow][isEnded ? 'ended' : 'unfinished'];
}

/**
 * The outcome of a call that started or woke a workflow. `started`, `notified`: by this call. `running`: it runs already.
 * `finished`: it has completed, and nothing was started.
 */
export type HandOverOutcome = 'started' | 'notified' | 'running' | 'finished';

/** The row of the work, read after the call. `accepted`: no workflow has recorded a step yet. */
type RowProgress = 'accepted' | 'in_progress' | 'ended';

/**
 * `done`: the workflow has the work. `wake`: PostgreSQL has lost what the running workflow recorded; it has to read its
 * row again. `try_again`: no workflow has the work, although it has not ended.
 */
type HandOverDecision = 'done' | 'wake' | 'try_again';

/** What follows a hand-over, by its outcome and the row. */
export const HAND_OVER_DECISIONS = {
  started: { accepted: 'done', in_progress: 'done', ended: 'done' },
  notified: { accepted: 'done', in_progress: 'done', ended: 'done' },
  running: { accepted: 'wake', in_progress: 'done', ended: 'done' },
  finished: { accepted: 'try_again', in_progress: 'try_again', ended: 'done' },
} as const satisfies Record<HandOverOutcome, Record<RowProgress, HandOverDecision>>;

/** True when the row decides what follows: it need not be read after any other outcome. */
export function needsRow(outcome: HandOverOutcome): boolean {
  return new Set(Object.values(HAND_OVER_DECISIONS[outcome])).size > 1;
}
