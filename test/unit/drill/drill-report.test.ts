import { describe, expect, it } from 'vitest';
import { hasFindings, notRecovered, resultLines } from '#test/drill/report.ts';

const ARCHIVED_MS = 10_000;
const request = (id: string, acceptedAtMs: number) => ({ path: '/v1/orders', body: {}, key: id, id, acceptedAtMs });
const RESULT = {
  backupMs: 0,
  backupBytes: 0,
  accepted: 3,
  lostRows: 2,
  lostMs: 0,
  restoredMs: 0,
  startedMs: 0,
  readyMs: 0,
  settledMs: 0,
  differences: [],
  paidTwice: [],
  notRecovered: [],
};

describe('a drill', () => {
  it('fails when a row is lost whose log was archived, and not for a row that was accepted later', () => {
    const lost = [request('ord_1', 8_500), request('ord_2', 10_000), request('ord_3', 12_000)];
    expect(notRecovered(lost, ARCHIVED_MS)).toEqual(['ord_1 was accepted 1.5 s before the end of the archive']);
    expect(notRecovered(lost, undefined)).toEqual([]);

    const result = { ...RESULT, notRecovered: notRecovered(lost, ARCHIVED_MS) };
    expect([hasFindings(RESULT), hasFindings(result)]).toEqual([false, true]);
    expect(resultLines({ lost: ['PostgreSQL'], archive: true }, result).at(-1)).toBe(
      '  NOT RECOVERED       ord_1 was accepted 1.5 s before the end of the archive',
    );
    for (const found of [{ differences: ['x'] }, { paidTwice: ['x'] }])
      expect(hasFindings({ ...RESULT, ...found })).toBe(true);
  });
});
