/** The wallet in each dialect: which debits its list shows, and what a reading proves about an attempt. */
import type { DebitEvidence } from '#domain/purchase/purchase-decision.ts';
import type { Dialect } from '#test/model-check/dialects.ts';
import type { Offer } from '#test/model-check/engine.ts';
import { debitsOf } from '#test/model-check/participants/service.ts';
import type { Rules } from '#test/model-check/rules.ts';
import type { ServicePurchase, State } from '#test/model-check/state.ts';

/** The balance before the first send; each purchase costs 1. */
const BALANCE = 100;
const usd = (amount: number) => ({ amount: String(amount), currency: 'USD' });

/** Reads the wallet for a failed attempt. The balance moves at once; the list may lack a debit, or all rows. */
export function walletEvidence(
  state: State,
  { wallet }: Dialect,
  { judgeAbsence }: Pick<Rules, 'judgeAbsence'>,
  attempt: number,
): DebitEvidence {
  if (wallet === 'unreadable') return 'unavailable';
  const shown = state.purchases.filter((purchase, index) => isShown(state, wallet, purchase, index));
  const own = shown.filter((purchase) => purchase.attempt === attempt);
  if (own.some((purchase) => purchase.state !== 'paid_back')) return 'debited';
  if (own.length > 0) return 'credited';
  const rows = shown.flatMap((purchase) => {
    const debit = { direction: 'debit', money: usd(1) } as const;
    return purchase.state === 'paid_back' ? [debit, { direction: 'credit', money: usd(1) } as const] : [debit];
  });
  const absence = judgeAbsence({
    reading: {
      id: 2,
      beganAt: 0,
      balance: usd(BALANCE - debitsOf(state)),
      // A shifted filter shows no row, and calls that the whole list.
      isWhole: true,
      reachesBackTo: wallet === 'shifts' ? undefined : 1,
    },
    before: 1,
    currencies: ['USD'],
    hadRows: true,
    base: { id: 1, balance: usd(BALANCE) },
    since: rows,
    suspect: undefined,
    laterDebit: undefined,
  });
  return absence.isProven ? 'no_debit' : 'awaited';
}

function isShown({ listed }: State, wallet: Dialect['wallet'], { state }: ServicePurchase, index: number): boolean {
  if (state === 'none') return false;
  return wallet === 'shows' || (wallet === 'delays' && (listed & (1 << index)) !== 0);
}

/** A list that shows debits late. */
export function walletActions(state: State, { wallet }: Dialect, offer: Offer): void {
  if (wallet !== 'delays') return;
  for (const [index, { state: at, attempt }] of state.purchases.entries()) {
    if (at === 'none' || (state.listed & (1 << index)) !== 0) continue;
    const text = `the wallet lists the debit of attempt ${attempt + 1}`;
    offer('step', text, (next) => void (next.listed |= 1 << index));
  }
}
