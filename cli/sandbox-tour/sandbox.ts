import * as z from 'zod';
import { readTogether } from '#cli/api/read-together.ts';
import { tourExitCode } from '#cli/sandbox-tour/finding.ts';
import { stepLine, summaryLines, tourJson } from '#cli/sandbox-tour/print.ts';
import { requireSandbox, runTour, type TourReport } from '#cli/sandbox-tour/tour.ts';
import { withProfileDatabase } from '#cli/service/capabilities-database.ts';
import type { Output } from '#cli/terminal/terminal.ts';
import { printJson, printLines } from '#cli/terminal/visible-text.ts';
import { CONFIGURATION_FIELDS, readDatabaseConfig, readServiceConfig, type ServiceConfig } from '#config/config.ts';
import { parseEnvironment, type Environment } from '#config/environment.ts';
import type { Database } from '#db/connection/database.ts';
import { addCapabilityProfile } from '#db/service/capability-profiles.ts';
import { DEFAULT_POLICY } from '#domain/policy/policy.ts';

export interface SandboxTourOptions {
  readonly json?: boolean;
  /** False: nothing is stored, and no database is needed. */
  readonly store: boolean;
  readonly package?: number;
  readonly vpnPlan?: number;
  /** Packages to order once each besides. */
  readonly also?: readonly number[];
  /** Milliseconds. */
  readonly keyAge?: number;
  /** Milliseconds. */
  readonly wait?: number;
}

/** Long enough to find a service that forgets at once, short enough to wait for. */
const KEY_AGE_MS = 10_000;
/** As long as the product waits before it takes the wallet for evidence. */
const WAIT_MS = DEFAULT_POLICY.purchase.settleDelayMs;

/**
 * `reseller sandbox tour`: drives the service's sandbox through everything, and stores what it was found able to do.
 *
 * @returns the exit code.
 * @throws UserError in production, before anything is sent; ConfigurationError; errors of the database, likewise
 *   before.
 */
export async function runSandboxTour(
  options: SandboxTourOptions,
  environment: Environment,
  output: Output = process.stdout,
): Promise<number> {
  const { config, resendWindowMs, stored } = readTogether(environment, {
    config: readServiceConfig,
    resendWindowMs: resendWindowOf,
    stored: (given) => (options.store ? readDatabaseConfig(given) : undefined),
  });
  requireSandbox(config);
  const tour: Tour = { config, options, resendWindowMs, output };
  if (stored === undefined) return await tourAndPrint(tour, undefined);
  // Before the tour: what could not be stored need not be spent for.
  return await withProfileDatabase({ database: stored.database, service: config }, 'write', (database) =>
    tourAndPrint(tour, database),
  );
}

interface Tour {
  readonly config: ServiceConfig;
  readonly options: SandboxTourOptions;
  readonly resendWindowMs: number;
  readonly output: Output;
}

/** How long the product's workers may send a purchase again, in milliseconds. */
function resendWindowOf(environment: Environment): number {
  const { POLICY_RESEND_WINDOW } = CONFIGURATION_FIELDS.policy;
  return parseEnvironment(z.object({ POLICY_RESEND_WINDOW }), environment).POLICY_RESEND_WINDOW;
}

async function tourAndPrint(tour: Tour, database: Database | undefined): Promise<number> {
  const { config, options, resendWindowMs, output } = tour;
  const print = (lines: readonly string[]) => {
    if (options.json !== true) printLines(output, lines);
  };
  print([`The sandbox of ${config.baseUrl}. Its balance is fictional, and production is not touched.`, '']);
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
  if (profile === undefined) return ['No profile is stored; the one before, if any, still counts.'];
  if (id === undefined) return ['Not stored.'];
  return [
    `Stored as profile ${id}, which counts in the sandbox from now on. \`npx reseller capabilities show\` prints ` +
      'it again.',
  ];
}
