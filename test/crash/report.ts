/** Reports of seeds and suites: lines for a terminal, and the summary as a file. */
import { dialectNames } from '#simulator/behaviour/dialect.ts';
import { succeeded, type WorkResult } from '#test/crash/audit/audit.ts';
import { POINTS } from '#test/crash/plans/points.ts';
import type { SeedReport } from '#test/crash/run/run-plan.ts';
import type { SeedRecord } from '#test/crash/seeds-done.ts';

export interface Suite {
  readonly command: string;
  readonly records: readonly SeedRecord[];
  /** Former records of seeds that were run again. */
  readonly before: readonly SeedRecord[];
}

/** Minimum share of the work that can succeed at a service. */
const LEAST_SUCCESS = 0.8;
/** The share is not checked for fewer pieces of work. */
const LEAST_WORK = 10;
/**
 * From this number of seeds on, each planned fault must have occurred: so many cover each pair of dialect and
 * capability.
 */
const WHOLE_SUITE = 464;

export function seedLines({
  plan,
  results,
  fired,
  unfired,
  violations,
  logs,
  durationMs,
  setBacks,
  memoryBytes,
  longestHistory,
}: SeedReport): string[] {
  const { dialect, shape, off } = plan.setting;
  const counts = countsOf(results);
  return [
    [
      `seed ${plan.seed} ${dialect}, ${shape}, off: ${off}: ${counts.work} pieces of work,`,
      `${counts.succeeded} succeeded (${counts.required} had to), ${counts.needAttention} need attention,`,
      `${counts.failed} failed; ${fired.length} faults in ${(durationMs / 1_000).toFixed(1)} s`,
    ].join(' '),
    `  fired: ${fired.join(', ') || 'none'}`,
    `  ${plan.processes.worker} workers and ${plan.processes.api} APIs in ${megabytes(memoryBytes)}; ` +
      `the longest history has ${longestHistory} events`,
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

/** Violations that only a whole suite shows. */
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
  const never =
    records.length >= WHOLE_SUITE
      ? neverFired(records).map((name) => `never fired in ${records.length} seeds: ${name}`)
      : [];
  return [...shares, ...never];
}

export function lastLine(records: readonly SeedRecord[]): { readonly text: string; readonly violations: number } {
  const violations = records.flatMap((record) => record.violations).length + suiteViolations(records).length;
  const faults = records.reduce((sum, { fired }) => sum + fired.length, 0);
  const work = records.reduce((sum, { results }) => sum + results.length, 0);
  const text = `${records.length} seeds run, ${faults} faults fired, ${work} pieces of work done`;
  return { text: `${text}, ${violations} violations`, violations };
}

/** Names of faults that were planned and occurred in no seed. */
function neverFired(records: readonly SeedRecord[]): string[] {
  const fired = new Set(records.flatMap((record) => record.fired));
  return [...new Set(records.flatMap(({ planned }) => planned))].filter((name) => !fired.has(name));
}

function megabytes(bytes: number): string {
  return `${Math.round(bytes / 1_000_000)} MB`;
}

interface Counts {
  readonly work: number;
  readonly succeeded: number;
  readonly required: number;
  readonly requiredSucceeded: number;
  readonly needAttention: number;
  readonly failed: number;
}

function countsOf(results: readonly WorkResult[]): Counts {
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

/** The summary of all records, in Markdown. */
export function summaryDocument({ records, before, command }: Suite): string {
  const seeds = records.map(({ seed }) => seed);
  const by = (name: (record: SeedRecord) => string) =>
    [...Map.groupBy(records, name)].toSorted(([left], [right]) => left.localeCompare(right));
  const violations = [...records.flatMap(violationsOf), ...suiteViolations(records)];
  return `${[
    '# Crash proof: the last long run',
    '',
    'Written by the run itself. What it proves, and how to read it: [crash-proof.md](../../docs/crash-proof.md).',
    '',
    `**${lastLine(records).text}**, seeds ${Math.min(...seeds)} to ${Math.max(...seeds)}.`,
    '',
    '```console',
    `$ ${command}`,
    '```',
    '',
    ...runSection(records),
    ...section(
      'Dialects',
      'dialect',
      by(({ dialect }) => dialect),
    ),
    ...section(
      'Shapes',
      'shape',
      by(({ shape }) => shape),
    ),
    ...section(
      'Capabilities that were off',
      'off',
      by(({ off }) => off),
    ),
    ...reasonsSection(records),
    ...faultsSection(records),
    '## Violations',
    '',
    ...(violations.length === 0 ? ['None.'] : violations.map((each) => `- ${each}`)),
    ...beforeSection(before),
  ].join('\n')}\n`;
}

function violationsOf({ seed, commit, violations }: SeedRecord): string[] {
  return violations.map((each) => `seed ${seed} (${commit}): ${each}`);
}

/** Days, commits, durations and sizes. */
function runSection(records: readonly SeedRecord[]): string[] {
  const days = [...new Set(records.map(({ endedAt }) => endedAt.slice(0, 10)))].toSorted();
  const commits = tally(records.map(({ commit }) => commit)).map(([commit, count]) => `${commit} (${count} seeds)`);
  const seconds = records.map(({ durationMs }) => durationMs / 1_000).toSorted((left, right) => left - right);
  const at = (share: number) =>
    (seconds[Math.min(seconds.length - 1, Math.floor(share * seconds.length))] ?? 0).toFixed(0);
  const lost = records.flatMap(({ setBacks }) => setBacks.map(({ transactions }) => transactions));
  const most = (numbers: readonly number[]) => numbers.reduce((left, right) => Math.max(left, right), 0);
  const memory = most(records.map(({ memoryBytes }) => memoryBytes));
  const served = [0, 1].map((index) => sum(records.map((record) => record.served[index] ?? 0)));
  return [
    '| of the run | |',
    '|---|---|',
    `| days | ${days.join(', ')} |`,
    `| plans | ${[...new Set(records.map(({ plans }) => plans))].join(', ')} |`,
    `| commits of the product | ${commits.join(', ')} |`,
    `| a seed takes | ${at(0.5)} s (median), ${at(0.95)} s (95 %), ${at(1)} s at most |`,
    `| memory of the workers and APIs of a seed | ${megabytes(memory)} at most |`,
    `| the longest history | ${most(records.map(({ longestHistory }) => longestHistory))} events |`,
    `| PostgreSQL was set back | ${lost.length} times, by ${sum(lost)} transactions, ${most(lost)} at most |`,
    `| requests answered by the APIs | ${served.join(' and ')} |`,
    '',
  ];
}

/** Former violations stay in the document after their seeds have passed. */
function beforeSection(before: readonly SeedRecord[]): string[] {
  const found = before.flatMap(violationsOf);
  return found.length === 0
    ? []
    : ['', '## Violations of seeds that were run again since', '', ...found.map((each) => `- ${each}`)];
}

function section(title: string, what: string, groups: readonly (readonly [string, readonly SeedRecord[]])[]): string[] {
  const rows = groups.map(([name, own]) => {
    const counts = countsOf(own.flatMap(({ results }) => results));
    const faults = own.reduce((sum, { fired }) => sum + fired.length, 0);
    const violations = own.reduce((sum, each) => sum + each.violations.length, 0);
    const must = `${counts.requiredSucceeded} of ${counts.required}`;
    return `| ${[
      `\`${name}\``,
      own.length,
      faults,
      counts.work,
      counts.succeeded,
      must,
      counts.needAttention,
      counts.failed,
      violations,
    ].join(' | ')} |`;
  });
  return [
    `## ${title}`,
    '',
    `| ${[what, ...COLUMNS].join(' | ')} |`,
    '|---|---|---|---|---|---|---|---|---|',
    ...rows,
    '',
  ];
}

