/** What is said of seeds and suites: lines for a terminal, and the summary that is kept under docs/. */
import { dialectNames } from '#simulator/dialect.ts';
import { succeeded } from '#test/crash/audit.ts';
import { POINTS } from '#test/crash/points.ts';
import { plannedFaults, type SeedReport } from '#test/crash/run-plan.ts';

export interface Suite {
  readonly began: Date;
  readonly ended: Date;
  readonly command: string;
  readonly reports: readonly SeedReport[];
}

/** Of what a service lets succeed, at least this much must. */
const LEAST_SUCCESS = 0.8;
/** Fewer pieces of work say nothing about a share. */
const LEAST_WORK = 10;
/** In a suite this long each point has had its turn often enough to have fired. */
const WHOLE_SUITE = 200;

export function seedLines({ plan, results, fired, unfired, violations, logs, durationMs }: SeedReport): string[] {
  const { dialect, shape, off } = plan.setting;
  const counts = countsOf(results);
  return [
    `seed ${plan.seed} ${dialect}, ${shape}, off: ${off}: ${counts.work} pieces of work, ${counts.succeeded} succeeded (${counts.required} had to), ` +
      `${counts.parked} parked, ${counts.failed} failed; ${fired.length} faults in ${(durationMs / 1_000).toFixed(1)} s`,
    `  fired: ${fired.join(', ') || 'none'}`,
    ...results
      .filter((each) => each.obstacle === undefined && !succeeded(each))
      .map(({ kind, nature, id, status, parkedFor }) => `  could have succeeded: ${kind} ${id} (${nature}) is ${status}${parkedFor === null ? '' : `, ${parkedFor}`}`),
    ...(unfired.length > 0 ? [`  did not fire: ${unfired.join(', ')}`] : []),
    ...violations.map((each) => `  VIOLATION ${each}`),
    ...(logs === undefined ? [] : [`  logs: ${logs}`]),
  ];
}

/** Violations that only a whole suite shows. */
export function suiteViolations(reports: readonly SeedReport[]): string[] {
  const shares = dialectNames.flatMap((dialect) => {
    const { required, requiredSucceeded } = countsOf(reports.filter(({ plan }) => plan.setting.dialect === dialect).flatMap(({ results }) => results));
    if (required < LEAST_WORK || requiredSucceeded >= LEAST_SUCCESS * required) return [];
    return [`dialect ${dialect}: ${requiredSucceeded} of ${required} pieces of work succeeded that could, at least ${100 * LEAST_SUCCESS} % must`];
  });
  const never = reports.length >= WHOLE_SUITE ? neverFired(reports).map((name) => `never fired in ${reports.length} seeds: ${name}`) : [];
  return [...shares, ...never];
}

export function lastLine(reports: readonly SeedReport[]): { readonly text: string; readonly violations: number } {
  const violations = reports.flatMap((report) => report.violations).length + suiteViolations(reports).length;
  const faults = reports.reduce((sum, { fired }) => sum + fired.length, 0);
  const work = reports.reduce((sum, { results }) => sum + results.length, 0);
  return { text: `${reports.length} seeds run, ${faults} faults fired, ${work} pieces of work done, ${violations} violations`, violations };
}

/** Points and faults of the catalogue that were planned, and came about in no seed. */
function neverFired(reports: readonly SeedReport[]): string[] {
  const fired = new Set(reports.flatMap((report) => report.fired));
  return [...new Set(reports.flatMap(({ plan }) => plannedFaults(plan)))].filter((name) => !fired.has(name));
}

interface Counts {
  readonly work: number;
  readonly succeeded: number;
  readonly required: number;
  readonly requiredSucceeded: number;
  readonly parked: number;
  readonly failed: number;
}

function countsOf(results: SeedReport['results']): Counts {
  const required = results.filter(({ obstacle }) => obstacle === undefined);
  return {
    work: results.length,
    succeeded: results.filter(succeeded).length,
    required: required.length,
    requiredSucceeded: required.filter(succeeded).length,
    parked: results.filter(({ status }) => status === 'needs_attention').length,
    failed: results.filter(({ status }) => status === 'failed').length,
  };
}

