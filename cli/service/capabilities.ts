import { readFileSync } from 'node:fs';
import { readProfileFile, profileLines } from '#cli/sandbox-tour/profile.ts';
import { account, actor, withDatabase } from '#cli/set-up/command-database.ts';
import { type Output, duration, printJson, printLines } from '#cli/terminal/output.ts';
import { UserError, codeOf } from '#cli/terminal/user-error.ts';
import { type DatabaseConfig, type ServiceConfig, readParts } from '#config/config.ts';
import type { Environment } from '#config/environment.ts';
import { addAuditEntry } from '#db/access/audit-log.ts';
import type { Database, Executor } from '#db/connection/database.ts';
import { stampOrVerify, verifyStamp } from '#db/connection/installation.ts';
import {
  type StoredCapabilityProfile,
  addCapabilityProfile,
  confirmCapabilityProfile,
  judgedProfile,
  newestCapabilityProfile,
} from '#db/service/capability-profiles.ts';
import { nounOf } from '#domain/gate/first-purchase-check.ts';
import { type Permission, permissions } from '#domain/service/capability-profile.ts';
import { releaseRecorded } from '#fulfilment/gate/pauses.ts';

/** Probing production would spend money. */
const MEASURED_IN = 'sandbox';

export async function showCapabilities(
  options: { readonly json?: boolean },
  environment: Environment,
  output: Output = process.stdout,
): Promise<number> {
  const { database, service } = readParts(['database', 'service'], environment);
  const profile = await withProfileDatabase(database, service, 'read', (db) => db.run(newestMeasured));
  if (options.json === true) printJson(output, profile === undefined ? null : capabilitiesJson(profile, service));
  else printLines(output, profile === undefined ? [NO_PROFILE, TOUR] : capabilityLines(profile, service, new Date()));
  return profile === undefined ? 1 : 0;
}

/** @throws UserError without a profile, or when it was replaced meanwhile. */
export async function confirmCapabilities(
  options: { readonly by?: string },
  environment: Environment,
  output: Output = process.stdout,
): Promise<void> {
  const { database: where, service } = readParts(['database', 'service'], environment);
  const by = (options.by ?? account()).trim();
  if (by === '') throw new UserError('The name of the person who confirms is empty.', 'Write a name after --by.');
  const lines = await withProfileDatabase(where, service, 'write', async (database) => {
    const profile = await database.run(newestMeasured);
    if (profile === undefined) throw new UserError(NO_PROFILE, TOUR);
    if (profile.confirmation !== undefined) return [`Profile ${profile.id} is ${confirmationText(profile)} already.`];
    const confirmation = { at: new Date(), by };
    const released = await database.transaction(async (tx) => {
      if (!(await confirmCapabilityProfile(tx, profile.id, confirmation))) return undefined;
      const subject = { kind: 'capability_profile', id: String(profile.id) } as const;
      const entry = { actor: actor(), action: 'capability_profile.confirm', subject, reason: `confirmed by ${by}` };
      await addAuditEntry(tx, entry, confirmation.at);
      return await releaseRecorded(tx, actor(), confirmation.at);
    });
    if (released === undefined) {
      throw new UserError(
        'Another process replaced or confirmed the profile at the same time.',
        'Read `npx reseller capabilities show` and confirm again.',
      );
    }
    return [
      ...confirmedLines(profile, { ...profile, confirmation }, service),
      ...(released.length === 0 ? [] : [`Purchases that are no longer held: ${released.map(nounOf).join(', ')}.`]),
    ];
  });
  printLines(output, lines);
}

/** The profile is stored as not confirmed. @throws UserError for none, or one of another service. */
export async function importCapabilities(
  file: string,
  environment: Environment,
  output: Output = process.stdout,
): Promise<void> {
  const { database: where, service } = readParts(['database', 'service'], environment);
  const profile = readProfileFile(readText(file));
  if (profile === undefined) {
    throw new UserError(
      `${file} contains no capability profile.`,
      'Use a file that `npx reseller sandbox tour --json` has written.',
    );
  }
  const { baseUrl, ...measured } = profile;
  if (baseUrl !== service.baseUrl) {
    throw new UserError(
      `This profile was measured at ${baseUrl}, but SERVICE_BASE_URL is ${service.baseUrl}.`,
      'Run the tour against the sandbox of the configured service.',
    );
  }
  const id = await withProfileDatabase(where, service, 'write', (database) =>
    database.run((db) => addCapabilityProfile(db, { ...measured, environment: MEASURED_IN })),
  );
  output.write(
    `Stored as profile ${id}, not confirmed. \`npx reseller capabilities show\` prints it, \`confirm\` confirms it.\n`,
  );
}

