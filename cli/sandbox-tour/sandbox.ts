import { type StepStatus, type TourFinding, tourExitCode, LEGS } from '#cli/sandbox-tour/leg.ts';
import { profileFileContent, profileLines } from '#cli/sandbox-tour/profile.ts';
import { type TourReport, requireSandbox, runTour } from '#cli/sandbox-tour/tour.ts';
import { withProfileDatabase } from '#cli/service/capabilities.ts';
import { type Output, type Mark, printJson, printLines, markedLine } from '#cli/terminal/output.ts';
import { readParts } from '#config/config.ts';
import type { Environment } from '#config/environment.ts';
import type { Database } from '#db/connection/database.ts';
import { addCapabilityProfile } from '#db/service/capability-profiles.ts';
import { type Money, subtractMoney } from '#domain/money/money.ts';
import { DEFAULT_POLICY } from '#domain/policy/policy.ts';

export interface SandboxTourOptions {
  readonly json?: boolean;
  /** False: no database is needed. */
  readonly store: boolean;
  readonly package?: number;
  readonly vpnPlan?: number;
  readonly also?: readonly number[];
  readonly keyAge?: number;
  readonly wait?: number;
}

/** Detects a service that forgets keys at once; short for a person who waits. */
const KEY_AGE_MS = 10_000;
/** The product waits so long before it uses the wallet as evidence. */
const WAIT_MS = DEFAULT_POLICY.purchase.settleDelayMs;

/** @throws UserError in production, ConfigurationError, and errors of the database; all before anything is sent. */
export async function runSandboxTour(
  options: SandboxTourOptions,
  environment: Environment,
  output: Output = process.stdout,
): Promise<number> {
  const needed = ['service', 'policy', ...(options.store ? ['database' as const] : [])] as const;
  const { service: config, policy, database: where }: ReadForTour = readParts(needed, environment);
  requireSandbox(config);
  const print = (lines: readonly string[]) => {
    if (options.json !== true) printLines(output, lines);
  };
  const tour = async (database?: Database) => {
    print([`The sandbox of ${config.baseUrl}. Its balance is fictional; production is not used.`, '']);
    const report = await runTour(config, {
      packageId: options.package,
      furtherPackageIds: options.also ?? [],
      vpnPlanId: options.vpnPlan,
      keyAgeMs: options.keyAge ?? KEY_AGE_MS,
      waitMs: options.wait ?? WAIT_MS,
      resendWindowMs: policy.purchase.resendWindowMs,
      onFinding: (finding) => print([stepLine(finding)]),
    });
    const id = database === undefined ? undefined : await store(database, report);
    print([...summaryLines(report), '', ...storedLines(report, id)]);
    if (options.json === true) printJson(output, tourJson(report, config.baseUrl, id));
    return tourExitCode(report.findings);
  };
  if (where === undefined) return await tour();
  // Opened before: the tour must not spend if its result cannot be stored.
  return await withProfileDatabase(where, config, 'write', tour);
}

type ReadForTour = Pick<ReturnType<typeof readParts>, 'service' | 'policy'> &
  Partial<Pick<ReturnType<typeof readParts>, 'database'>>;

async function store(database: Database, { profile, measuredAt }: TourReport): Promise<bigint | undefined> {
  if (profile === undefined) return undefined;
  const stored = { ...profile, environment: 'sandbox', measuredAt: new Date(measuredAt) } as const;
  return await database.run((db) => addCapabilityProfile(db, stored));
}

function storedLines({ profile }: TourReport, id: bigint | undefined): string[] {
  if (profile === undefined) return ['No profile is stored; the previous one, if any, remains in use.'];
  if (id === undefined) return ['Not stored.'];
  return [`Stored as profile ${id}, which is now in use in the sandbox. \`npx reseller capabilities show\` prints it.`];
}

const MARKS: Readonly<Record<StepStatus, Mark>> = { ok: 'ok', drift: 'warning', failed: 'failure', skipped: 'nothing' };
const LEG_WIDTH = Math.max(...Object.values(LEGS).map(({ length }) => length)) + 1;

export function stepLine({ leg, step, status, expected, seen }: TourFinding): string {
  const text = status === 'ok' ? `${step}: ${seen}` : `${status}: ${step}: ${seen}; expected: ${expected}`;
  return markedLine(MARKS[status], LEGS[leg], LEG_WIDTH, text);
}

function summaryLines({ findings, before, after, profile }: TourReport): string[] {
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
    profile:
      profile === undefined ? null : profileFileContent({ ...profile, measuredAt: new Date(measuredAt), baseUrl }),
    stored_as: storedAs === undefined ? null : String(storedAs),
  };
}

/** Not rounded. */
function spentOf(before: Money, after: Money): string {
  const [whole, fraction = ''] = subtractMoney(before, after).amount.split('.');
  return `${whole}.${fraction.padEnd(2, '0')}`;
}
