import { LEGS, type StepStatus, type TourFinding, tourExitCode } from '#cli/sandbox-tour/leg.ts';
import { profileFileContent } from '#cli/sandbox-tour/profile.ts';
import type { TourReport } from '#cli/sandbox-tour/tour.ts';
import { type Mark, markedLine } from '#cli/terminal/output.ts';
import { type Money, subtractMoney } from '#domain/money/money.ts';
import { type MeasuredProfile, PROFILE_ITEMS, profileItems } from '#domain/service/capability-profile.ts';

const MARKS: Readonly<Record<StepStatus, Mark>> = { ok: 'ok', drift: 'warning', failed: 'failure', skipped: 'nothing' };
const LEG_WIDTH = Math.max(...Object.values(LEGS).map(({ length }) => length)) + 1;
const ITEM_WIDTH = Math.max(...profileItems.map(({ length }) => length)) + 1;

export function stepLine({ leg, step, status, expected, seen }: TourFinding): string {
  const text = status === 'ok' ? `${step}: ${seen}` : `${status}: ${step}: ${seen}; expected: ${expected}`;
  return markedLine(MARKS[status], LEGS[leg], LEG_WIDTH, text);
}

export function summaryLines({ findings, before, after, profile }: TourReport): string[] {
  const count = (status: StepStatus) => findings.filter((finding) => finding.status === status).length;
  const totals = `${count('ok')} ok, ${count('drift')} drifted, ${count('failed')} failed, ${count('skipped')} skipped`;
  const money =
    before === undefined || after === undefined
      ? 'Fictional balance: could not be read before and after.'
      : `Fictional balance: ${before.amount} ${before.currency} before, ${after.amount} ${after.currency} after, ` +
        `${spentOf(before, after)} ${before.currency} spent.`;
  const found =
    profile === undefined
      ? ['Nothing was measured, because no eSIM could be bought.']
      : ['Capabilities of the service (✔ yes, ✘ no, – unknown):', ...profileLines(profile)];
  return ['', totals, money, '', ...found];
}

export function profileLines({
  findings,
  evidence,
}: {
  readonly findings: Readonly<Partial<Record<string, boolean | null>>>;
  readonly evidence: Readonly<Partial<Record<string, string>>>;
}): string[] {
  return profileItems.map((item) => {
    const finding = findings[item] ?? null;
    const mark = finding === null ? 'nothing' : finding ? 'ok' : 'failure';
    return markedLine(mark, item, ITEM_WIDTH, evidence[item] ?? `Not measured. ${PROFILE_ITEMS[item]}`);
  });
}

export function tourJson(report: TourReport, baseUrl: string, storedAs: bigint | undefined): unknown {
  const { findings, before, after, profile, measuredAt } = report;
  return {
    exit_code: tourExitCode(findings),
    service: { base_url: baseUrl, environment: 'sandbox' },
    fictional_balance: {
      before: before?.amount ?? null,
      after: after?.amount ?? null,
      spent: before === undefined || after === undefined ? null : spentOf(before, after),
      currency: before?.currency ?? null,
    },
    steps: findings.map(({ leg, step, status, expected, seen }) => ({ leg, step, status, expected, seen })),
    profile: profileJson(profile, measuredAt, baseUrl),
    stored_as: storedAs === undefined ? null : String(storedAs),
  };
}

/** Not rounded. */
function spentOf(before: Money, after: Money): string {
  const [whole, fraction = ''] = subtractMoney(before, after).amount.split('.');
  return `${whole}.${fraction.padEnd(2, '0')}`;
}

function profileJson(profile: MeasuredProfile | undefined, measuredAt: number, baseUrl: string): unknown {
  return profile === undefined ? null : profileFileContent({ ...profile, measuredAt: new Date(measuredAt), baseUrl });
}
