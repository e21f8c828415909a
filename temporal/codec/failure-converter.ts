/**
 * Puts messages and stack traces of failures into a payload, which the payload codec then encrypts; by default they
 * would stand in histories as plain text. Loaded by path (see `data-converter.ts`), also inside the workflow sandbox:
 * so it may import nothing that needs Node.
 */
import { ApplicationFailure, DefaultFailureConverter, type ProtoFailure } from '@temporalio/common';
import { ACTION_REFUSED } from '#workflows/messages.ts';

type Arguments = Parameters<DefaultFailureConverter['errorToFailure']>;

/**
 * Refusals of operators' actions stay readable: the Temporal UI decodes payloads, but not the failure of a rejected
 * update. Their messages come from fixed texts and hold nothing that was typed; stack trace, cause and details are left
 * out.
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