/** The kept summary, in Markdown. */
export function summaryDocument(suite: Suite): string {
  const { reports, began, ended, command } = suite;
  const minutes = Math.round((ended.getTime() - began.getTime()) / 60_000);
  const seeds = reports.map(({ plan }) => plan.seed);
  const by = (name: (report: SeedReport) => string) => [...Map.groupBy(reports, name)].toSorted(([left], [right]) => left.localeCompare(right));
  const violations = [...reports.flatMap(({ plan, violations: own }) => own.map((each) => `seed ${plan.seed}: ${each}`)), ...suiteViolations(reports)];
  return `${[
    '# Crash proof: the last long run',
    '',
    'Written by the run itself. What it proves, and how to read it: [crash-proof.md](../crash-proof.md).',
    '',
    `**${lastLine(reports).text}**, seeds ${Math.min(...seeds)} to ${Math.max(...seeds)}, ${began.toISOString().slice(0, 10)}, ${minutes} minutes.`,
    '',
    '```console',
    `$ ${command}`,
    '```',
    '',
    ...section('Dialects', 'dialect', by(({ plan }) => plan.setting.dialect)),
    ...section('Shapes', 'shape', by(({ plan }) => plan.setting.shape)),
    ...section('Capabilities that were off', 'off', by(({ plan }) => plan.setting.off)),
    ...reasonsSection(reports),
    ...faultsSection(reports),
    '## Violations',
    '',
    ...(violations.length === 0 ? ['None.'] : violations.map((each) => `- ${each}`)),
  ].join('\n')}\n`;
}

function section(title: string, what: string, groups: readonly (readonly [string, readonly SeedReport[]])[]): string[] {
  const rows = groups.map(([name, own]) => {
    const counts = countsOf(own.flatMap(({ results }) => results));
    const faults = own.reduce((sum, { fired }) => sum + fired.length, 0);
    const violations = own.reduce((sum, each) => sum + each.violations.length, 0);
    const must = `${counts.requiredSucceeded} of ${counts.required}`;
    return `| \`${name}\` | ${own.length} | ${faults} | ${counts.work} | ${counts.succeeded} | ${must} | ${counts.parked} | ${counts.failed} | ${violations} |`;
  });
  return [
    `## ${title}`,
    '',
    `| ${what} | seeds | faults fired | pieces of work | succeeded | of those that had to | parked | failed | violations |`,
    '|---|---|---|---|---|---|---|---|---|',
    ...rows,
    '',
  ];
}

/** Why work was parked, and what kept it from having to succeed. */
function reasonsSection(reports: readonly SeedReport[]): string[] {
  const parked = reports.flatMap(({ results }) => results).filter(({ status }) => status === 'needs_attention');
  const rows = tally(parked.map(({ parkedFor, obstacle }) => `\`${parkedFor ?? 'no reason'}\` | ${obstacle ?? 'nothing: it had to succeed'}`));
  return ['## Parked', '', '| reason | what stood in the way | pieces of work |', '|---|---|---|', ...rows.map(([name, count]) => `| ${name} | ${count} |`), ''];
}

function faultsSection(reports: readonly SeedReport[]): string[] {
  const planned = new Map(tally(reports.flatMap(({ plan }) => plannedFaults(plan))));
  const fired = new Map(tally(reports.flatMap((report) => report.fired)));
  const known = new Set<string>(Object.entries(POINTS).flatMap(([process, points]) => points.map((point) => `kill ${process} at ${point}`)));
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
    ...besideCatalogue(reports),
  ];
}

/** Points that processes passed and that the catalogue does not name: nothing is killed there. */
function besideCatalogue(reports: readonly SeedReport[]): string[] {
  const named = new Set<string>(Object.values(POINTS).flat());
  const passed = new Set(reports.flatMap((report) => [...report.passed.keys()].filter((point) => !named.has(point))));
  if (passed.size === 0) return [];
  const rows = [...passed].toSorted((left, right) => left.localeCompare(right)).map((point) => `- ${point}`);
  return ['Passed, and not in the catalogue of points, so nothing was killed there:', '', ...rows, ''];
}

function tally(names: readonly string[]): [string, number][] {
  return [...Map.groupBy(names, (name) => name)].map(([name, all]) => [name, all.length] as [string, number]).toSorted(([left], [right]) => left.localeCompare(right));
}
