import { DEBIT, noteAmounts, priceOf } from '#cli/sandbox-tour/amounts.ts';
import { type Leg, until } from '#cli/sandbox-tour/leg.ts';
import { debitsOf } from '#cli/sandbox-tour/legs/wallet.ts';
import { type CallObservation, clause, noteCall, notePurchase, observeCall } from '#cli/sandbox-tour/observations.ts';
import type { BoughtEsim } from '#cli/sandbox-tour/purchases.ts';
import { lapse } from '#cli/terminal/output.ts';
import type { Money } from '#domain/money/money.ts';
import { counted } from '#domain/text.ts';
import { moneyOf } from '#upstream/mapping/wallet-movements.ts';

export async function deliveryLeg(leg: Leg, { esimId, order }: BoughtEsim): Promise<void> {
  const { client } = leg;
  const step = leg.step('GET /esims/{id}', 'an activation code');
  const esim = await client.getEsim(esimId);
  if (esim.ok) {
    const { iccid, status, misstated = [], order_id: orderId } = esim.value;
    const readable = esim.value.activation_code != null;
    const untouched = esim.value.installed_at == null && esim.value.activated_at == null;
    const problem = misstated.includes('activation_code')
      ? 'an activation code without LPA:1$address$id'
      : 'an eSIM whose activation code is not filled yet';
    const seen: CallObservation = readable
      ? { kind: 'works', detail: 'one was completed, and its eSIM was read' }
      : { kind: 'differs', detail: `one was completed with ${problem}` };
    notePurchase(leg, 'order', seen);
    step.expect(readable, readable ? 'an activation code' : problem);
    leg.step('its ICCID', 'stated').expect(iccid != null, iccid == null ? 'none that can be read' : 'stated');
    leg
      .step('its order', 'the order that was placed')
      .expect(orderId == null || orderId === order.id, orderId == null ? 'none named' : 'named');
    leg.step('its state', 'neither installed nor activated').expect(untouched, `it is ${status}`);
  } else {
    notePurchase(leg, 'order', observeCall(esim));
    step.failed(clause(esim.detail));
  }
  const usage = observeCall(await client.getEsimUsage(esimId), ({ data_used_mb: used }) =>
    used === 0 ? undefined : `it reports ${used} MB used for an unused eSIM`,
  );
  noteCall(leg, 'esim_usage', usage);
}

/** Uses all ways that the product uses after a lost answer. */
export async function lookUpLeg(
  leg: Leg,
  orders: readonly [BoughtEsim, ...BoughtEsim[]],
  listed: Money,
): Promise<void> {
  const { client } = leg;
  const [first] = orders;
  const { id } = first.order;
  const read = observeCall(await client.getOrder(id), ({ esim_id: esimId }) =>
    esimId === first.esimId ? undefined : 'it contains another eSIM than the answer to the order, or none',
  );
  noteCall(leg, 'order_read', read);
  const list = observeCall(await client.findOrdersByReference(first.reference), ({ items }) =>
    items.some((order) => order.id === id)
      ? undefined
      : 'it does not contain the new order under its external_order_id',
  );
  noteCall(leg, 'order_list', list);
  await lookForDebits(leg, orders, listed);
}

/** Debits may appear late, and the check of cancellations needs them. */
async function lookForDebits(leg: Leg, orders: readonly BoughtEsim[], listed: Money): Promise<void> {
  const { client, now, waitMs } = leg;
  const startedAt = now();
  const missing = new Set(orders);
  const found: { readonly expected: Money; readonly actual: Money }[] = [];
  let refused: CallObservation | undefined;
  let reads = 0;
  await until(leg, async () => {
    reads += 1;
    for (const order of missing) {
      const movements = await client.listWalletTransactions({ reference: order.reference });
      if (!movements.ok) {
        refused = observeCall(movements);
        return 'refused';
      }
      const [debit] = debitsOf([order], movements.value.items);
      if (debit === undefined) continue;
      missing.delete(order);
      found.push({ expected: priceOf(listed, order.order), actual: moneyOf(debit) });
    }
    return missing.size === 0 ? 'seen' : undefined;
  });
  const step = leg.step('the debits of the orders', 'seen in the wallet transactions at the first read');
  if (refused !== undefined) {
    noteCall(leg, 'wallet_transactions', refused);
    return step.skipped('the movements cannot be read');
  }
  if (missing.size > 0) {
    leg.observations.debitSeenAfterMs = null;
    const detail =
      `it did not contain ${missing.size} of ${counted(orders.length, 'debit')}, under order_id or ` +
      `external_order_id, after ${lapse(waitMs)}; --wait allows more time`;
    return noteCall(leg, 'wallet_transactions', { kind: 'differs', detail });
  }
  const afterMs = reads === 1 ? 0 : now() - startedAt;
  leg.observations.debitSeenAfterMs = afterMs;
  noteCall(leg, 'wallet_transactions', { kind: 'works', detail: 'its answer matches the contract' });
  const late = `${lapse(afterMs)} later: retries of failed purchases wait for at least twice that time`;
  step.expect(reads === 1, reads === 1 ? 'at the first read' : late);
  noteAmounts(leg, ['order'], { ...DEBIT, step: 'the amounts of these debits' }, found);
}
