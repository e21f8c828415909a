import { expect, it } from 'vitest';
import { FAILURE_CLASSES, failsEveryCall, type FailureClass } from '#domain/work/failure.ts';

it('a batch of calls stops for failures of the connection, of our access and of the rate limit', () => {
  const classes = Object.keys(FAILURE_CLASSES) as FailureClass[];
  expect(classes.filter((failure) => failsEveryCall(failure)).toSorted()).toEqual([
    'connection_lost',
    'not_approved',
    'not_sent',
    'rate_limited',
    'timeout',
    'unauthorized',
  ]);
});
