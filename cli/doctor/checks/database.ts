import { sql } from 'drizzle-orm';
import { type Finding, failure, notChecked, ok, warning } from '#cli/doctor/finding.ts';
import { reasonOf } from '#cli/terminal/user-error.ts';
import type { DatabaseConfig, EncryptionKey, ServiceConfig } from '#config/config.ts';
import { KeyRing } from '#crypto/key-ring.ts';
import { Database, type Executor } from '#db/connection/database.ts';
import { EncryptionKeysError, keyUse, verifyKeys } from '#db/connection/encryption-keys.ts';
import { OtherInstallationError, verifyStamp } from '#db/connection/installation.ts';
import { SchemaNotCurrentError, requireCurrentSchema, UnreleasedSchemaError } from '#db/connection/migrate.ts';
import { missedWebhooks } from '#db/queues/inbox.ts';
import { type StoredCapabilityProfile, newestCapabilityProfile } from '#db/service/capability-profiles.ts';
import { type StoredWebhookSecrets, readRefusedPrefix, readWebhookSecrets } from '#db/service/webhook-secrets.ts';
import { describeKeyProblem } from '#domain/encryption-keys.ts';
import { DEFAULT_POLICY } from '#domain/policy/policy.ts';
import type { RefusedHeaderPrefix } from '#domain/service/service-address.ts';
import { capitalized } from '#domain/text.ts';
import type { PurchaseKind } from '#domain/work/kinds.ts';
import { type FirstPurchaseCheckState, readFirstPurchaseCheck } from '#fulfilment/gate/pauses.ts';
import { countHeldWork, driftStopTexts } from '#fulfilment/readiness/conditions.ts';

export function openDatabase({ url, isPooled }: Pick<DatabaseConfig, 'url' | 'isPooled'>): Database {
  const options = { url, isPooled, poolSize: 1, applicationName: 'reseller doctor' };
  // A broken connection is reported by the statement that used it.
  return new Database({ ...options, onConnectionError: () => undefined });
}

export async function checkDatabase(database: Database, config: DatabaseConfig): Promise<Finding> {
  const problem = await tryOut(database, 'DATABASE_URL');
  if (problem !== undefined) return problem;
  if (!config.isPooled) return (await failingArchive(database)) ?? ok('PostgreSQL answers');

  const direct = openDatabase({ url: config.directUrl, isPooled: false });
  try {
    const unreachable = await tryOut(direct, 'DATABASE_DIRECT_URL');
    return unreachable ?? (await failingArchive(database)) ?? ok('PostgreSQL answers, directly as well');
  } finally {
    await direct.close();
  }
}

/** A failing archive keeps all of the log, until the disk is full. */
async function failingArchive(database: Database): Promise<Finding | undefined> {
  const { rows } = await database.run((db: Executor) =>
    db.execute<{ file: string; at: string }>(sql`
      select last_failed_wal as file, to_json(last_failed_time) #>> '{}' as at from pg_stat_archiver
      where current_setting('archive_mode') <> 'off'
        and last_failed_time > coalesce(last_archived_time, '-infinity')`),
  );
  const [failed] = rows;
  if (failed === undefined) return lostReceiver(database);
  return warning(
    `PostgreSQL answers, but its write-ahead log is not archived: ${failed.file} failed at ${failed.at}`,
    'The log of PostgreSQL has the reason. A restore reaches no later change, and the disk of the server fills up. ' +
      'Make the archive writable for the account of PostgreSQL; it then continues by itself.',
  );
}

/** The receiver of the log in docker-compose.yml, or a replica, for which the server keeps the log. */
async function lostReceiver(database: Database): Promise<Finding | undefined> {
  const { rows } = await database.run((db: Executor) =>
    db.execute<{ slot: string; status: string | null }>(sql`
      select slot_name as slot, wal_status as status from pg_replication_slots
      where slot_type = 'physical' and not temporary and (not active or wal_status = 'lost')`),
  );
  const [slot] = rows;
  if (slot === undefined) return undefined;
  const isLost = slot.status === 'lost';
  return warning(
    `PostgreSQL answers, but nothing receives the write-ahead log of its slot ${slot.slot}` +
      (isLost ? ', and a part of it is gone' : ''),
    'Look at the log of the receiver (`wal-receiver` in docker-compose.yml), and whether its disk is full. ' +
      'Start it again' +
      (isLost ? ', then make a new base backup: a restore from an older one ends before the gap.' : '.'),
  );
}

