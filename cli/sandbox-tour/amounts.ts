import { type Leg, type LegRecord, until } from '#cli/sandbox-tour/leg.ts';
import { notePurchase } from '#cli/sandbox-tour/observations.ts';
import {
  type Money,
  compareAmounts,
  isOtherMoney,
  negateMoney,
  plainText,
  subtractMoney,
  sumByCurrency,
} from '#domain/money/money.ts';
import { PURCHASE_KINDS, type PurchaseKind } from '#domain/work/kinds.ts';
import type { WalletTransaction } from '#upstream/contract.ts';
import { CLOCK_SKEW_MS, moneyOf } from '#upstream/mapping/wallet-movements.ts';

interface Compared {
  readonly step: string;
  readonly expected: string;
  readonly call: string;
  readonly field: string;
}

/** Another unit or currency makes amounts unintelligible: purchases of these kinds count as not seen. */
export function noteAmounts(
  leg: LegRecord,
  kinds: readonly PurchaseKind[],
  { step, expected, call, field }: Compared,
  pairs: readonly { readonly expected: Money; readonly actual: Money }[],
): void {
  const compared = pairs.map((pair) => ({ ...pair, result: compareAmounts(pair.expected, pair.actual) }));
  const other = compared.find(({ result }) => isOtherMoney(result));
  const shown = other ?? compared.find(({ result }) => result !== 'equal') ?? compared[0];
  if (shown === undefined) return;
  const [wanted, seen] = [plainText(shown.expected), plainText(shown.actual)];
  leg.step(step, `${expected} ${wanted}`).expect(shown.result === 'equal', seen);
  if (other === undefined) return;
  const named = other.result === 'other_currency' ? 'currency' : field;
  const detail = `${call}: ${named} differs: ${seen} for ${wanted}`;
  for (const kind of kinds) notePurchase(leg, kind, { kind: 'differs', detail });
}

const BUYS = {
  order: 'POST /orders',
  topup: 'POST /topups',
  vpn_subscription: 'POST /vpn/orders',
} as const satisfies Record<PurchaseKind, string>;

/** The specification does not promise a price in the answer. @returns the charged price, else the listed one. */
export function notePrice(
  leg: LegRecord,
  kind: PurchaseKind,
  listed: { readonly price_for_reseller: string; readonly currency: string },
  charged: Charged,
): Money {
  const price = { amount: listed.price_for_reseller, currency: listed.currency };
  const [step, expected] = ['the price charged', 'the listed'];
  if (charged.price_for_reseller == null) {
    leg.step(step, `${expected} ${plainText(price)}`).skipped('the answer has no price');
    return price;
  }
  const actual = priceOf(price, charged);
  const compared = { step, expected, call: BUYS[kind], field: 'price_for_reseller' };
  noteAmounts(leg, [kind], compared, [{ expected: price, actual }]);
  return actual;
}

interface Charged {
  readonly price_for_reseller?: string | null | undefined;
  readonly currency?: string | null | undefined;
}

export function priceOf(listed: Money, { price_for_reseller: amount, currency }: Charged): Money {
  return amount == null ? listed : { amount, currency: currency ?? listed.currency };
}

export const DEBIT = { step: 'its debit', expected: 'the price,', call: 'GET /wallet/transactions', field: 'amount' };

export async function noteDebit(
  leg: Leg,
  kind: PurchaseKind,
  price: Money,
  isOf: (debit: WalletTransaction) => boolean,
): Promise<void> {
  const step = leg.step(DEBIT.step, `${DEBIT.expected} ${plainText(price)}`);
  if (leg.observations.calls.wallet_transactions?.kind !== 'works') return step.skipped('the movements cannot be read');
  // The product also reads from some minutes before its first send.
  const since = leg.now() - CLOCK_SKEW_MS;
  const debit = await until(leg, async () => {
    const movements = await leg.client.listWalletTransactions({ since });
    return movements.ok ? movements.value.items.find((item) => item.type === 'debit' && isOf(item)) : undefined;
  });
  if (debit === undefined) return step.drift('no debit that names it');
  noteAmounts(leg, [kind], DEBIT, [{ expected: price, actual: moneyOf(debit) }]);
}

/** `movements` undefined: they cannot be read completely. */
export interface WalletSeen {
  readonly balance: Money;
  readonly movements: readonly WalletTransaction[] | undefined;
}

/** Compares the lost balance with the sum of the movements of that time. */
export function noteSpent(leg: LegRecord, before: WalletSeen, after: WalletSeen): void {
  const [step, expected] = ['what the balance lost', 'the sum of the movements,'];
  if (before.movements === undefined || after.movements === undefined)
    return leg.step(step, expected).skipped('the movements cannot be read completely');
  const known = new Set(before.movements.map(({ id }) => id));
  const moved = after.movements.filter(({ id }) => !known.has(id));
  const sums = sumByCurrency(moved.map((each) => (each.type === 'debit' ? moneyOf(each) : negateMoney(moneyOf(each)))));
  const sum = sums.find(({ currency }) => currency === after.balance.currency) ?? sums[0];
  if (sum === undefined || before.balance.currency !== after.balance.currency)
    return leg.step(step, expected).skipped('nothing moved');
  const lost = subtractMoney(before.balance, after.balance);
  const result = compareAmounts(sum, lost);
  // Others may use the sandbox at the same time.
  if (result === 'differs')
    return leg.step(step, `${expected} ${plainText(sum)}`).skipped(`${plainText(lost)}, which proves nothing`);
  const compared = { step, expected, call: 'GET /wallet', field: 'balance' };
  noteAmounts(leg, PURCHASE_KINDS, compared, [{ expected: sum, actual: lost }]);
}
