import { tourExitCode } from '#cli/sandbox-tour/leg.ts';
import { stepLine, summaryLines, tourJson } from '#cli/sandbox-tour/print.ts';
import { type TourReport, requireSandbox, runTour } from '#cli/sandbox-tour/tour.ts';
import { withProfileDatabase } from '#cli/service/capabilities.ts';
import { type Output, printJson, printLines } from '#cli/terminal/output.ts';
import { type ServiceConfig, readParts } from '#config/config.ts';
import type { Environment } from '#config/environment.ts';
import type { Database } from '#db/connection/database.ts';
import { addCapabilityProfile } from '#db/service/capability-profiles.ts';
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
  const tour: Tour = { config, options, resendWindowMs: policy.purchase.resendWindowMs, output };
  if (where === undefined) return await tourAndPrint(tour, undefined);
  // Opened before: the tour must not spend if its result cannot be stored.
  return await withProfileDatabase({ database: where, service: config }, 'write', (database) =>
    tourAndPrint(tour, database),
  );
}

type ReadForTour = Pick<ReturnType<typeof readParts>, 'service' | 'policy'> &
  Partial<Pick<ReturnType<typeof readParts>, 'database'>>;

interface Tour {
  readonly config: ServiceConfig;
  readonly options: SandboxTourOptions;
  readonly resendWindowMs: number;
  readonly output: Output;
}

async function tourAndPrint(tour: Tour, database: Database | undefined): Promise<number> {
  const { config, options, resendWindowMs, output } = tour;
  const print = (lines: readonly string[]) => {
    if (options.json !== true) printLines(output, lines);
  };
  print([`The sandbox of ${config.baseUrl}. Its balance is fictional; production is not used.`, '']);
  const report = await runTour(config, {
    packageId: options.package,
    furtherPackageIds: options.also ?? [],
    vpnPlanId: options.vpnPlan,
    keyAgeMs: options.keyAge ?? KEY_AGE_MS,
    waitMs: options.wait ?? WAIT_MS,
    resendWindowMs,
    onFinding: (finding) => print([stepLine(finding)]),
  });
  const id = database === undefined ? undefined : await store(database, report);
  print([...summaryLines(report), '', ...storedLines(report, id)]);
  if (options.json === true) printJson(output, tourJson(report, config.baseUrl, id));
  return tourExitCode(report.findings);
}

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
