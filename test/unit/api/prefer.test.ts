import { describe, expect, it } from 'vitest';
import { preferredWait } from '#api/work/long-poll.ts';

describe('the preference to wait', () => {
  it.each([
    ['wait=10', 10],
    ['wait=0', 0],
    ['WAIT=10', 10],
    ['wait="10"', 10],
    ['wait = 10', 10],
    ['respond-async, wait=5', 5],
    ['respond-async,wait=5, handling=lenient', 5],
    ['handling=lenient; strict="a, wait=9"; more, wait=5', 5],
    ['return="a, wait=9", wait=5', 5],
    ['wait=5; why="in a hurry"', 5],
    ['wait=5, wait=9', 5],
  ])('is read from `%s`', (header, expected) => {
    expect(preferredWait(header)).toBe(expected);
  });

  it.each([
    undefined,
    '',
    'respond-async',
    'wait',
    'wait=',
    'wait=soon',
    'wait=-1',
    'wait=1.5',
    'wait=99999999999',
    'waiting=5',
    '===',
    ',,,',
    'wait="10',
    'return="wait=5',
  ])('is ignored in `%s`', (header) => {
    expect(preferredWait(header)).toBeUndefined();
  });

  it.each([
    ['wait; ;;  ; a=b ;"x", wait=5', undefined],
    [`wait${'; '.repeat(400)}"`, undefined],
    [`wait${' ;'.repeat(400)}"`, undefined],
    [`wait=5;${' '.repeat(900)}"`, undefined],
    [`wait${' '.repeat(900)}"`, undefined],
    [`wait=5${'; a="b" '.repeat(100)}`, 5],
    [`wait=5; a="${'\\\\'.repeat(400)}`, undefined],
    [`${'a,'.repeat(400)}wait=5`, undefined],
    [`a${'; '.repeat(4_000)}"`, undefined],
  ])('is parsed fast in a hostile header: %j', (header, expected) => {
    // A parser with exponential time would exceed the time limit of the test.
    expect(preferredWait(header)).toBe(expected);
  });
});
