import { reconciliationJson } from '#api/money/reconciliations.ts';
import type { ReconciliationRow } from '#db/money/reconciliations.ts';
import type { Adjustments } from '#db/money/wallet-movements.ts';
import { counted } from '#domain/counted.ts';
import { FINDING_KINDS, findingKinds, isFindingCase, type ReconciliationStatus } from '#domain/money/books.ts';
import type { Finding } from '#domain/money/findings.ts';
import { plainAmount } from '#domain/money/money.ts';
import type { AttentionReason } from '#domain/work/attention.ts';

/** The report in the JSON form of the API. */
export const reportJson = reconciliationJson;

const HEADLINES = {
  complete: 'Our books were compared with the wallet at the service.',
  incomplete: 'Our books were compared with only a part of the wallet.',
  unsupported: 'Our books could not be compared with the wallet.',
  unavailable: 'The wallet could not be read.',
} as const satisfies Record<ReconciliationStatus, string>;

const NOTHING_SO_FAR = 'Nothing was found so far. A later comparison checks recent movements.';

/** Instead of "nothing was found", when the wallet was not read as a whole. */
const NOTHING_FOUND: Partial<Record<ReconciliationStatus, string>> = {
  incomplete: 'Nothing was found in the part that was compared. The rest is not known.',
  unsupported: 'Nothing was compared: nothing is known about movements since the last complete comparison.',
  unavailable:
    'Nothing was compared: nothing is known about movements since the last complete comparison. ' +
    'Repeat the command when the service answers.',
};

/** The report as text. */
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

/** Lines about open cases of this and of earlier comparisons, whose findings are not reported again. */
export function openCaseLines(open: readonly { readonly reason: AttentionReason; readonly count: number }[]): string[] {
  return open
    .filter(({ reason }) => isFindingCase(reason))
    .map(({ reason, count }) => `Open cases ${reason}: ${count}. See \`npx reseller cases list --reason ${reason}\`.`);
}

/** Lines about adjustments: the books are equal with them, but money has moved for no purchase. */
export function adjustmentLines(adjustments: readonly Adjustments[], hours: number): string[] {
  return adjustments.map(({ direction, amount, currency, count }) => {
    return (
      `Adjustments in the last ${counted(hours, 'hour')}: ${counted(count, direction)}, ${amount} ${currency}. ` +
      'See `npx reseller wallet transactions --cause adjustment`.'
    );
  });
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
    return [NOTHING_FOUND[status] ?? (isWaiting ? NOTHING_SO_FAR : 'Nothing was found.')];
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
