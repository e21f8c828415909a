import { describe, expect, it } from 'vitest';
import { runningSince } from '#test/crash/run/running-time.ts';

describe('the time since which a process has run for so long', () => {
  it.each([
    ['never frozen', [], 7_000],
    ['frozen before', [{ fromMs: 1_000, toMs: 6_900 }], 7_000],
    ['frozen in between', [{ fromMs: 8_000, toMs: 9_000 }], 6_000],
    ['frozen from before until just now', [{ fromMs: 1_138, toMs: 9_971 }], -1_833],
    ['still frozen', [{ fromMs: 9_000, toMs: 99_000 }], 6_000],
    ['frozen later', [{ fromMs: 11_000, toMs: 12_000 }], 7_000],
    [
      'frozen twice, the earlier time counts because of the later one',
      [
        { fromMs: 6_000, toMs: 6_500 },
        { fromMs: 8_000, toMs: 9_000 },
      ],
      5_500,
    ],
  ] as const)('%s', (_, frozen, since) => {
    expect(runningSince(10_000, 3_000, frozen)).toBe(since);
  });
});
