import { DEBIT, noteAmounts, priceOf } from '#cli/sandbox-tour/amounts.ts';
import { lapse, until, type TourContext } from '#cli/sandbox-tour/context.ts';
import type { LegNotes } from '#cli/sandbox-tour/finding.ts';
import { noteCall } from '#cli/sandbox-tour/noting.ts';
import { observeCall, type CallObservation, type OpenObservations } from '#cli/sandbox-tour/observations.ts';
import type { BoughtEsim } from '#cli/sandbox-tour/purchases.ts';
import type { Money } from '#domain/money/money.ts';
import { counted } from '#domain/text.ts';
import type { OptionalResult, Listing } from '#upstream/client.ts';
import type { WalletTransaction } from '#upstream/contract.ts';
import { moneyOf } from '#upstream/mapping/wallet-movements.ts';

/**
 * Looks up bought orders in all ways that the product uses after a lost answer.
 *
 * @param listed price of their package.
 */
export async function lookUpLeg(
  context: TourContext,
  notes: LegNotes,
  observations: OpenObservations,
  [first, ...others]: readonly [BoughtEsim, ...BoughtEsim[]],
  listed: Money,
): Promise<void> {
  const { client } = context;
  const { id } = first.order;
  const read = observeCall(await client.getOrder(id), ({ esim_id: esimId }) =>
    esimId === first.esimId ? undefined : 'it contains another eSIM than the answer to the order, or none',
  );
  noteCall(context, notes, observations, 'order_read', read);
  const list = observeCall(await client.findOrdersByReference(first.reference), ({ items }) =>
    items.some((order) => order.id === id)
      ? undefined
      : 'it does not contain the new order under its external_order_id',
  );
  noteCall(context, notes, observations, 'order_list', list);
  await lookForDebits(context, notes, observations, [first, ...others], listed);
}

/** Waits until all debits are visible: they may appear late, and the check of cancellations needs them. */
async function lookForDebits(
  context: TourContext,
  notes: LegNotes,
  observations: OpenObservations,
  orders: readonly BoughtEsim[],
  listed: Money,
): Promise<void> {
  const { client, now, waitMs } = context;
  const startedAt = now();
  const missing = new Set(orders);
  const found: { readonly expected: Money; readonly actual: Money }[] = [];
  let refused: CallObservation | undefined;
  let reads = 0;
  await until(context, async () => {
    reads += 1;
    for (const order of missing) {
      const movements = await client.listWalletTransactions({ reference: order.reference });
      if (!movements.ok) {
        refused = observeCall(movements);
        return 'refused';
      }
      const debit = debitOf(movements, order);
      if (debit === undefined) continue;
      missing.delete(order);
      found.push({ expected: priceOf(listed, order.order), actual: moneyOf(debit) });
    }
    return missing.size === 0 ? 'seen' : undefined;
  });
  const step = 'the debits of the orders';
  const expected = 'seen in the wallet transactions at the first read';
  if (refused !== undefined) {
    noteCall(context, notes, observations, 'wallet_transactions', refused);
    return notes.skipped(step, expected, 'the movements cannot be read');
  }
  if (missing.size > 0) {
    observations.debitSeenAfterMs = null;
    const detail =
      `it did not contain ${missing.size} of ${counted(orders.length, 'debit')}, under order_id or ` +
      `external_order_id, after ${lapse(waitMs)}; --wait allows more time`;
    return noteCall(context, notes, observations, 'wallet_transactions', { kind: 'differs', detail });
  }
  const afterMs = reads === 1 ? 0 : now() - startedAt;
  observations.debitSeenAfterMs = afterMs;
  noteCall(context, notes, observations, 'wallet_transactions', {
    kind: 'works',
    detail: 'its answer matches the contract',
  });
  notes.expect(
    reads === 1,
    step,
    expected,
    reads === 1
      ? 'at the first read'
      : `${lapse(afterMs)} later: retries of failed purchases wait for at least twice that time`,
  );
  const compared = { ...DEBIT, step: 'the amounts of these debits' };
  noteAmounts(notes, observations, ['order'], compared, found);
}

function debitOf(
  movements: OptionalResult<Listing<WalletTransaction>>,
  { reference, order }: BoughtEsim,
): WalletTransaction | undefined {
  if (!movements.ok) return undefined;
  return movements.value.items.find(
    (item) => item.type === 'debit' && (item.external_order_id === reference || item.order_id === order.id),
  );
}
