/**
 * By default failures would be plain text in histories; the payload codec encrypts them. Loaded by path, also in the
 * workflow sandbox: import nothing that needs Node.
 */
import { ApplicationFailure, DefaultFailureConverter, type ProtoFailure } from '@temporalio/common';
import { ACTION_REFUSED } from '#workflows/messages.ts';

/**
 * The Temporal UI does not decode the failure of a rejected update: refusals of operator actions stay readable. They
 * are fixed texts without input of the operator.
 */
class FailureConverter extends DefaultFailureConverter {
  override errorToFailure(...args: Parameters<DefaultFailureConverter['errorToFailure']>): ProtoFailure {
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
