import type { RelayPolicy } from '#domain/policy/relay-policy.ts';
import { backoffMs } from '#domain/policy/settings.ts';
import type { ObservationDecision } from '#domain/relay/observation.ts';

/**
 * What a relay does with one row of the inbox. Pure, so that the tables can be tested and the model checker can use the
 * same rule that runs in production.
 */

/**
 * State of a row of the inbox. `pending` waits for the relay, `relayed` was given to a workflow, `applied` means that
 * the state machine confirmed it, `unmatched` names nothing of ours yet, `quarantined` is kept and not acted upon until
 * an operator requeues or dismisses it, `replayed` is signed content that came before under another id, `ignored` needs
 * no action.
 */
export const INBOX_STATES = [
  'pending',
  'relayed',
  'applied',
  'unmatched',
  'quarantined',
  'replayed',
  'ignored',
] as const;
export type InboxState = (typeof INBOX_STATES)[number];

/** A row as it is stored at this moment, read under its lock. A copy from before the lock may be out of date. */
export interface StoredInboxRow {
  readonly state: InboxState;
  /** What an earlier judgement stored; null before the first. */
  readonly decision: ObservationDecision | null;
  /** False when another relay has taken the row since. */
  readonly isOurs: boolean;
}

export type InboxAction =
  /** Another relay or a workflow has settled it, or another relay processes it. Nothing is written. */
  | { readonly kind: 'leave' }
  /** The row is settled; no workflow is notified. */
  | { readonly kind: 'apply'; readonly decision: ObservationDecision }
  /** A workflow must be notified before the row counts as settled. */
  | { readonly kind: 'notify'; readonly decision: NotifyingDecision };

export type NotifyingDecision = Exclude<ObservationDecision, 'known'>;

/**
 * Decides what becomes of a row.
 *
 * A row that was judged `advance` or `contradiction` keeps that decision until a workflow was notified or the work
 * ended. The first judgement stores the reported facts. A second judgement finds them and would call the row `known`:
 * the workflow would then never be notified.
 *
 * @param judged what the row means by the present state of the attempt.
 * @param workEnded true when the work has ended: the row is then judged against that end, and no workflow is notified.
 */
export function decideInboxRow(row: StoredInboxRow, judged: ObservationDecision, workEnded: boolean): InboxAction {
  if (row.state !== 'pending' || !row.isOurs) return { kind: 'leave' };
  if (workEnded) return { kind: 'apply', decision: judged };
  const decision = row.decision === null || row.decision === 'known' ? judged : row.decision;
  return decision === 'known' ? { kind: 'apply', decision } : { kind: 'notify', decision };
}

/** Result of notifying a workflow. `finished`: the workflow had completed and was not notified. */
export type NotifyOutcome = 'notified' | 'finished';

/**
 * Decides what happens to a row after the attempt to notify its workflow.
 *
 * @returns `relayed`: the workflow answers for it. `judge_again`: the work has ended, so the row is judged against the
 *   end at once. `try_again`: no workflow was notified although the work goes on.
 */
export function afterNotifying(outcome: NotifyOutcome, workEnded: boolean): 'relayed' | 'judge_again' | 'try_again' {
  if (workEnded) return 'judge_again';
  return outcome === 'notified' ? 'relayed' : 'try_again';
}

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

/**
 * What a relay does after it could not hand over a row: after a passing error it waits, after lasting errors it
 * quarantines the row.
 */

export type RelayFailure =
  /** PostgreSQL refused a statement, with its SQLSTATE. */
  | { readonly kind: 'sql'; readonly state: string }
  /** The stored body cannot be decrypted, or does not have the stored form. */
  | { readonly kind: 'unreadable' }
  /** The row names work that this database does not have. */
  | { readonly kind: 'work_missing' }
  /** Everything else: an outage or a timeout of Temporal or PostgreSQL, and unknown errors. */
  | { readonly kind: 'other' };

/**
 * True when a retry cannot help without a change. Only errors that are known to last count, because an outage must
 * never quarantine a row. SQLSTATE class 22 is a data exception, 23 a constraint violation.
 */
export function isLasting(failure: RelayFailure): boolean {
  switch (failure.kind) {
    case 'sql':
      return /^2[23]/.test(failure.state);
    case 'unreadable':
    case 'work_missing':
      return true;
    case 'other':
      return false;
  }
}

export type AfterFailure =
  | { readonly kind: 'postpone'; readonly delayMs: number; readonly isLasting: boolean }
  | { readonly kind: 'quarantine' };

/**
 * Decides what happens to a row after a failure.
 * @param row `tries`: how often it was taken, this time included; `lastingErrors`: lasting errors before this one.
 */
export function afterFailure(
  failure: RelayFailure,
  row: { readonly tries: number; readonly lastingErrors: number },
  policy: Pick<RelayPolicy, 'retryDelayMs' | 'retryDelayMaxMs' | 'lastingTries'>,
): AfterFailure {
  const lasting = isLasting(failure);
  if (lasting && row.lastingErrors + 1 >= policy.lastingTries) return { kind: 'quarantine' };
  return {
    kind: 'postpone',
    delayMs: backoffMs(policy.retryDelayMs, policy.retryDelayMaxMs, row.tries),
    isLasting: lasting,
  };
}

/** Times of a slow poll beside notifications, in milliseconds. */
export interface PollPolicy {
  readonly pollMs: number;
  readonly pollMaxMs: number;
}

export interface LastPoll {
  readonly waitMs: number;
  readonly foundRows: boolean;
  /** True while notifications are proved to arrive. */
  readonly isHearing: boolean;
}

/**
 * The wait until the next poll, in milliseconds. It doubles up to `pollMaxMs` while notifications arrive and the poll
 * finds nothing; otherwise it is `pollMs`.
 */
export function pollWaitMs({ waitMs, foundRows, isHearing }: LastPoll, { pollMs, pollMaxMs }: PollPolicy): number {
  if (foundRows || !isHearing) return pollMs;
  return Math.min(waitMs * 2, Math.max(pollMs, pollMaxMs));
}
