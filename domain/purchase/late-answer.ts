/**
 * What an answer of the service, once it is stored with its attempt, means for the work. A send or a question that
 * everybody has given up may still be answered. The report of the service that follows is then known already and wakes
 * nobody.
 */
import type { AttemptState } from '#domain/relay/observation.ts';
import { isFinal, type WorkStatus } from '#domain/work/lifecycle.ts';

/** An answer, and what it was stored over. */
export interface StoredAnswer {
  /** State of the attempt before and after the answer was stored. */
  readonly before: AttemptState;
  readonly after: AttemptState;
  /** Status of the work before. */
  readonly work: WorkStatus;
  /**
   * False when another send has taken the lease since, or an event has ended it: the workflow may have gone on without
   * this answer.
   */
  readonly holdsLease: boolean;
}

/** What follows for the work. */
export interface AnswerEffect {
  /** What the work was held or parked for is over. */
  readonly isInProgress: boolean;
  /** Its workflow is to read its rows again. */
  readonly wakes: boolean;
}

/**
 * Decides what follows from an answer. An answer that tells nothing new ends no wait for a person. The answer of an
 * ordinary send finds the work as `submitting` and its lease in force: it wakes nobody, since the workflow waits for
 * it.
 */
export function afterAnswer({ before, after, work, holdsLease }: StoredAnswer): AnswerEffect {
  if (isFinal(work)) return { isInProgress: false, wakes: false };
  const isNews = before !== after;
  const isWaiting = work === 'held' || work === 'needs_attention';
  return { isInProgress: isNews || !isWaiting, wakes: isNews && (isWaiting || !holdsLease) };
}
