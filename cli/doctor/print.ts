import { exitCodeOf } from '#cli/doctor/examine.ts';
import { type CheckName, CHECKS, type Finding, type Findings } from '#cli/doctor/finding.ts';
import { type Mark, markedLine } from '#cli/terminal/output.ts';
import { counted } from '#domain/text.ts';

const MARKS: Readonly<Record<Finding['status'], Mark>> = {
  ok: 'ok',
  warning: 'warning',
  failure: 'failure',
  not_checked: 'nothing',
};
const WORDS = { ok: '', warning: 'warning: ', failure: 'failure: ', not_checked: 'not checked: ' } as const;
const TITLE_WIDTH = Math.max(...Object.values(CHECKS).map(({ length }) => length)) + 1;

const names = Object.keys(CHECKS) as readonly CheckName[];

/** A line for each check, then a line of totals. */
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

/** The findings and the exit code as JSON. */
export function findingsJson(findings: Findings): unknown {
  return {
    exit_code: exitCodeOf(findings),
    checks: names.map((name) => ({ check: name, ...findings[name] })),
  };
}
