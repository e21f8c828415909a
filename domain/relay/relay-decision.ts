/** What a relay does with a row of the inbox or outbox. The model checker uses the same rules as production. */
import type { RelayPolicy } from '#domain/policy/relay-policy.ts';
import { backoffMs } from '#domain/policy/settings.ts';
import type { ObservationDecision, ServiceObservation } from '#domain/relay/observation.ts';
import { isFinal, type WorkStatus } from '#domain/work/lifecycle.ts';

/** `unmatched`: it names nothing of ours yet. `replayed`: signed content that came before under another id. */
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

/** Read under its lock: a copy from before may be out of date. */
export interface StoredInboxRow {
  readonly state: InboxState;
  readonly decision: ObservationDecision | null;
  /** False when another relay has taken the row since. */
  readonly isOurs: boolean;
}

export type InboxAction =
  | { readonly kind: 'leave' }
  | { readonly kind: 'apply'; readonly decision: ObservationDecision }
  /** A workflow must be notified before the row is settled. */
  | { readonly kind: 'notify'; readonly decision: ServiceObservation['decision'] };

/**
 * A row that was judged `advance` or `contradiction` keeps that decision until a workflow was notified or the work
 * ended. A second judgement would find the stored facts and call the row `known`: the workflow would never be notified.
 * @param workEnded the row is then judged against that end, and no workflow is notified.
 */
export function decideInboxRow(row: StoredInboxRow, judged: ObservationDecision, workEnded: boolean): InboxAction {
  if (row.state !== 'pending' || !row.isOurs) return { kind: 'leave' };
  if (workEnded) return { kind: 'apply', decision: judged };
  const decision = row.decision === null || row.decision === 'known' ? judged : row.decision;
  return decision === 'known' ? { kind: 'apply', decision } : { kind: 'notify', decision };
}

export type NotifyOutcome = 'notified' | 'finished';

/** `judge_again`: the work has ended. `try_again`: no workflow was notified although the work goes on. */
export function afterNotifying(outcome: NotifyOutcome, workEnded: boolean): 'relayed' | 'judge_again' | 'try_again' {
  if (workEnded) return 'judge_again';
  return outcome === 'notified' ? 'relayed' : 'try_again';
}

/** `unclean`: terminated, failed, timed out or cancelled. */
export type WorkflowRunState = 'none' | 'running' | 'completed' | 'unclean';

/** `start_anew`: the row lost the end of the completed run, so a new run starts with what that run knew. */
export type StartDecision = 'leave' | 'start' | 'start_anew';

export const START_DECISIONS = {
  none: { unfinished: 'start', ended: 'start' },
  running: { unfinished: 'leave', ended: 'leave' },
  completed: { unfinished: 'start_anew', ended: 'leave' },
  unclean: { unfinished: 'start', ended: 'start' },
} as const satisfies Record<WorkflowRunState, Record<'unfinished' | 'ended', StartDecision>>;

/** @param isEnded read after the state of the workflow, which ends its row before it completes. */
export function startDecision(workflow: WorkflowRunState, isEnded: boolean): StartDecision {
  return START_DECISIONS[workflow][isEnded ? 'ended' : 'unfinished'];
}

/**
 * `running`: it ran already. `finished`: it has completed, and nothing was started. Otherwise this call has reached the
 * workflow, and nothing more is needed.
 */
export function needsRow(outcome: 'started' | 'notified' | 'running' | 'finished'): outcome is 'running' | 'finished' {
  return outcome === 'running' || outcome === 'finished';
}

/**
 * `wake`: PostgreSQL has lost what the workflow recorded, since its row is `accepted` as before the first step.
 * `try_again`: no workflow has the work.
 */
export function afterHandOver(outcome: 'running' | 'finished', status: WorkStatus): 'done' | 'wake' | 'try_again' {
  if (outcome === 'finished') return isFinal(status) ? 'done' : 'try_again';
  return status === 'accepted' ? 'wake' : 'done';
}

/**
 * After a passing error the row waits, after lasting errors it is quarantined: an outage must never quarantine a row.
 * @param row `tries` includes this one; `lastingErrors`: before this one. @returns the wait in milliseconds.
 */
export function afterFailure(
  isLasting: boolean,
  row: { readonly tries: number; readonly lastingErrors: number },
  policy: Pick<RelayPolicy, 'retryDelayMs' | 'retryDelayMaxMs' | 'lastingTries'>,
): number | 'quarantine' {
  if (isLasting && row.lastingErrors + 1 >= policy.lastingTries) return 'quarantine';
  return backoffMs(policy.retryDelayMs, policy.retryDelayMaxMs, row.tries);
}

export type PollPolicy = Pick<RelayPolicy, 'pollMs' | 'pollMaxMs'>;

/** Milliseconds. It doubles up to `pollMaxMs` while notifications arrive and the poll finds nothing. */
export function pollWaitMs(
  last: { readonly waitMs: number; readonly foundRows: boolean; readonly isHearing: boolean },
  { pollMs, pollMaxMs }: PollPolicy,
): number {
  const { waitMs, foundRows, isHearing } = last;
  if (foundRows || !isHearing) return pollMs;
  return Math.min(waitMs * 2, Math.max(pollMs, pollMaxMs));
}