const NO_PROFILE = 'No capability profile is stored.';
const TOUR =
  '`npx reseller sandbox tour` measures one. In production, `npx reseller capabilities import` imports its --json ' +
  'report.';

async function newestMeasured(db: Executor): Promise<StoredCapabilityProfile | undefined> {
  return await newestCapabilityProfile(db, MEASURED_IN);
}

function capabilityLines(profile: StoredCapabilityProfile, service: ServiceConfig, now: Date): string[] {
  const age = duration(Math.max(0, now.getTime() - profile.measuredAt.getTime()));
  return [
    `Profile ${profile.id}, measured in the sandbox ${age} ago (${profile.measuredAt.toISOString()}), ` +
      `${confirmationText(profile)}.`,
    '',
    ...profileLines(profile),
    '',
    ...permissionLines(profile, service),
  ];
}

function confirmedLines(before: StoredCapabilityProfile, after: StoredCapabilityProfile, service: ServiceConfig) {
  const head = `Profile ${after.id} is ${confirmationText(after)}.`;
  if (service.mode === 'sandbox') return [head, 'Nothing changes: the sandbox needs no confirmation.'];
  const [was, is] = [allowed(before, service), allowed(after, service)];
  const switchedOn = Object.keys(is).filter((what) => is[what]?.allowed === true && was[what]?.allowed !== true);
  return [
    head,
    switchedOn.length === 0 ? 'It switches nothing on.' : `It switches on: ${switchedOn.join(', ')}.`,
    ...permissionLines(after, service),
    'Workers use it after a restart.',
  ];
}

function permissionLines(profile: StoredCapabilityProfile, service: ServiceConfig): string[] {
  const lines = Object.entries(allowed(profile, service)).map(
    ([what, { allowed, because }]) => `${what} (${service.mode}): ${allowed ? 'on' : 'off'}, because ${because}`,
  );
  if (service.resendAllowed) return lines;
  return [...lines, 'The configuration switches resends off: SERVICE_MISSING_CAPABILITIES contains key_replay.'];
}

function allowed(profile: StoredCapabilityProfile, service: ServiceConfig): Readonly<Record<string, Permission>> {
  const { resends, newAttempts } = permissions(service, judgedProfile(profile), service.mode);
  return { 'automatic resends': resends, 'automatic new attempts': newAttempts };
}

function confirmationText({ confirmation }: StoredCapabilityProfile): string {
  if (confirmation === undefined) return 'not confirmed';
  return `confirmed by ${confirmation.by} on ${confirmation.at.toISOString()}`;
}

function capabilitiesJson(profile: StoredCapabilityProfile, service: ServiceConfig): unknown {
  const { id, environment, measuredAt, findings, evidence, confirmation } = profile;
  const { resends, newAttempts } = permissions(service, judgedProfile(profile), service.mode);
  return {
    id: String(id),
    environment,
    measured_at: measuredAt.toISOString(),
    confirmed_at: confirmation?.at.toISOString() ?? null,
    confirmed_by: confirmation?.by ?? null,
    findings,
    evidence,
    allows: { mode: service.mode, resends, new_attempts: newAttempts },
  };
}

function readText(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    if (codeOf(error) === undefined) throw error;
    throw new UserError(`${file} cannot be read (${codeOf(error)}).`, 'Check the name.');
  }
}

/**
 * `write` stamps a new database.
 * @throws SchemaNotCurrentError, DatabaseUnavailableError, OtherInstallationError
 */
export async function withProfileDatabase<Result>(
  { directUrl }: DatabaseConfig,
  { baseUrl, mode }: ServiceConfig,
  use: 'read' | 'write',
  work: (database: Database) => Promise<Result>,
): Promise<Result> {
  return await withDatabase(directUrl, 'reseller capabilities', async (database) => {
    // A read must not stamp a new database with a service.
    const check = use === 'read' ? verifyStamp : stampOrVerify;
    await database.run(async (db) => await check(db, { serviceBaseUrl: baseUrl, serviceMode: mode }));
    return await work(database);
  });
}
