import Big from 'big.js';
import type { EsimFacts } from '#simulator/sales/esim-facts.ts';
import type { EsimRecord } from '#simulator/store/esims.ts';
import type { LedgerEntry } from '#simulator/store/ledger.ts';
import type { SaleRecord } from '#simulator/store/sales.ts';
import type { RefundCondition } from '#upstream/contract.ts';

/** What is known about an eSIM when its cancellation is judged. */
export interface CancellationFacts {
  readonly esim: EsimRecord;
  readonly usage: EsimFacts;
  readonly completedTopups: number;
  readonly order: SaleRecord;
  /** Movements of the order, as far as they show by now. */
  readonly movements: readonly LedgerEntry[];
}

/** The conditions of an automatic refund (specification, States and transitions) that are not confirmed. */
export function unmetConditions(facts: CancellationFacts): RefundCondition[] {
  const { esim, usage, completedTopups } = facts;
  const confirmed: Readonly<Record<RefundCondition, boolean>> = {
    usage_is_zero: usage.usedMb === 0,
    never_installed: esim.installedAt === null,
    never_activated: esim.activatedAt === null,
    no_completed_topup: completedTopups === 0,
    debit_verified: isDebitVerified(facts),
  };
  return (Object.keys(confirmed) as RefundCondition[]).filter((condition) => !confirmed[condition]);
}

/** The result of a review. */
export type Verdict = 'accepted' | 'refused' | 'manual_review';

/** A person has to look where nothing was used, but the phone has the profile or the debit does not show (yet). */
const FOR_A_PERSON: ReadonlySet<RefundCondition> = new Set(['never_installed', 'debit_verified']);

/** What the conditions come to without a person. */
export function verdictOn(unmet: readonly RefundCondition[]): Verdict {
  if (unmet.length === 0) return 'accepted';
  return unmet.every((condition) => FOR_A_PERSON.has(condition)) ? 'manual_review' : 'refused';
}

/** What a person decides: a profile that was installed and never used is taken back, a debit nobody finds is not. */
export function verdictOfPerson(unmet: readonly RefundCondition[]): 'accepted' | 'refused' {
  return unmet.every((condition) => condition === 'never_installed') ? 'accepted' : 'refused';
}

/** One debit of the order's price, and nothing credited for it. */
function isDebitVerified({ order, movements }: CancellationFacts): boolean {
  const [debit, ...others] = movements;
  return others.length === 0 && debit?.type === 'debit' && new Big(debit.amount).eq(order.price);
}
