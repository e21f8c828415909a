/** The former proof of absence; see the workers that use it. */
import type {
  evidenceDelayMs as delayByWhatWasSeen,
  judgeAbsence as judgesByTheReading,
} from '#domain/money/absence.ts';

export * from '#domain/money/absence.ts';

/** A list without the debit is the proof, whatever the list contains. */
export const judgeAbsence: typeof judgesByTheReading = () => ({
  isProven: true,
  by: 'ledger',
  detail: 'The wallet shows no debit for this attempt.',
});

export const evidenceDelayMs: typeof delayByWhatWasSeen = () => 0;
