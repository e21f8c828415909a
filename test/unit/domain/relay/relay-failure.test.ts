import pg from 'pg';
import { describe, expect, it } from 'vitest';
import { isBadData } from '#db/connection/database.ts';
import { afterFailure } from '#domain/relay/relay-decision.ts';

const policy = { retryDelayMs: 1_000, retryDelayMaxMs: 60_000, lastingTries: 3 };

describe('a failure of the relay', () => {
  it.each([
    ['22P02', true],
    ['23505', true],
    // Lock timeout, cancelled, deadlock, shutdown, connection, disk full, and a table before its migration.
    ...['55P03', '57014', '40P01', '57P01', '08006', '53100', '42P01'].map((state): [string, boolean] => [
      state,
      false,
    ]),
  ])('of PostgreSQL with the state %s is lasting: %s', (code, lasts) => {
    expect(isBadData(Object.assign(new pg.DatabaseError('refused', 0, 'error'), { code }))).toBe(lasts);
  });

  it('of a temporary kind never quarantines, after any number of tries', () => {
    for (let tries = 1; tries < 1_000; tries += 1)
      expect(afterFailure(false, { tries, lastingErrors: 2 }, policy)).not.toBe('quarantine');
  });

  it('of a lasting kind quarantines at the limit of such errors, despite other results in between', () => {
    const after = (lastingErrors: number) => afterFailure(true, { tries: 50, lastingErrors }, policy);
    expect([after(0), after(1), after(2)]).toEqual([60_000, 60_000, 'quarantine']);
  });

  it('delays the next try longer each time, up to a limit', () => {
    const waits = [1, 2, 3, 10].map((tries) => afterFailure(false, { tries, lastingErrors: 0 }, policy));
    expect(waits).toEqual([1_000, 2_000, 4_000, 60_000]);
  });
});
