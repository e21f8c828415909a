import { expect, it } from 'vitest';
import {
  failsEveryCall,
  failureClasses,
  isAboutAccount,
  isFailureClass,
  type FailureClass,
} from '#domain/work/failure.ts';

it.each<[string, (failure: FailureClass) => boolean, FailureClass[]]>([
  [
    'a batch of calls stops for failures of the connection, of our access and of the rate limit',
    failsEveryCall,
    ['connection_lost', 'not_approved', 'not_sent', 'rate_limited', 'timeout', 'unauthorized'],
  ],
  [
    'a key that may see only its own work does not see details of the whole account',
    isAboutAccount,
    ['insufficient_balance', 'not_approved', 'purchases_paused', 'service_down', 'spend_limit_reached', 'unauthorized'],
  ],
])('%s', (_name, applies, expected) => {
  expect(failureClasses.filter(applies).toSorted()).toEqual(expected);
});

it('a name is a failure class only if the catalogue has it', () => {
  expect([...failureClasses, 'toString', ''].filter(isFailureClass)).toEqual(failureClasses);
});
