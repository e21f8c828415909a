import { describe, expect, it } from 'vitest';
import { summaryLines, tourJson } from '#cli/sandbox-tour/print.ts';

describe('the summary of a tour', () => {
  it.each([
    ['100000.00', '99983.60', '16.40'],
    ['100.00', '90.00', '10.00'],
    ['100.0000', '99.9975', '0.0025'],
  ])('of %s before and %s after contains the amount spent: %s', (before, after, spent) => {
    const report = { findings: [], before: money(before), after: money(after), measuredAt: 0, profile: undefined };
    expect(summaryLines(report).join('\n')).toContain(`${before} USD before, ${after} USD after, ${spent} USD spent.`);
    expect(tourJson(report, 'https://service.example/api/reseller/v1', undefined)).toMatchObject({
      fictional_balance: { spent },
    });
  });
});

function money(amount: string) {
  return { amount, currency: 'USD' };
}
