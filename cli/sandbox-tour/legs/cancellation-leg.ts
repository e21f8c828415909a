import { noteAmounts, priceOf } from '#cli/sandbox-tour/amounts.ts';
import { until, type TourContext } from '#cli/sandbox-tour/context.ts';
import type { LegNotes } from '#cli/sandbox-tour/finding.ts';
import { PURPOSES, type Bought, type Purpose } from '#cli/sandbox-tour/legs/order-leg.ts';
import { noteCall, noteRepeat } from '#cli/sandbox-tour/noting.ts';
import {
  clause,
  observeCall,
  observeRefusal,
  type KeyRepeat,
  type OpenObservations,
} from '#cli/sandbox-tour/observations.ts';
import { follow, type BoughtEsim } from '#cli/sandbox-tour/purchases.ts';
import type { Money } from '#domain/money/money.ts';
import type { ServiceResult } from '#upstream/client/error-mapping.ts';
import type { EsimCancellation, SimulatedState } from '#upstream/contract.ts';
import { isFinalMovement, moneyOf } from '#upstream/mapping/wallet-movements.ts';

/** The results of a review in the specification. */
const REFUND_RESULTS = ['accepted', 'refused', 'manual review'] as const;
type RefundResult = (typeof REFUND_RESULTS)[number];

/** The eSIMs to cancel, and what was done with them before. */
export interface CancellationInput {
  readonly esims: Bought['esims'];
  /** The listed price of their package. */
  readonly listed: Money;
  readonly simulated: ReadonlySet<SimulatedState>;
  readonly recharged: boolean;
}

/** Cancels each eSIM, to see each refund result that the sandbox offers. */
export async function cancellationLeg(
  context: TourContext,
  notes: LegNotes,
  observations: OpenObservations,
  { esims, listed, simulated, recharged }: CancellationInput,
): Promise<void> {
  const seen = new Set<RefundResult>();
  for (const purpose of PURPOSES) {
    const step = `an eSIM is cancelled that is ${purpose}`;
    const esim = esims[purpose];
    const ready = purpose === 'untouched' || (purpose === 'recharged' ? recharged : simulated.has(purpose));
    if (esim === undefined || !ready) {
      notes.skipped(step, EXPECTED[purpose].text, `there is no eSIM that is ${purpose}`);
      continue;
    }
    const result = await cancel(context, notes, observations, step, purpose, {
      ...esim,
      paid: priceOf(listed, esim.order),
    });
    if (result !== undefined) seen.add(result);
  }
  for (const result of REFUND_RESULTS) {
    const step = `the refund result "${result}"`;
    if (seen.has(result)) notes.ok(step, 'the sandbox produces it', 'seen');
    else notes.skipped(step, 'the sandbox produces it', 'no cancellation of the tour had it');
  }
}

/** The specification states five conditions. Only an eSIM that meets all of them may be refunded automatically. */
const EXPECTED: Readonly<Record<Purpose, { readonly text: string; readonly results: readonly RefundResult[] }>> = {
  untouched: { text: 'accepted: all five conditions are met', results: ['accepted'] },
  installed: { text: 'no automatic refund: it was installed', results: ['refused', 'manual review'] },
  active: { text: 'no automatic refund: it was activated', results: ['refused', 'manual review'] },
  consumed: { text: 'no automatic refund: it was used', results: ['refused', 'manual review'] },
  recharged: { text: 'no automatic refund: it has a completed top-up', results: ['refused', 'manual review'] },
};

/** An eSIM with the price of its order. */
interface PaidEsim extends BoughtEsim {
  readonly paid: Money;
}

