/** Drills of a disaster: a backup under load, the loss of the data, a restore, and the books of both sides. */
import { copyFileSync, existsSync, mkdirSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { backUp } from '#cli/backup/backup.ts';
import { BASE_ARCHIVE } from '#cli/backup/base-backup.ts';
import { TEMPORAL_FILE } from '#cli/backup/contents.ts';
import { restore } from '#cli/backup/restore.ts';
import { withClient } from '#cli/embedded/postgres.ts';
import { ShopLoad, type ShopRequest } from '#test/drill/load.ts';
import { endPause, pausePurchases } from '#test/drill/pauses.ts';
import { notRecovered } from '#test/drill/report.ts';
import { type LedgerLine, SimulatorAdmin } from '#test/support/network/simulator-admin.ts';
import { startOwnCluster } from '#test/support/servers/own-cluster.ts';
import {
  startOwnPostgres,
  startOwnTemporal,
  type OwnPostgres,
  type OwnTemporal,
} from '#test/support/servers/own-servers.ts';
import type { SharedServers } from '#test/support/servers/shared-servers.ts';
import { startStack, type Stack } from '#test/support/servers/stack.ts';
import { removeFolder, temporaryFolder } from '#test/support/temporary.ts';
import { waitFor } from '#test/support/wait-for.ts';
import { auditBooks } from '#test/support/work/books/books.ts';
import { netDebits } from '#test/support/work/books/differences.ts';

export interface DrillSize {
  /** Shops that order at the same time. */
  readonly shops?: number;
  /** Purchases that must be accepted before the backup or the event, and again after it. */
  readonly purchases?: number;
  /** The shared servers; undefined: those of the test run. */
  readonly servers?: SharedServers;
}

export interface Drill extends DrillSize {
  /** Data that is lost. Temporal then comes back from the backup. */
  readonly lost: readonly ('PostgreSQL' | 'Temporal')[];
  /**
   * True: the Temporal server of a cluster, whose databases are on the same PostgreSQL server and are lost with it.
   * Otherwise the development server with its file.
   */
  readonly cluster?: boolean;
  /** Whether the write-ahead log was archived, so that the restore also recovers changes after the backup. */
  readonly archive: boolean;
}

export interface DrillFindings {
  /** Differences between the books of both sides, and lost or unfinished work, as sentences. */
  readonly differences: readonly string[];
  /** References that the service has charged more than once. */
  readonly paidTwice: readonly string[];
}

/** What a drill measured. Times in milliseconds. */
export interface DrillResult extends DrillFindings {
  readonly backupMs: number;
  readonly backupBytes: number;
  /** Accepted before the disaster, and in how many cases the row was not in the restored database. */
  readonly accepted: number;
  readonly lostRows: number;
  /** RPO: age of the oldest lost row at the disaster; 0 when none was lost. */
  readonly lostMs: number;
  /** From the disaster to the restored files, to the started servers, and to API and worker ready (RTO). */
  readonly restoredMs: number;
  readonly startedMs: number;
  readonly readyMs: number;
  /** From the disaster until no work is in progress and the books were compared. */
  readonly settledMs: number;
  /** Rows that are lost although their log was archived, as sentences. */
  readonly notRecovered: readonly string[];
}

export const PURCHASES = 12;
/** A workflow whose row was lost looks again after one minute, then after two, if it was not woken. */
export const QUIET_MS = 600_000;
const BOOKS_MS = 5_000;
const ENVIRONMENT = {
  // Work that is held checks the gate again after this time: a restored Temporal has lost its last signals.
  'gate.recheck': '10s',
  'books.every': `${BOOKS_MS / 1_000}s`,
  'books.grace': '1s',
  // On a slow machine a held order must not reach its deadline before the drill ends.
  'retry.hold_deadline': '1h',
};
export const SIMULATOR = { SIMULATOR_PROCESSING_DELAY: '500ms', SIMULATOR_WEBHOOK_RETRY_DELAY: '300ms' };

/** Runs a drill on servers of its own; the simulator, as the service, survives. */
export async function runDrill(drill: Drill): Promise<DrillResult> {
  const folder = temporaryFolder('drill');
  const walArchive = join(folder, 'archive');
  await using postgres = await startOwnPostgres(drill.archive ? { walArchive } : {});
  await using temporal = await startTemporal(drill, postgres);
  const { databaseFile: temporalFile } = temporal;
  await using stack = await startStack({
    postgres,
    temporal,
    simulator: SIMULATOR,
    environment: ENVIRONMENT,
    ...(drill.servers !== undefined && { servers: drill.servers }),
  });
  try {
    const load = new ShopLoad(stack, drill.shops);
    const { purchases = PURCHASES } = drill;
    await load.reaches(purchases);
    const began = Date.now();
    const backup = await backUp(
      { folder: join(folder, 'backups'), ...(temporalFile !== undefined && { temporalFile }) },
      { ...stack.environments.api, DATABASE_URL: postgres.url },
      { write: () => true },
    );
    const backupMs = Date.now() - began;
    const backupBytes = statSync(join(backup, BASE_ARCHIVE)).size;
    await load.reaches(load.accepted.length + purchases);
    await waitFor('a purchase after the backup is paid', async () => (await paidSince(stack, load, began)) > 0, {
      timeoutMs: QUIET_MS,
    });
    const archivedMs = drill.archive ? await oneArchived(postgres, walArchive) : undefined;

    const disasterMs = Date.now();
    await Promise.all([stack.kill('api'), stack.kill('worker')]);
    if (drill.lost.includes('Temporal')) await temporal.destroy();
    await postgres.destroy();
    await load.stop();
    const since = () => Date.now() - disasterMs;

    await restore(
      { backup, target: { postgres: postgres.dataDirectory }, ...(drill.archive && { walArchive }) },
      stack.environments.api,
      { write: () => true },
    );
    if (drill.lost.includes('Temporal') && temporalFile !== undefined) {
      mkdirSync(dirname(temporalFile), { recursive: true });
      copyFileSync(join(backup, TEMPORAL_FILE), temporalFile);
    }
    const restoredMs = since();
    await postgres.start();
    if (drill.lost.includes('Temporal')) await temporal.start();
    const startedMs = since();
    const lost = await lostRequests(postgres, load);

    await stack.start('api');
    await pausePurchases(stack);
    await stack.start('worker');
    const readyMs = since();
    // Callers repeat what they sent since the backup, and what got no answer.
    await load.repeat(load.requests.filter(({ acceptedAtMs = Infinity }) => acceptedAtMs >= began));
    await endPause(stack);
    const accepted = load.accepted.map(({ id = '' }) => id);
    const differences = await finalDifferences(stack, accepted);
    return {
      backupMs,
      backupBytes,
      accepted: accepted.length,
      lostRows: lost.length,
      lostMs: disasterMs - Math.min(disasterMs, ...lost.map(({ acceptedAtMs = disasterMs }) => acceptedAtMs)),
      restoredMs,
      startedMs,
      readyMs,
      settledMs: since(),
      differences,
      paidTwice: await paidTwice(stack),
      notRecovered: notRecovered(lost, archivedMs),
    };
  } finally {
    removeFolder(folder);
  }
}

interface DrilledTemporal extends Pick<OwnTemporal, 'address' | 'start' | 'destroy' | typeof Symbol.asyncDispose> {
  /** Undefined: its data is on the PostgreSQL server. */
  readonly databaseFile?: string;
}

async function startTemporal({ cluster }: Drill, postgres: OwnPostgres): Promise<DrilledTemporal> {
  if (cluster !== true) return startOwnTemporal();
  const own = await startOwnCluster({ postgresUrl: postgres.url });
  return { ...own, destroy: () => own.kill() };
}

/** Waits for all work, and for the books of what the restored rows did not know. @returns what still differs. */
async function finalDifferences(stack: Stack, accepted: readonly string[]): Promise<string[]> {
  const deadline = Date.now() + QUIET_MS;
  for (;;) {
    const timeoutMs = Math.max(0, deadline - Date.now());
    // The database cannot know a delivery that was acknowledged and then lost.
    const differences = await auditBooks(stack, { accepted, timeoutMs, mayBeLost: () => true });
    if (differences.length === 0) return [];
    if (Date.now() >= deadline) return [...differences, await situation(stack)];
    await delay(BOOKS_MS);
  }
}

/** Why work did not go on, for a failure message: the state of the gate and the last lines of every process. */
async function situation(stack: Stack): Promise<string> {
  const gate = await stack.api.get('/v1/purchase-gate').then(({ text }) => text, String);
  return `the purchase gate: ${gate}\n${stack.tails(12)}`;
}

/** The number of paid purchases that were accepted at this time or later. */
async function paidSince(stack: Stack, load: ShopLoad, sinceMs: number): Promise<number> {
  const paid = new Set((await new SimulatorAdmin(stack.simulator).ledger()).map(referenceOf));
  return load.accepted.filter(({ acceptedAtMs = 0, body }) => acceptedAtMs >= sinceMs && paid.has(referenceIn(body)))
    .length;
}

function referenceOf(line: LedgerLine): string | null {
  return line.external_order_id ?? line.external_subscription_id;
}

function referenceIn(body: ShopRequest['body']): string {
  return String(body['external_order_id'] ?? body['external_subscription_id']);
}

/**
 * Ends the present file of the log, and waits until it is archived. Later changes are lost with the disk.
 * @returns a time before the end of the file, in epoch milliseconds: every earlier commit is in the archive.
 */
async function oneArchived(postgres: OwnPostgres, walArchive: string): Promise<number> {
  const beforeMs = Date.now();
  const file = await withClient(postgres.url, async (client) => {
    const { rows } = await client.query<{ file: string }>('SELECT pg_walfile_name(pg_switch_wal()) AS file');
    return rows[0]?.file ?? '';
  });
  await waitFor(`${file} is archived`, () => existsSync(join(walArchive, file)));
  return beforeMs;
}

/** Accepted requests whose work is not in the database. */
async function lostRequests(postgres: OwnPostgres, load: ShopLoad): Promise<ShopRequest[]> {
  const known = await withClient(postgres.url, async (client) => {
    const all = 'SELECT id FROM orders UNION ALL SELECT id FROM vpn_subscriptions';
    const { rows } = await client.query<{ id: string }>(all);
    return new Set(rows.map(({ id }) => id));
  });
  return load.accepted.filter(({ id = '' }) => !known.has(id));
}

/** References with more than one net debit. */
export async function paidTwice(stack: Stack): Promise<string[]> {
  const lines = await new SimulatorAdmin(stack.simulator).ledger();
  return [...Map.groupBy(lines, referenceOf)]
    .filter(([, own]) => netDebits(own) > 1)
    .map(([reference]) => String(reference));
}
