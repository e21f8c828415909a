import { reconciliationJson } from '#api/money/reconciliations.ts';
import { withDatabase } from '#cli/set-up/command-database.ts';
import { printJson, printLines } from '#cli/terminal/output.ts';
import { UserError } from '#cli/terminal/user-error.ts';
import { readParts } from '#config/config.ts';
import type { Environment } from '#config/environment.ts';
import { KeyRing } from '#crypto/key-ring.ts';
import type { Database } from '#db/connection/database.ts';
import { verifyKeys } from '#db/connection/encryption-keys.ts';
import { findReconciliation, type ReconciliationRow } from '#db/money/reconciliations.ts';
import { adjustmentsSince } from '#db/money/wallet-movements.ts';
import { countOpenCases } from '#db/work/cases.ts';
import { FINDING_KINDS, findingKinds, isFindingCase, type ReconciliationStatus } from '#domain/money/books.ts';
import type { Finding } from '#domain/money/findings.ts';
import { plainAmount } from '#domain/money/money.ts';
import { counted } from '#domain/text.ts';
import type { AttentionReason } from '#domain/work/attention.ts';
import { connectClient } from '#temporal/connection.ts';
import { compareBooks } from '#temporal/schedules.ts';

/** A large wallet has many pages, and a worker may be starting. */
const WAIT_MS = 5 * 60_000;

const ADJUSTMENT_HOURS = 24;

/**
 * @returns 0 without findings, 1 with findings, 2 when not everything was compared.
 * @throws UserError when no worker has compared them in time.
 */
export async function runReconcile(
  { json, wait = WAIT_MS }: { readonly json?: boolean; readonly wait?: number },
  environment: Environment,
): Promise<number> {
  const parts = readParts(['temporal', 'encryptionKeys', 'database'], environment);
  return await withDatabase(parts.database.directUrl, 'reseller reconcile', async (database) => {
    const keyRing = new KeyRing(parts.encryptionKeys);
    // A worker cannot decrypt input that is encrypted with another key.
    await database.run((db) => verifyKeys(db, keyRing));
    const client = await connectClient(parts.temporal, keyRing);
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
      if (json === true) printJson(process.stdout, reconciliationJson(report));
      else printLines(process.stdout, [...reportLines(report), ...(await linesOfOthers(database, report.finishedAt))]);
      if (report.status !== 'complete') return 2;
      return report.counts.findings > 0 ? 1 : 0;
    } finally {
      await client.connection.close();
    }
  });
}

const HEADLINES = {
  complete: 'Our books were compared with the wallet at the service.',
  incomplete: 'Our books were compared with only a part of the wallet.',
  unsupported: 'Our books could not be compared with the wallet.',
  unavailable: 'The wallet could not be read.',
} as const satisfies Record<ReconciliationStatus, string>;

const NOTHING_COMPARED = 'Nothing was compared: nothing is known about movements since the last complete comparison.';

/** When the wallet was not read as a whole, "nothing was found" would be wrong. */
const NOTHING_FOUND: Partial<Record<ReconciliationStatus, string>> = {
  incomplete: 'Nothing was found in the part that was compared. The rest is not known.',
  unsupported: NOTHING_COMPARED,
  unavailable: `${NOTHING_COMPARED} Repeat the command when the service answers.`,
};

export function reportLines(report: ReconciliationRow): string[] {
  const { status, detail, counts, sums, id, readSince } = report;
  return [
    HEADLINES[status],
    `  ${detail}`,
    '',
    `  report          ${id}`,
    `  read since      ${readSince.toISOString()}`,
    `  movements       ${counts.read} read, ${counts.new} new, ${counts.matched} matched, ` +
      `${counted(counts.booked, 'row')} booked`,
    `  waiting         ${counts.pending} too recent, ${counted(counts.outstanding, 'journal row')} not shown yet, ` +
      `${counts.unmatched} without a cause`,
    `  balance         ${balanceText(report)}`,
    ...sums.map(
      ({ currency, credits, debits, journal }) =>
        `  journal         ${plainAmount(credits)} in, ${plainAmount(debits)} out: ${plainAmount(journal)} ${currency}`,
    ),
    '',
    ...findingLines(report),
  ];
}

/** Findings of open cases are not reported again. */
export function openCaseLines(open: readonly { readonly reason: AttentionReason; readonly count: number }[]): string[] {
  return open
    .filter(({ reason }) => isFindingCase(reason))
    .map(({ reason, count }) => `Open cases ${reason}: ${count}. See \`npx reseller cases list --reason ${reason}\`.`);
}

async function linesOfOthers(database: Database, now: Date): Promise<string[]> {
  const since = new Date(now.getTime() - ADJUSTMENT_HOURS * 3_600_000);
  const [cases, adjustments] = await database.run((db) =>
    Promise.all([countOpenCases(db), adjustmentsSince(db, since)]),
  );
  // The books are equal with adjustments, but money has moved for no purchase.
  const adjusted = adjustments.map(
    ({ direction, amount, currency, count }) =>
      `Adjustments in the last ${counted(ADJUSTMENT_HOURS, 'hour')}: ${counted(count, direction)}, ${amount} ` +
      `${currency}. See \`npx reseller wallet transactions --cause adjustment\`.`,
  );
  return [...adjusted, ...openCaseLines(cases)];
}

function balanceText({ balance, balanceCurrency, expectedBalance }: ReconciliationRow): string {
  if (balance === null || balanceCurrency === null) return 'could not be read';
  const expected =
    expectedBalance === null ? 'no sum to compare' : `the sum of its movements is ${plainAmount(expectedBalance)}`;
  return `${plainAmount(balance)} ${balanceCurrency}, ${expected}`;
}

function findingLines({ status, findings, findingCounts, counts }: ReconciliationRow): string[] {
  if (counts.findings === 0) {
    const isWaiting = counts.pending > 0 || counts.outstanding > 0;
    const found = isWaiting
      ? 'Nothing was found so far. A later comparison checks recent movements.'
      : 'Nothing was found.';
    return [NOTHING_FOUND[status] ?? found];
  }
  const lines = findingKinds.flatMap((kind) => {
    const ofKind = findings.filter((each) => each.kind === kind);
    const count = findingCounts[kind] ?? 0;
    if (count === 0) return [];
    return [`${kind} (${count}): ${FINDING_KINDS[kind]}`, ...ofKind.map((each) => `  ${findingText(each)}`)];
  });
  const left = counts.findings - findings.length;
  return [...lines, ...(left > 0 ? [`… and ${left} more, which the report does not list.`] : [])];
}

function findingText({ detail, movementId, work }: Finding): string {
  const names = [
    ...(movementId === undefined ? [] : [`service ${movementId}`]),
    ...(work === undefined ? [] : [`${work.kind} ${work.id}`]),
  ];
  return `${detail}${names.length === 0 ? '' : ` [${names.join(', ')}]`}`;
}
