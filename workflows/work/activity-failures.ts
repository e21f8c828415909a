import { ActivityFailure, ApplicationFailure, isCancellation } from '@temporalio/workflow';
import { SEND_NOT_BEGUN, WORK_FINISHED, WORK_MISSING } from '#workflows/messages.ts';

/**
 * Returns when an activity was given up: its worker died, or its time is over.
 *
 * @throws every other error: a cancellation, the end of the work, work without a row, a bug.
 */
export function requireGivenUp(error: unknown): void {
  if (isCancellation(error) || !(error instanceof ActivityFailure)) throw error;
  if (finishedFailure(error) !== undefined || isMissing(error)) throw error;
}

/** The failure by which an activity reports that the work has ended. Local activities do not wrap it. */
export function finishedFailure(error: unknown): ApplicationFailure | undefined {
  return failureOfType(error, WORK_FINISHED);
}

/** True when an activity reports that the work has no row. */
export function isMissing(error: unknown): boolean {
  return failureOfType(error, WORK_MISSING) !== undefined;
}

/** True when a sending activity reports that its request has not left. */
export function isNotBegun(error: unknown): boolean {
  return failureOfType(error, SEND_NOT_BEGUN) !== undefined;
}

function failureOfType(error: unknown, type: string): ApplicationFailure | undefined {
  const failure = error instanceof ActivityFailure ? error.cause : error;
  return failure instanceof ApplicationFailure && failure.type === type ? failure : undefined;
}
