import { dialectNames } from '#simulator/behaviour/dialect.ts';
import { succeeded, type WorkResult } from '#test/crash/audit/audit.ts';
import type { SeedReport } from '#test/crash/run/run-plan.ts';
import type { SeedRecord } from '#test/crash/seeds-done.ts';

/** Minimum share of the work that can succeed at a service. */
const LEAST_SUCCESS = 0.8;
/** The share is not checked for fewer pieces of work. */
const LEAST_WORK = 10;
/** So many seeds cover each pair of dialect and capability. From then on, each planned fault must have occurred. */
const WHOLE_SUITE = 464;

export function seedLines(report: SeedReport): string[] {
  const { plan, results, fired, unfired, violations, logs, durationMs, setBacks, longestHistory } = report;
  const { dialect, shape, off } = plan.setting;
  const counts = countsOf(results);
  return [
    [
      `seed ${plan.seed} ${dialect}, ${shape}, off: ${off}: ${counts.work} pieces of work,`,
      `${counts.succeeded} succeeded (${counts.required} had to), ${counts.needAttention} need attention,`,
      `${counts.failed} failed; ${fired.length} faults in ${(durationMs / 1_000).toFixed(1)} s`,
    ].join(' '),
    `  fired: ${fired.join(', ') || 'none'}`,
    `  ${plan.processes.worker} workers and ${plan.processes.api} APIs; the longest history has ${longestHistory} events`,
    ...setBacks.map(({ transactions, bytes }) => `  PostgreSQL lost ${transactions} transactions (${bytes} bytes)`),
    ...results
      .filter((each) => each.obstacle === undefined && !succeeded(each))
      .map(
        ({ kind, nature, id, status, parkedFor }) =>
          `  could have succeeded: ${kind} ${id} (${nature}) is ${status}${parkedFor === null ? '' : `, ${parkedFor}`}`,
      ),
    ...(unfired.length > 0 ? [`  did not fire: ${unfired.join(', ')}`] : []),
    ...violations.map((each) => `  VIOLATION ${each}`),
    ...(logs === undefined ? [] : [`  logs: ${logs}`]),
  ];
}

export function suiteViolations(records: readonly SeedRecord[]): string[] {
  const shares = dialectNames.flatMap((dialect) => {
    const { required, requiredSucceeded } = countsOf(
      records.filter((record) => record.dialect === dialect).flatMap(({ results }) => results),
    );
    if (required < LEAST_WORK || requiredSucceeded >= LEAST_SUCCESS * required) return [];
    return [
      `dialect ${dialect}: ${requiredSucceeded} of ${required} pieces of work succeeded that could, ` +
        `at least ${100 * LEAST_SUCCESS} % must`,
    ];
  });
  if (records.length < WHOLE_SUITE) return shares;
  const fired = new Set(records.flatMap((record) => record.fired));
  const never = [...new Set(records.flatMap(({ planned }) => planned))].filter((name) => !fired.has(name));
  return [...shares, ...never.map((name) => `never fired in ${records.length} seeds: ${name}`)];
}

export function lastLine(records: readonly SeedRecord[]): { readonly text: string; readonly violations: number } {
  const violations = records.flatMap((record) => record.violations).length + suiteViolations(records).length;
  const faults = records.reduce((sum, { fired }) => sum + fired.length, 0);
  const work = records.reduce((sum, { results }) => sum + results.length, 0);
  const done = `${records.length} seeds run, ${faults} faults fired, ${work} pieces of work done`;
  return { text: `${done}, ${violations} violations`, violations };
}

function countsOf(results: readonly WorkResult[]) {
  const required = results.filter(({ obstacle }) => obstacle === undefined);
  return {
    work: results.length,
    succeeded: results.filter(succeeded).length,
    required: required.length,
    requiredSucceeded: required.filter(succeeded).length,
    needAttention: results.filter(({ status }) => status === 'needs_attention').length,
    failed: results.filter(({ status }) => status === 'failed').length,
  };
}
