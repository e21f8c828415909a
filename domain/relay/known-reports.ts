import { ATTEMPT_STATES, judgeObservation, OBSERVED_OUTCOMES } from '#domain/relay/observation.ts';
import type { AttemptState, ObservedOutcome } from '#domain/relay/observation.ts';
import { WORK_STATUSES, type WorkStatus } from '#domain/work/lifecycle.ts';

/** A report about an attempt in a state, of work in a status. */
interface ReportCase {
  readonly status: WorkStatus;
  readonly attemptState: AttemptState;
  readonly outcome: ObservedOutcome;
}

/**
 * The cases in which a report says nothing new, by the tables of `observation.ts`. They hold for each attempt of the
 * work, and for reports of a purchase alone, which say nothing of an end, a cancellation or a refund.
 */
export const KNOWN_REPORTS: readonly ReportCase[] = WORK_STATUSES.flatMap((status) =>
  ATTEMPT_STATES.flatMap((attemptState) =>
    OBSERVED_OUTCOMES.filter(
      (outcome) => judgeObservation({ status, attemptState, latestAttempt: true }, outcome) === 'known',
    ).map((outcome) => ({ status, attemptState, outcome })),
  ),
);
