/**
 * Puts messages and stack traces of failures into a payload, which the payload codec encrypts. By default they would be
 * plain text in histories. Loaded by path (see `data-converter.ts`), also in the workflow sandbox: import nothing that
 * needs Node.
 */
import { ApplicationFailure, DefaultFailureConverter, type ProtoFailure } from '@temporalio/common';
import { ACTION_REFUSED } from '#workflows/messages.ts';

type Arguments = Parameters<DefaultFailureConverter['errorToFailure']>;

/**
 * Keeps refusals of operator actions readable: the Temporal UI does not decode the failure of a rejected update. Their
 * messages are fixed texts without input of the operator. Stack trace, cause and details are omitted.
 */
class FailureConverter extends DefaultFailureConverter {
  override errorToFailure(...args: Arguments): ProtoFailure {
    const [error] = args;
    if (!(error instanceof ApplicationFailure) || error.type !== ACTION_REFUSED) return super.errorToFailure(...args);
    return {
      message: error.message,
      source: 'TypeScriptSDK',
      applicationFailureInfo: { type: ACTION_REFUSED, nonRetryable: true },
    };
  }
}

export const failureConverter = new FailureConverter({ encodeCommonAttributes: true });
