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
  /** False when another relay took the row since: it is that relay's now. */
  readonly isOurs: boolean;
}

/** What to do with the row. */
export type InboxAction =
  /** Another relay or a workflow has settled it, or another relay has it in hand. Nothing is written. */
  | { readonly kind: 'leave' }
  /** The row is done with; nobody is told. */
  | { readonly kind: 'apply'; readonly decision: ObservationDecision }
  /** A workflow must be told before the row counts as settled. */
  | { readonly kind: 'notify'; readonly decision: NotifyingDecision };

/** Decisions of which a workflow must learn. */
export type NotifyingDecision = Exclude<ObservationDecision, 'known'>;

/**
 * Decides what becomes of a row.
 *
 * A row that was judged `advance` or `contradiction` stays so until a workflow was told or the work ended. The first
 * judgement stores the facts, so a second one finds them and would call the row `known`: the workflow would then never
 * be told.
 *
 * @param judged what the row means by the present state of the attempt.
 * @param workEnded true when the work has reached its end: then the row is judged against that end, and nobody is told.
 */
export function decideInboxRow(row: StoredInboxRow, judged: ObservationDecision, workEnded: boolean): InboxAction {
  if (row.state !== 'pending' || !row.isOurs) return { kind: 'leave' };
  if (workEnded) return { kind: 'apply', decision: judged };
  const decision = row.decision === null || row.decision === 'known' ? judged : row.decision;
  return decision === 'known' ? { kind: 'apply', decision } : { kind: 'notify', decision };
}

/** What came of telling a workflow. `finished`: it has ended, and nothing was told. */
export type NotifyOutcome = 'notified' | 'finished';

/**
 * Decides what becomes of a row after its workflow was told.
 *
 * @returns `relayed`: the workflow answers for it. `judge_again`: the work has ended, so the row is judged against the
 *   end at once. `try_again`: nobody was told although the work goes on.
 */
export function afterNotifying(outcome: NotifyOutcome, workEnded: boolean): 'relayed' | 'judge_again' | 'try_again' {
  if (workEnded) return 'judge_again';
  return outcome === 'notified' ? 'relayed' : 'try_again';
}