async function cancel(
  context: TourContext,
  notes: LegNotes,
  observations: OpenObservations,
  step: string,
  purpose: Purpose,
  esim: PaidEsim,
): Promise<RefundResult | undefined> {
  const { client, now, newId } = context;
  const { text: expected, results } = EXPECTED[purpose];
  const request = { idempotencyKey: newId(), esimId: esim.esimId };
  const sentAtMs = now();
  const answer = await client.cancelEsim(request);
  const result = resultOf(answer);
  if (result === undefined) {
    notes.failed(
      step,
      expected,
      answer.ok ? `cancellation ${answer.value.status}, without a review` : clause(answer.detail),
    );
    return undefined;
  }
  const how = answer.ok ? '' : ', answered as an error (cancellation_refused)';
  const holds = notes.expect(results.includes(result), step, expected, `${result}${how}`);
  if (purpose === 'untouched' && answer.ok) {
    await lookAtRefund(context, notes, observations, esim, answer.value, holds);
    noteRepeat(
      context,
      notes,
      observations,
      observeSecond(answer.value, now() - sentAtMs, await client.cancelEsim(request)),
    );
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

/** Checks the effects of an accepted cancellation: a readable refund, its credit, and a cancelled eSIM. */
async function lookAtRefund(
  context: TourContext,
  notes: LegNotes,
  observations: OpenObservations,
  esim: PaidEsim,
  { refund }: EsimCancellation,
  accepted: boolean,
): Promise<void> {
  const { client } = context;
  const { esimId } = esim;
  if (refund == null) {
    notes.skipped('GET /refunds/{id}', 'the service has it', 'the cancellation names no refund');
  } else {
    noteCall(context, notes, observations, 'refund_read', observeCall(await client.getRefund(refund.id)));
  }
  const list = observeCall(await client.findRefundsOfEsim(esimId), ({ items }) =>
    refund == null || items.some(({ id }) => id === refund.id)
      ? undefined
      : 'the list does not contain the refund of this cancellation',
  );
  noteCall(context, notes, observations, 'refund_list', list);
  if (!accepted) return;

  if (refund != null) {
    const ended = await follow(
      context,
      refund,
      () => client.getRefund(refund.id),
      () => client.findRefundsOfEsim(esimId),
    );
    notes.expect(ended.status === 'completed', 'its refund', 'completed', ended.status);
    noteRefunded(notes, observations, esim, ended);
  }
  await lookForCredit(context, notes, observations, esim);
  const read = await client.getEsim(esimId);
  if (read.ok)
    notes.expect(
      read.value.status === 'cancelled',
      'its eSIM',
      'a read that says cancelled',
      `the read says ${read.value.status}`,
    );
  else notes.failed('its eSIM', 'a read that says cancelled', clause(read.detail));
}

function noteRefunded(
  notes: LegNotes,
  observations: OpenObservations,
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
  noteAmounts(notes, observations, ['order'], compared, [{ expected: paid, actual }]);
}

/** A pending credit is no refund yet. */
async function lookForCredit(
  context: TourContext,
  notes: LegNotes,
  observations: OpenObservations,
  { reference, order, paid }: PaidEsim,
): Promise<void> {
  const [step, expected] = ['its money', 'a final credit in the wallet transactions'];
  if (observations.calls.wallet_transactions?.kind !== 'works')
    return notes.skipped(step, expected, 'the movements cannot be read');
  let pending = false;
  const credit = await until(context, async () => {
    const movements = await context.client.listWalletTransactions({ reference });
    if (!movements.ok) return undefined;
    const own = movements.value.items.filter(
      (item) => item.type === 'credit' && (item.external_order_id === reference || item.order_id === order.id),
    );
    pending = own.length > 0;
    return own.find(isFinalMovement);
  });
  if (credit === undefined)
    return notes.drift(step, expected, pending ? 'only a pending credit' : 'no credit that names the order');
  const compared = {
    step,
    expected: 'a credit in the wallet transactions of',
    call: 'GET /wallet/transactions',
    field: 'amount',
  };
  noteAmounts(notes, observations, ['order'], compared, [{ expected: paid, actual: moneyOf(credit) }]);
}
