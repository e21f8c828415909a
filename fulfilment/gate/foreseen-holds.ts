import type { Executor } from '#db/connection/database.ts';
import { readAccount } from '#db/gate/account.ts';
import { listCircuits } from '#db/gate/circuits.ts';
import { activePauses } from '#db/gate/pauses.ts';
import { CIRCUITS } from '#domain/gate/circuit.ts';
import { judgeReservation, spendDay, spendProblem } from '#domain/gate/purchase-gate.ts';
import type { Money } from '#domain/money/money.ts';
import type { FailureClass } from '#domain/work/failure.ts';
import type { WorkKind } from '#domain/work/kinds.ts';
import { pauseFor } from '#fulfilment/gate/pauses.ts';

/** A purchase that is not requested yet. */
export interface PossiblePurchase {
  readonly kind: WorkKind;
  readonly price: Money;
  /** Owner of the daily limit: the first key of the lineage. */
  readonly apiKeyId: string;
}

/**
 * The reasons for which the purchase gate would hold a new purchase now, by the same comparisons that it makes itself.
 * Nothing is reserved, so the answer may differ when the purchase is sent.
 *
 * @param spendLimit daily limit of all keys together.
 * @param now epoch milliseconds.
 */
export async function foreseenHolds(
  db: Executor,
  { kind, price, apiKeyId }: PossiblePurchase,
  { spendLimit, now }: { readonly spendLimit: Money | undefined; readonly now: number },
): Promise<readonly FailureClass[]> {
  const account = await readAccount(db, { day: spendDay(now), apiKeyId, currency: price.currency });
  const spent = (amount: Money, limit: Money | undefined) =>
    limit !== undefined && spendProblem(price, { limit, spent: amount, whose: '' }) !== undefined;
  const holds = new Set<FailureClass>();
  if (pauseFor(await activePauses(db), kind, []) !== undefined) holds.add('purchases_paused');
  for (const { name, state } of await listCircuits(db)) if (state !== 'closed') holds.add(CIRCUITS[name].heldAs);
  if (account.wallet !== undefined) {
    const funds = { balance: account.wallet.balance, reserved: account.reserved };
    if (judgeReservation(price, funds).kind === 'short') holds.add('insufficient_balance');
  }
  if (spent(account.spentByKey, account.keyLimit) || spent(account.spent, spendLimit)) holds.add('spend_limit_reached');
  return [...holds];
}
