/**
 * What a relay does with one row of the inbox. Pure, so that the tables can be tested and the model checker can use the
 * same rule that runs in production.
 */
import type { ObservationDecision } from '#domain/relay/observation.ts';

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

/** What to do with the row. */
export type InboxAction =
  /** Another relay or a workflow has settled it, or another relay processes it. Nothing is written. */
  | { readonly kind: 'leave' }
  /** The row is settled; no workflow is notified. */
  | { readonly kind: 'apply'; readonly decision: ObservationDecision }
  /** A workflow must be notified before the row counts as settled. */
  | { readonly kind: 'notify'; readonly decision: NotifyingDecision };

/** Decisions that a workflow must be notified of. */
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
