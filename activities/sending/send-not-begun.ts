import { ApplicationFailure } from '@temporalio/common';
import { RowMissingError, WorkFinishedError } from '#db/work/work-rows.ts';
import { SEND_NOT_BEGUN } from '#workflows/messages.ts';

/**
 * Runs a sending activity. If it fails before its request could leave, its failure has the type `SEND_NOT_BEGUN`. The
 * workflow may then trust a row by which nothing was sent, even after PostgreSQL has lost commits.
 *
 * @param send calls its argument right before the request may leave.
 * @throws ApplicationFailure of the type `SEND_NOT_BEGUN`, or what `send` throws after that call.
 */
export async function failAsNotBegun<Result>(send: (begin: () => void) => Promise<Result>): Promise<Result> {
  let hasBegun = false;
  try {
    return await send(() => void (hasBegun = true));
  } catch (error) {
    if (hasBegun || error instanceof WorkFinishedError || error instanceof RowMissingError) throw error;
    const cause = error instanceof Error ? error : new Error('not an error');
    throw ApplicationFailure.create({
      type: SEND_NOT_BEGUN,
      message: `Nothing was sent: ${cause.name}`,
      nonRetryable: true,
      cause,
    });
  }
}
