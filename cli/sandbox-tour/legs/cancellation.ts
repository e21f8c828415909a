import { noteAmounts, priceOf } from '#cli/sandbox-tour/amounts.ts';
import { type Leg, until } from '#cli/sandbox-tour/leg.ts';
import { type Bought, PURPOSES, type Purpose } from '#cli/sandbox-tour/legs/orders.ts';
import {
  type KeyRepeat,
  clause,
  noteCall,
  noteRepeat,
  observeCall,
  observeRefusal,
} from '#cli/sandbox-tour/observations.ts';
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
    const step = `an eSIM is cancelled that is ${purpose}`;
    const esim = esims[purpose];
    const ready = purpose === 'untouched' || (purpose === 'recharged' ? recharged : simulated.has(purpose));
    if (esim === undefined || !ready) {
      leg.skipped(step, EXPECTED[purpose].text, `there is no eSIM that is ${purpose}`);
      continue;
    }
    const result = await cancel(leg, step, purpose, {
      ...esim,
      paid: priceOf(listed, esim.order),
    });
    if (result !== undefined) seen.add(result);
  }
  for (const result of REFUND_RESULTS) {
    const step = `the refund result "${result}"`;
    if (seen.has(result)) leg.ok(step, 'the sandbox produces it', 'seen');
    else leg.skipped(step, 'the sandbox produces it', 'no cancellation of the tour had it');
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

async function cancel(leg: Leg, step: string, purpose: Purpose, esim: PaidEsim): Promise<RefundResult | undefined> {
  const { client, now, newId } = leg;
  const { text: expected, results } = EXPECTED[purpose];
  const request = { idempotencyKey: newId(), esimId: esim.esimId };
  const sentAtMs = now();
  const answer = await client.cancelEsim(request);
  const result = resultOf(answer);
  if (result === undefined) {
    leg.failed(
      step,
      expected,
      answer.ok ? `cancellation ${answer.value.status}, without a review` : clause(answer.detail),
    );
    return undefined;
  }
  const how = answer.ok ? '' : ', answered as an error (cancellation_refused)';
  const holds = leg.expect(results.includes(result), step, expected, `${result}${how}`);
  if (purpose === 'untouched' && answer.ok) {
    await lookAtRefund(leg, esim, answer.value, holds);
    noteRepeat(leg, observeSecond(answer.value, now() - sentAtMs, await client.cancelEsim(request)));
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

function observeSecond(first: EsimCancellation, ageMs: number, result: ServiceResult<EsimCancellation>): KeyRepeat {
  const operation = 'cancellation';
  if (!result.ok) return { operation, ageMs, outcome: observeRefusal(result), detail: clause(result.detail) };
  const same = result.value.refund?.id === first.refund?.id;
  if (same) return { operation, ageMs, outcome: 'same', detail: 'it returned the stored result' };
  return { operation, ageMs, outcome: 'another', detail: 'it created another refund' };
}

async function lookAtRefund(leg: Leg, esim: PaidEsim, { refund }: EsimCancellation, accepted: boolean): Promise<void> {
  const { client } = leg;
  const { esimId } = esim;
  if (refund == null) {
    leg.skipped('GET /refunds/{id}', 'the service has it', 'the cancellation names no refund');
  } else {
    noteCall(leg, 'refund_read', observeCall(await client.getRefund(refund.id)));
  }
  const list = observeCall(await client.findRefundsOfEsim(esimId), ({ items }) =>
    refund == null || items.some(({ id }) => id === refund.id)
      ? undefined
      : 'the list does not contain the refund of this cancellation',
  );
  noteCall(leg, 'refund_list', list);
  if (!accepted) return;

  if (refund != null) {
    const ended = await follow(
      leg,
      refund,
      () => client.getRefund(refund.id),
      () => client.findRefundsOfEsim(esimId),
    );
    leg.expect(ended.status === 'completed', 'its refund', 'completed', ended.status);
    noteRefunded(leg, esim, ended);
  }
  await lookForCredit(leg, esim);
  const read = await client.getEsim(esimId);
  if (read.ok)
    leg.expect(
      read.value.status === 'cancelled',
      'its eSIM',
      'a read that says cancelled',
      `the read says ${read.value.status}`,
    );
  else leg.failed('its eSIM', 'a read that says cancelled', clause(read.detail));
}

function noteRefunded(
  leg: Leg,
  { paid }: PaidEsim,
  { amount, currency }: { readonly amount?: string | null | undefined; readonly currency?: string | null | undefined },
): void {
  if (amount == null) return;
  const compared = {
    step: 'its amount',
    expected: 'the price of the order,',
    call: 'GET /refunds/{id}',
    field: 'amount',
  };
  const actual = { amount, currency: currency ?? paid.currency };
  noteAmounts(leg, ['order'], compared, [{ expected: paid, actual }]);
}

/** A pending credit is no refund yet. */
async function lookForCredit(leg: Leg, { reference, order, paid }: PaidEsim): Promise<void> {
  const [step, expected] = ['its money', 'a final credit in the wallet transactions'];
  if (leg.observations.calls.wallet_transactions?.kind !== 'works')
    return leg.skipped(step, expected, 'the movements cannot be read');
  let pending = false;
  const credit = await until(leg, async () => {
    const movements = await leg.client.listWalletTransactions({ reference });
    if (!movements.ok) return undefined;
    const named = { serviceId: order.id, reference };
    const own = movements.value.items.filter((item) => item.type === 'credit' && isOfOrder(named, item));
    pending = own.length > 0;
    return own.find(isFinalMovement);
  });
  if (credit === undefined)
    return leg.drift(step, expected, pending ? 'only a pending credit' : 'no credit that names the order');
  const compared = {
    step,
    expected: 'a credit in the wallet transactions of',
    call: 'GET /wallet/transactions',
    field: 'amount',
  };
  noteAmounts(leg, ['order'], compared, [{ expected: paid, actual: moneyOf(credit) }]);
}
