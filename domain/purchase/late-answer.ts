/**
 * Effect on the work of an answer of the service that was stored with its attempt. A send or look-up that timed out may
 * still be answered. A later report then brings nothing new and wakes no workflow.
 */
import type { AttemptState } from '#domain/relay/observation.ts';
import { isFinal, type WorkStatus } from '#domain/work/lifecycle.ts';

/** A stored answer, and the state before it was stored. */
export interface StoredAnswer {
  /** State of the attempt before and after the answer was stored. */
  readonly before: AttemptState;
  readonly after: AttemptState;
  /** Status of the work before. */
  readonly work: WorkStatus;
  /**
   * False when another send has taken the lease since, or an event has ended it: the workflow may have continued
   * without this answer.
   */
  readonly holdsLease: boolean;
}

/** Effect on the work. */
export interface AnswerEffect {
  /** True when the hold or the case of the work is over. */
  readonly isInProgress: boolean;
  /** True when the workflow must read its rows again. */
  readonly wakes: boolean;
}

/**
 * Decides the effect of an answer. An answer without new information does not end a wait for a person. The answer of an
 * ordinary send finds the work `submitting` and its lease in force; it wakes no workflow, because the workflow waits
 * for it.
 */
export function afterAnswer({ before, after, work, holdsLease }: StoredAnswer): AnswerEffect {
  if (isFinal(work)) return { isInProgress: false, wakes: false };
  const isNews = before !== after;
  const isWaiting = work === 'held' || work === 'needs_attention';
  return { isInProgress: isNews || !isWaiting, wakes: isNews && (isWaiting || !holdsLease) };
}
