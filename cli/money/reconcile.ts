import { adjustmentLines, openCaseLines, reportJson, reportLines } from '#cli/money/reconciliation-report.ts';
import { withDatabase } from '#cli/set-up/command-database.ts';
import { printJson, printLines, type Output } from '#cli/terminal/output.ts';
import { UserError } from '#cli/terminal/user-error.ts';
import { readDatabaseConfig, readEncryptionKeys, readTemporalConfig } from '#config/config.ts';
import { readTogether, type Environment } from '#config/environment.ts';
import { KeyRing } from '#crypto/key-ring.ts';
import type { Database } from '#db/connection/database.ts';
import { verifyKeys } from '#db/connection/encryption-keys.ts';
import { findReconciliation } from '#db/money/reconciliations.ts';
import { adjustmentsSince } from '#db/money/wallet-movements.ts';
import { countOpenCases } from '#db/work/cases.ts';
import { connectClient } from '#temporal/connection.ts';
import { compareBooks } from '#temporal/schedules.ts';

export interface ReconcileOptions {
  readonly json?: boolean;
  /** How long to wait for the worker, in milliseconds. */
  readonly wait?: number;
}

/** Long enough for all pages of a large wallet, and for a worker that is starting. */
const WAIT_MS = 5 * 60_000;

/** Adjustments of this time are named again. */
const ADJUSTMENT_HOURS = 24;

/** Lines about what earlier comparisons have found, and about adjustments. */
async function linesOfOthers(database: Database, now: Date): Promise<string[]> {
  const since = new Date(now.getTime() - ADJUSTMENT_HOURS * 3_600_000);
  const [cases, adjustments] = await database.run((db) =>
    Promise.all([countOpenCases(db), adjustmentsSince(db, since)]),
  );
  return [...adjustmentLines(adjustments, ADJUSTMENT_HOURS), ...openCaseLines(cases)];
}

/**
 * `reseller reconcile`: makes a worker compare our books with the wallet at the service, and prints the report.
 *
 * @returns the exit code: 0 without findings (movements that are too young are not judged yet), 1 with findings, 2 when
 *   not everything was compared.
 * @throws UserError when no worker has compared them in time; ConfigurationError; errors of the database and of
 *   Temporal.
 */
export async function runReconcile(
  { json, wait = WAIT_MS }: ReconcileOptions,
  environment: Environment,
  output: Output = process.stdout,
): Promise<number> {
  const { temporal, keys, stored } = readTogether(environment, {
    temporal: readTemporalConfig,
    keys: readEncryptionKeys,
    stored: readDatabaseConfig,
  });
  return await withDatabase(stored.database.directUrl, 'reseller reconcile', async (database) => {
    const keyRing = new KeyRing(keys);
    // A worker could not decrypt input that is encrypted with another key.
    await database.run((db) => verifyKeys(db, keyRing));
    const client = await connectClient(temporal, keyRing);
    try {
      const result = await compareBooks(client, wait);
      if (result === undefined) {
        throw new UserError(
          `No worker has compared the books within ${wait / 1_000} s.`,
          'Check that a worker runs (/readyz on its port). A worker that starts later still compares them: see ' +
            'GET /v1/wallet/reconciliations.',
        );
      }
      const report = await database.run((db) => findReconciliation(db, result.id));
      if (report === undefined) {
        throw new UserError(
          `The worker has stored its report ${result.id} in another database.`,
          'Check that DATABASE_URL is the database of the worker.',
        );
      }
      if (json === true) printJson(output, reportJson(report));
      else printLines(output, [...reportLines(report), ...(await linesOfOthers(database, report.finishedAt))]);
      if (report.status !== 'complete') return 2;
      return report.counts.findings > 0 ? 1 : 0;
    } finally {
      await client.connection.close();
    }
  });
}
