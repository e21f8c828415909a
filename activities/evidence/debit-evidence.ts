import { sinceFirstSend } from '#activities/purchases/purchase-report.ts';
import type { WorkHandler, WorkHandlers } from '#activities/purchases/work-handler.ts';
import type { WorkDependencies } from '#activities/work/work-dependencies.ts';
import type { EvidenceResult, PurchaseActivities } from '#activities/work/work-types.ts';
import { markSettled, findAttemptById } from '#db/attempts/attempts.ts';
import type { Executor } from '#db/connection/database.ts';
import { bookedMovements, recordMovement } from '#db/money/journal.ts';
import type { AttemptRow } from '#db/work/rows.ts';
import { addTimelineEntry } from '#db/work/timeline.ts';
import { equalMoney, type Money } from '#domain/money/money.ts';
import { isLookUpRetried } from '#domain/policy/workflow-policy.ts';
import { costNothing } from '#domain/purchase/purchase-decision.ts';
import type { WalletTransaction } from '#upstream/contract.ts';
import { countsInWallet, moneyOf } from '#upstream/mapping/wallet-movements.ts';

/** Makes the activity that reads the wallet for the cost of an attempt and updates our books (rules 3 and 7). */
export function createDebitEvidence(
  { database, service }: WorkDependencies,
  handlers: WorkHandlers,
): PurchaseActivities['readDebitEvidence'] {
  return async ({ work, attemptId }) => {
    const attempt = await database.run((db) => findAttemptById(db, attemptId));
    const answer = await service.listWalletTransactions({ since: sinceFirstSend(attempt) });
    if (!answer.ok) {
      const detail = answer.kind === 'failure' ? answer.detail : 'This service shows no wallet transactions.';
      const mayPass = answer.kind === 'failure' && isLookUpRetried(answer.failure);
      return { evidence: 'unavailable', detail, mayPass };
    }
    if (!answer.value.complete) {
      return {
        evidence: 'unavailable',
        detail: 'The wallet has more transactions since the attempt than can be read.',
      };
    }
    const { items } = answer.value;
    const debits = items.filter(({ type }) => type === 'debit');
    const mayBeOurs = (await handlers[work.kind].mayOwnOneOf?.(attempt, debits)) ?? false;
    return database.transaction(async (tx) => {
      const booked = await bookedMovements(tx, attempt.id);
      const { result, movements } = judge(handlers[work.kind], attempt, items, { ...booked, mayBeOurs });
      await writeBooks(tx, attempt, movements);
      // An unknown attempt is not settled: a request may still be on its way.
      if (costNothing(result.evidence) && attempt.state === 'failed') await markSettled(tx, attempt.id);
      await addTimelineEntry(tx, work, {
        event: 'attempt.wallet_checked',
        message: result.detail,
        detail: { attempt: attempt.number, evidence: result.evidence },
        // One entry for each result.
        dedupKey: `attempt.wallet_checked:${attempt.number}:${result.evidence}`,
      });
      return result;
    });
  };
}

interface Movements {
  readonly debits: readonly Money[];
  readonly credits: readonly Money[];
}

function judge(
  kind: WorkHandler,
  attempt: AttemptRow,
  transactions: readonly WalletTransaction[],
  booked: { readonly debit: boolean; readonly credit: boolean; readonly mayBeOurs: boolean },
): { result: EvidenceResult; movements: Movements } {
  const ours = transactions.filter((transaction) => kind.owns(attempt, transaction));
  const movements = {
    debits: ours.filter(({ type }) => type === 'debit').map(moneyOf),
    credits: ours.filter((each) => each.type === 'credit' && countsInWallet(each)).map(moneyOf),
  };
  // A booked debit was real: a wallet that no longer shows it is not trusted.
  const vanished = booked.debit && !booked.credit && movements.debits.length === 0;
  const isAnonymous = transactions.some((each) => each.type === 'debit' && kind.isAnonymous(each));
  const result = vanished ? DEBIT_VANISHED : weigh(movements, isAnonymous || booked.mayBeOurs);
  return { result, movements };
}

const DEBIT_VANISHED: EvidenceResult = {
  evidence: 'unavailable',
  detail:
    'Our journal has a debit for this attempt, but the wallet shows none. This does not prove that the ' +
    'attempt cost nothing.',
};

function weigh({ debits, credits }: Movements, anonymousDebits: boolean): EvidenceResult {
  const [debit] = debits;
  if (debit !== undefined) {
    const uncredited = debits.length - credits.filter((credit) => equalMoney(credit, debit)).length;
    return uncredited <= 0
      ? {
          evidence: 'credited',
          detail: `The wallet shows the debit of ${debit.amount} ${debit.currency} and its credit.`,
        }
      : {
          evidence: 'debited',
          detail: `The wallet shows a debit of ${debit.amount} ${debit.currency} and no credit for it.`,
        };
  }
  if (anonymousDebits) {
    return {
      evidence: 'unavailable',
      detail: 'The wallet shows debits that may belong to this attempt, because they name no known purchase.',
    };
  }
  return { evidence: 'no_debit', detail: 'The wallet shows no debit for this attempt.' };
}

async function writeBooks(tx: Executor, attempt: AttemptRow, { debits, credits }: Movements): Promise<void> {
  const [debit] = debits;
  const [credit] = credits;
  if (debit !== undefined) await recordMovement(tx, { direction: 'debit', attemptId: attempt.id, money: debit });
  if (credit !== undefined) await recordMovement(tx, { direction: 'credit', attemptId: attempt.id, money: credit });
}
