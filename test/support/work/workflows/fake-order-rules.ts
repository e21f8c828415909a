import {
  judgeAbandon,
  judgeRelease,
  judgeRetry,
  judgeRetryChange,
  type OperatedWork,
  type OperatorAction,
} from '#domain/operator/operator-actions.ts';
import type { AttemptSnapshot } from '#domain/purchase/results.ts';
import { changedOverrides, type RetryOverrides } from '#domain/retry/retry-rules.ts';

/** Judges an action by the rules of the product. */
export function judgeAction(work: OperatedWork, action: OperatorAction, overrides: RetryOverrides, acceptedAt: number) {
  switch (action.action) {
    case 'retry':
      return judgeRetry(work, false);
    case 'release':
      return judgeRelease(work, false);
    case 'abandon':
      return judgeAbandon(work);
    case 'change_retry':
      return judgeRetryChange(work, overrides, changedOverrides(overrides, action.change), acceptedAt);
    case 'change_limit':
    case 'resolve':
      return 'allowed';
  }
}

export function newAttempt(number: number): AttemptSnapshot {
  return {
    id: `att_${number}`,
    number,
    state: 'prepared',
    settled: false,
    named: false,
    history: { firstSentAt: undefined, sends: 0, anyUnknown: false },
  };
}