async function tryOut(database: Database, variable: string): Promise<Finding | undefined> {
  try {
    await database.run((db: Executor) => db.execute(sql`select 1`));
    return undefined;
  } catch (error) {
    return failure(
      `PostgreSQL cannot be used: ${reasonOf(error)}`,
      `Check that it runs, that ${variable} is right, and that its user may connect.`,
    );
  }
}

export async function checkMigrations(database: Database): Promise<Finding> {
  try {
    await database.run(requireCurrentSchema);
    return ok('the schema is that of this version');
  } catch (error) {
    if (error instanceof UnreleasedSchemaError) {
      return failure('the database was set up by a version from before the first release', error.message);
    }
    if (!(error instanceof SchemaNotCurrentError)) throw error;
    const [fact = '', advice = ''] = error.message.split(': ', 2);
    return failure(fact, capitalized(advice));
  }
}

/** Writes nothing. */
export async function checkInstallation(database: Database, service: ServiceConfig): Promise<Finding> {
  const { baseUrl, mode } = service;
  try {
    const stamped = await database.run((db) => verifyStamp(db, { serviceBaseUrl: baseUrl, serviceMode: mode }));
    if (stamped) return ok(`${baseUrl} (${mode})`);
    return ok('none yet; the first start of the API or the worker stamps the database');
  } catch (error) {
    if (!(error instanceof OtherInstallationError)) throw error;
    const lines = error.message.split('\n').map((line) => line.trim().replaceAll(/ +/g, ' '));
    return failure(lines.slice(0, -1).join(' '), lines.at(-1) ?? '');
  }
}

/** Writes nothing. */
export async function checkEncryptionKeys(
  database: Database,
  keys: readonly EncryptionKey[] | undefined,
): Promise<Finding> {
  if (keys === undefined) return notChecked('ENCRYPTION_KEYS cannot be used');
  const ring = new KeyRing(keys);
  try {
    await database.run((db) => verifyKeys(db, ring));
  } catch (error) {
    if (!(error instanceof EncryptionKeysError)) throw error;
    const described = error.problems.map(describeKeyProblem);
    const joined = (texts: readonly string[]) => [...new Set(texts)].join(' ');
    return failure(joined(described.map(({ what }) => what)), joined(described.map(({ advice }) => advice)));
  }
  const recorded = (await database.run(keyUse)).length;
  if (recorded === 0) return ok('none used yet; the first start of the API or the worker records them');
  return ok(`the ${recorded === 1 ? 'key' : `${recorded} keys`} that the database was used with`);
}

/** The worker's policy only decides when the worker raises its alert. */
export const WEBHOOK_SILENCE = DEFAULT_POLICY.webhookSilence;

export interface Records {
  readonly heldUnapproved: number;
  readonly webhookSecrets: StoredWebhookSecrets | undefined;
  /** Look-ups found these since the last webhook arrived; a few are usual. */
  readonly webhooksMissed: number;
  /** The prefix of deliveries refused since the last valid one. */
  readonly refusedPrefix: RefusedHeaderPrefix | undefined;
  readonly capabilityProfile: StoredCapabilityProfile | undefined;
  readonly firstPurchaseCheck: ReadonlyMap<PurchaseKind, FirstPurchaseCheckState>;
  readonly driftStops: Awaited<ReturnType<typeof driftStopTexts>>;
}

export async function readRecords(
  database: Database,
  { mode: environment }: ServiceConfig,
  encryptionKeys: readonly EncryptionKey[] | undefined,
  now: () => number,
): Promise<Records> {
  return await database.run(async (db) => ({
    heldUnapproved: (await countHeldWork(db, ['not_approved'])).get('not_approved') ?? 0,
    webhookSecrets:
      encryptionKeys &&
      (await readWebhookSecrets(db, new KeyRing(encryptionKeys), { environment, now: new Date(now()) })),
    webhooksMissed: await missedWebhooks(db, WEBHOOK_SILENCE, new Date(now())),
    refusedPrefix: await readRefusedPrefix(db),
    capabilityProfile: await newestCapabilityProfile(db, 'sandbox'),
    firstPurchaseCheck: await readFirstPurchaseCheck(db),
    driftStops: await driftStopTexts(db),
  }));
}
