import { describe, expect, it } from 'vitest';
import { openCaseLines, reportLines } from '#cli/operator/reconcile.ts';
import type { ReconciliationRow } from '#db/money/reconciliations.ts';

const at = new Date('2030-01-31T12:00:00Z');
const report = (
  counts: Partial<ReconciliationRow['counts']>,
  more: Partial<ReconciliationRow> = {},
): ReconciliationRow => ({
  id: 'rec_01JQ8Z9E5F6G7H8J9K0MNPQRST',
  runId: 'run',
  startedAt: at,
  finishedAt: at,
  status: 'complete',
  detail: 'All of it was read.',
  pendingSince: null,
  readSince: at,
  balance: '97.60',
  balanceCurrency: 'USD',
  expectedBalance: '97.60',
  counts: { read: 2, new: 1, matched: 1, booked: 0, pending: 0, outstanding: 0, unmatched: 0, findings: 0, ...counts },
  sums: [],
  findings: [],
  findingCounts: {},
  ...more,
});
const end = (row: ReconciliationRow) => {
  const lines = reportLines(row);
  return lines.slice(lines.lastIndexOf('') + 1);
};

describe('the report of a reconciliation', () => {
  it('lists findings by kind, and how many more there are', () => {
    const finding = {
      kind: 'debited_twice',
      detail: 'The service debited 2.40 USD once more.',
      movementId: 'st_1',
    } as const;
    const lines = end(report({ findings: 3 }, { findings: [finding], findingCounts: { debited_twice: 3 } }));
    expect(lines).toHaveLength(3);
    expect(lines[0]).toMatch(/^debited_twice \(3\): /);
    expect(lines.slice(1)).toEqual([
      '  The service debited 2.40 USD once more. [service st_1]',
      '… and 2 more, which the report does not list.',
    ]);
  });

  it('counts the open cases of comparisons, which later ones do not report again', () => {
    expect(openCaseLines([{ reason: 'stalled', count: 3 }])).toEqual([]);
    const open = [
      { reason: 'amount_differs', count: 1 },
      { reason: 'stalled', count: 3 },
      { reason: 'debited_twice', count: 2 },
    ] as const;
    expect(openCaseLines(open)).toEqual([
      'Open cases amount_differs: 1. See `npx reseller cases list --reason amount_differs`.',
      'Open cases debited_twice: 2. See `npx reseller cases list --reason debited_twice`.',
    ]);
  });
});
