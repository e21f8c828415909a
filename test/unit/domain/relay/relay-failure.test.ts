import { describe, expect, it } from 'vitest';
import { afterFailure, isLasting, type RelayFailure } from '#domain/relay/relay-decision.ts';

const policy = { retryDelayMs: 1_000, retryDelayMaxMs: 60_000, lastingTries: 3 };

describe('a failure of the relay', () => {
  it.each<[RelayFailure, boolean]>([
    [{ kind: 'unreadable' }, true],
    [{ kind: 'work_missing' }, true],
    [{ kind: 'sql', state: '22P02' }, true],
    [{ kind: 'sql', state: '23505' }, true],
    // Lock timeout, cancelled, deadlock, shutdown, connection, disk full, and a table before its migration.
    ...['55P03', '57014', '40P01', '57P01', '08006', '53100', '42P01'].map((state): [RelayFailure, boolean] => [
      { kind: 'sql', state },
      false,
    ]),
    [{ kind: 'other' }, false],
  ])('of the form %j is lasting: %s', (failure, lasts) => {
    expect(isLasting(failure)).toBe(lasts);
  });

  it('of a temporary kind never quarantines, after any number of tries', () => {
    for (let tries = 1; tries < 1_000; tries += 1) {
      expect(afterFailure({ kind: 'other' }, { tries, lastingErrors: 2 }, policy)).toMatchObject({
        kind: 'postpone',
        isLasting: false,
      });
    }
  });

  it('of a lasting kind quarantines at the limit of such errors, despite other results in between', () => {
    const after = (lastingErrors: number) => afterFailure({ kind: 'unreadable' }, { tries: 50, lastingErrors }, policy);
    expect(after(0)).toEqual({ kind: 'postpone', delayMs: 60_000, isLasting: true });
    expect(after(1)).toMatchObject({ kind: 'postpone' });
    expect(after(2)).toEqual({ kind: 'quarantine' });
  });

  it('delays the next try longer each time, up to a limit', () => {
    const waits = [1, 2, 3, 10].map((tries) => afterFailure({ kind: 'other' }, { tries, lastingErrors: 0 }, policy));
    expect(waits.map((each) => each.kind === 'postpone' && each.delayMs)).toEqual([1_000, 2_000, 4_000, 60_000]);
  });
});
