import { exitCodeOf } from '#cli/doctor/examine.ts';
import { type CheckName, CHECKS, type Finding, type Findings } from '#cli/doctor/finding.ts';

const SIGNS = { ok: '✔', warning: '!', failure: '✘', not_checked: '–' } as const;
const WORDS = { ok: '', warning: 'warning: ', failure: 'failure: ', not_checked: 'not checked: ' } as const;
const TITLE_WIDTH = Math.max(...Object.values(CHECKS).map(({ length }) => length)) + 1;

const names = Object.keys(CHECKS) as readonly CheckName[];

/** A line for each check, and one for all of them. */
export function findingLines(findings: Findings): string[] {
  return [...names.map((name) => lineOf(name, findings[name])), '', totals(findings)];
}

function lineOf(name: CheckName, { status, detail, advice }: Finding): string {
  const line = `${SIGNS[status]} ${CHECKS[name].padEnd(TITLE_WIDTH)} ${WORDS[status]}${detail}`;
  // What a server said may have several lines.
  return `${line}${advice === undefined ? '' : ` → ${advice}`}`.replaceAll(/\s*\n\s*/g, ' ');
}

function totals(findings: Findings): string {
  const count = (status: Finding['status']) => Object.values(findings).filter((finding) => finding.status === status).length;
  const [failures, warnings] = [count('failure'), count('warning')];
  return [
    `${count('ok')} ok`,
    `${warnings} warning${warnings === 1 ? '' : 's'}`,
    `${failures} failure${failures === 1 ? '' : 's'}`,
    `${count('not_checked')} not checked`,
  ].join(', ');
}

/** The same as JSON. */
export function findingsJson(findings: Findings): unknown {
  return {
    exit_code: exitCodeOf(findings),
    checks: names.map((name) => ({ check: name, ...findings[name] })),
  };
}