/** Columns of the tables by dialect, shape and capability. */
const COLUMNS = [
  'seeds',
  'faults fired',
  'pieces of work',
  'succeeded',
  'of those that had to',
  'need attention',
  'failed',
  'violations',
];

/** Reasons of cases, and why success was not required. */
function reasonsSection(records: readonly SeedRecord[]): string[] {
  const needAttention = records.flatMap(({ results }) => results).filter(({ status }) => status === 'needs_attention');
  const rows = tally(
    needAttention.map(
      ({ parkedFor, obstacle }) => `\`${parkedFor ?? 'no reason'}\` | ${obstacle ?? 'nothing: it had to succeed'}`,
    ),
  );
  return [
    '## Work that needs attention',
    '',
    '| reason | why success was not required | pieces of work |',
    '|---|---|---|',
    ...rows.map(([name, count]) => `| ${name} | ${count} |`),
    '',
  ];
}

function faultsSection(records: readonly SeedRecord[]): string[] {
  const planned = new Map(tally(records.flatMap((record) => record.planned)));
  const fired = new Map(tally(records.flatMap((record) => record.fired)));
  const known = new Set<string>(
    Object.entries(POINTS).flatMap(([process, points]) => points.map((point) => `kill ${process} at ${point}`)),
  );
  const names = [...new Set([...planned.keys(), ...fired.keys()])].toSorted((left, right) => left.localeCompare(right));
  const unplanned = [...known].filter((name) => !planned.has(name));
  return [
    '## Faults',
    '',
    '| fault | planned | fired |',
    '|---|---|---|',
    ...names.map((name) => `| ${name} | ${planned.get(name) ?? 0} | ${fired.get(name) ?? 0} |`),
    '',
    ...(unplanned.length === 0 ? [] : [`Not planned in these seeds: ${unplanned.join(', ')}.`, '']),
    ...besideCatalogue(records),
  ];
}

/** Points that processes passed and that the catalogue does not contain. No process is killed there. */
function besideCatalogue(records: readonly SeedRecord[]): string[] {
  const passed = new Set(records.flatMap(({ beside }) => beside));
  if (passed.size === 0) return [];
  const rows = [...passed].toSorted((left, right) => left.localeCompare(right)).map((point) => `- ${point}`);
  return ['Points that were passed and are not in the catalogue. No process is killed there:', '', ...rows, ''];
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((left, right) => left + right, 0);
}

function tally(names: readonly string[]): [string, number][] {
  return [...Map.groupBy(names, (name) => name)]
    .map(([name, all]) => [name, all.length] as [string, number])
    .toSorted(([left], [right]) => left.localeCompare(right));
}
