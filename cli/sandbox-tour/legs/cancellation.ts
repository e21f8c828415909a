import { DEBIT, noteAmounts, priceOf } from '#cli/sandbox-tour/amounts.ts';
import { type Leg, type Step, until } from '#cli/sandbox-tour/leg.ts';
import { type Bought, PURPOSES, type Purpose } from '#cli/sandbox-tour/legs/orders.ts';
import { clause, noteCall, noteRepeat, observeCall } from '#cli/sandbox-tour/observations.ts';
import { type BoughtEsim, follow } from '#cli/sandbox-tour/purchases.ts';
import type { Money } from '#domain/money/money.ts';
import type { ServiceResult } from '#upstream/client/error-mapping.ts';
import type { EsimCancellation, SimulatedState } from '#upstream/contract.ts';
import { isFinalMovement, isOfOrder, moneyOf } from '#upstream/mapping/wallet-movements.ts';

const REFUND_RESULTS = ['accepted', 'refused', 'manual review'] as const;
type RefundResult = (typeof REFUND_RESULTS)[number];

export interface CancellationInput {
  readonly esims: Bought['esims'];
  readonly listed: Money;
  readonly simulated: ReadonlySet<SimulatedState>;
  readonly recharged: boolean;
}

export async function cancellationLeg(
  leg: Leg,
  { esims, listed, simulated, recharged }: CancellationInput,
): Promise<void> {
  const seen = new Set<RefundResult>();
  for (const purpose of PURPOSES) {
    const step = leg.step(`an eSIM is cancelled that is ${purpose}`, EXPECTED[purpose].text);
    const esim = esims[purpose];
    const ready = purpose === 'untouched' || (purpose === 'recharged' ? recharged : simulated.has(purpose));
    if (esim === undefined || !ready) {
      step.skipped(`there is no eSIM that is ${purpose}`);
      continue;
    }
    const result = await cancel(leg, step, purpose, { ...esim, paid: priceOf(listed, esim.order) });
    if (result !== undefined) seen.add(result);
  }
  for (const result of REFUND_RESULTS) {
    const step = leg.step(`the refund result "${result}"`, 'the sandbox produces it');
    if (seen.has(result)) step.ok('seen');
    else step.skipped('no cancellation of the tour had it');
  }
}

/** Only an eSIM that meets all five conditions of the specification may be refunded automatically. */
const EXPECTED: Readonly<Record<Purpose, { readonly text: string; readonly results: readonly RefundResult[] }>> = {
  untouched: { text: 'accepted: all five conditions are met', results: ['accepted'] },
  installed: { text: 'no automatic refund: it was installed', results: ['refused', 'manual review'] },
  active: { text: 'no automatic refund: it was activated', results: ['refused', 'manual review'] },
  consumed: { text: 'no automatic refund: it was used', results: ['refused', 'manual review'] },
  recharged: { text: 'no automatic refund: it has a completed top-up', results: ['refused', 'manual review'] },
};

interface PaidEsim extends BoughtEsim {
  readonly paid: Money;
}

async function cancel(leg: Leg, step: Step, purpose: Purpose, esim: PaidEsim): Promise<RefundResult | undefined> {
  const { client, now, newId } = leg;
  const request = { idempotencyKey: newId(), esimId: esim.esimId };
  const sentAtMs = now();
  const answer = await client.cancelEsim(request);
  const result = resultOf(answer);
  if (result === undefined) {
    step.failed(answer.ok ? `cancellation ${answer.value.status}, without a review` : clause(answer.detail));
    return undefined;
  }
  const how = answer.ok ? '' : ', answered as an error (cancellation_refused)';
  const holds = step.expect(EXPECTED[purpose].results.includes(result), `${result}${how}`);
  if (purpose === 'untouched' && answer.ok) {
    await lookAtRefund(leg, esim, answer.value, holds);
    const refundId = answer.value.refund?.id;
    const ageMs = now() - sentAtMs;
    const again = await client.cancelEsim(request);
    noteRepeat(leg, 'cancellation', ageMs, again, ({ refund }) => refund?.id === refundId);
  }
  return result;
}

function resultOf(answer: ServiceResult<EsimCancellation>): RefundResult | undefined {
  if (!answer.ok) return answer.code === 'cancellation_refused' ? 'refused' : undefined;
  const { status, refund } = answer.value;
  if (refund?.review === 'manual_review') return 'manual review';
  if (status === 'refused' || refund?.review === 'refused') return 'refused';
  return status === 'cancelled' || refund?.review === 'accepted' ? 'accepted' : undefined;
}

async function lookAtRefund(leg: Leg, esim: PaidEsim, { refund }: EsimCancellation, accepted: boolean): Promise<void> {
  const { client } = leg;
  const { esimId, paid } = esim;
  const find = () => client.findRefundsOfEsim(esimId);
  if (refund == null) {
    leg.step('GET /refunds/{id}', 'the service has it').skipped('the cancellation names no refund');
  } else {
    noteCall(leg, 'refund_read', observeCall(await client.getRefund(refund.id)));
  }
  const list = observeCall(await find(), ({ items }) =>
    refund == null || items.some(({ id }) => id === refund.id)
      ? undefined
      : 'the list does not contain the refund of this cancellation',
  );
  noteCall(leg, 'refund_list', list);
  if (!accepted) return;

  if (refund != null) {
    const { status, amount, currency } = await follow(leg, refund, () => client.getRefund(refund.id), find);
    leg.step('its refund', 'completed').expect(status === 'completed', status);
    if (amount != null) {
      const actual = { amount, currency: currency ?? paid.currency };
      noteAmounts(leg, ['order'], REFUND, [{ expected: paid, actual }]);
    }
  }
  await lookForCredit(leg, esim);
  const read = await client.getEsim(esimId);
  const step = leg.step('its eSIM', 'a read that says cancelled');
  if (read.ok) step.expect(read.value.status === 'cancelled', `the read says ${read.value.status}`);
  else step.failed(clause(read.detail));
}

const REFUND = { step: 'its amount', expected: 'the price of the order,', call: 'GET /refunds/{id}', field: 'amount' };

/** A pending credit is no refund yet. */
async function lookForCredit(leg: Leg, { reference, order, paid }: PaidEsim): Promise<void> {
  const step = leg.step('its money', 'a final credit in the wallet transactions');
  if (leg.observations.calls.wallet_transactions?.kind !== 'works') return step.skipped('the movements cannot be read');
  let pending = false;
  const credit = await until(leg, async () => {
    const movements = await leg.client.listWalletTransactions({ reference });
    if (!movements.ok) return undefined;
    const named = { serviceId: order.id, reference };
    const own = movements.value.items.filter((item) => item.type === 'credit' && isOfOrder(named, item));
    pending = own.length > 0;
    return own.find(isFinalMovement);
  });
  if (credit === undefined) return step.drift(pending ? 'only a pending credit' : 'no credit that names the order');
  const compared = { ...DEBIT, step: 'its money', expected: 'a credit in the wallet transactions of' };
  noteAmounts(leg, ['order'], compared, [{ expected: paid, actual: moneyOf(credit) }]);
}
