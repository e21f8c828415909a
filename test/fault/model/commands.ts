/** The commands of callers, operators and the service. Each ends with `World.check`. */
import fc from 'fast-check';
import {
  cancelEsim,
  order,
  orderInTrouble,
  orderTwice,
  outcomeUnknown,
  subscribe,
  topUp,
} from '#test/fault/model/callers.ts';
import type { Command } from '#test/fault/model/command.ts';
import {
  abandon,
  cancelVpn,
  changeLimit,
  changeRetryPolicy,
  pauseBuying,
  release,
  resolve,
  resumeBuying,
  retry,
} from '#test/fault/model/operators.ts';
import {
  cancellationOutcome,
  contradiction,
  repeatedWebhook,
  purchaseOutcome,
  purchaseTrouble,
  readsFail,
  timePasses,
  webhookTrouble,
  noFaults,
} from '#test/fault/model/service.ts';

/**
 * Sequences of exactly `count` commands. `fc.commands` would start with short sequences, which find less. A weight is
 * the relative frequency of a command.
 */
export function allCommands(count: number): fc.Arbitrary<Command[]> {
  const command = fc.oneof(
    { weight: 4, arbitrary: order },
    { weight: 3, arbitrary: orderInTrouble },
    { weight: 2, arbitrary: outcomeUnknown },
    { weight: 1, arbitrary: orderTwice },
    { weight: 3, arbitrary: topUp },
    { weight: 2, arbitrary: subscribe },
    { weight: 3, arbitrary: cancelEsim },
    { weight: 1, arbitrary: cancelVpn },
    { weight: 2, arbitrary: retry },
    { weight: 2, arbitrary: release },
    { weight: 1, arbitrary: pauseBuying },
    { weight: 3, arbitrary: resumeBuying },
    { weight: 1, arbitrary: abandon },
    { weight: 1, arbitrary: changeLimit },
    { weight: 1, arbitrary: changeRetryPolicy },
    { weight: 6, arbitrary: resolve },
    { weight: 2, arbitrary: purchaseTrouble },
    { weight: 2, arbitrary: webhookTrouble },
    { weight: 2, arbitrary: purchaseOutcome },
    { weight: 1, arbitrary: cancellationOutcome },
    { weight: 1, arbitrary: readsFail },
    { weight: 4, arbitrary: noFaults },
    { weight: 2, arbitrary: repeatedWebhook },
    { weight: 1, arbitrary: contradiction },
    { weight: 6, arbitrary: timePasses },
  );
  return fc.array(command, { minLength: count, maxLength: count, size: 'max' });
}
