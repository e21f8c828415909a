import { examine, exitCodeOf } from '#cli/doctor/examine.ts';
import { CHECKS, type CheckName, type Finding, type Findings } from '#cli/doctor/finding.ts';
import { type Mark, markedLine, printJson, printLines } from '#cli/terminal/output.ts';
import { Terminal } from '#cli/terminal/terminal.ts';
import type { Environment } from '#config/environment.ts';
import { counted } from '#domain/text.ts';

export interface DoctorOptions {
  readonly json?: boolean;
  readonly data?: string;
}

/** Spends nothing. */
export async function runDoctor(options: DoctorOptions, environment: Environment): Promise<number> {
  const terminal = new Terminal(process.stdout);
  if (terminal.interactive && options.json !== true) terminal.step('running all checks');
  const findings = await examine(environment, options.data === undefined ? {} : { data: options.data }).finally(() =>
    terminal.close(),
  );
  if (options.json === true) printJson(process.stdout, findingsJson(findings));
  else printLines(process.stdout, findingLines(findings));
  return exitCodeOf(findings);
}

const MARKS: Readonly<Record<Finding['status'], Mark>> = {
  ok: 'ok',
  warning: 'warning',
  failure: 'failure',
  not_checked: 'nothing',
};
const WORDS = { ok: '', warning: 'warning: ', failure: 'failure: ', not_checked: 'not checked: ' } as const;
const TITLE_WIDTH = Math.max(...Object.values(CHECKS).map(({ length }) => length)) + 1;

const names = Object.keys(CHECKS) as readonly CheckName[];

export function findingLines(findings: Findings): string[] {
  return [...names.map((name) => lineOf(name, findings[name])), '', totals(findings)];
}

function lineOf(name: CheckName, { status, detail, advice }: Finding): string {
  const text = `${WORDS[status]}${detail}${advice === undefined ? '' : ` → ${advice}`}`;
  return markedLine(MARKS[status], CHECKS[name], TITLE_WIDTH, text);
}

function totals(findings: Findings): string {
  const count = (status: Finding['status']) =>
    Object.values(findings).filter((finding) => finding.status === status).length;
  return [
    `${count('ok')} ok`,
    counted(count('warning'), 'warning'),
    counted(count('failure'), 'failure'),
    `${count('not_checked')} not checked`,
  ].join(', ');
}

export function findingsJson(findings: Findings): unknown {
  return { exit_code: exitCodeOf(findings), checks: names.map((name) => ({ check: name, ...findings[name] })) };
}
