import type { DueSource } from '#simulator/clock.ts';
import type { KeyedCall } from '#simulator/sales/keyed-operations.ts';
import { esimBusy } from '#simulator/sales/purchases.ts';
import { decisionOfReview, planned, unmetConditions } from '#simulator/sales/refund-decisions.ts';
import { type Answer, jsonAnswer, notFound, ServiceError } from '#simulator/service/errors.ts';
import type { Simulation } from '#simulator/simulation.ts';
import type { EsimRecord, RefundProgress, RefundRecord } from '#simulator/store/esims.ts';
import type { SaleRecord } from '#simulator/store/sales.ts';
import { wireCancellation, wireRefund } from '#simulator/wire.ts';

/** The refund conditions decide, unless a behaviour rule matches. */
export class Cancellations implements DueSource {
  readonly #simulation: Simulation;

  constructor(simulation: Simulation) {
    this.#simulation = simulation;
  }

  async cancel(call: KeyedCall): Promise<Answer> {
    return this.#simulation.keyed.run(call, {
      find: () => {
        const esim = this.#simulation.esims.get(call.id, call.environment);
        if (esim === undefined) throw notFound('eSIM');
        return esim;
      },
      carryOut: (esim) => this.#judge(esim),
    });
  }

  accept(refund: RefundRecord): RefundRecord | undefined {
    return this.#decide(refund, { cancellation: 'cancelled', status: 'completed', review: 'accepted' });
  }

  refuse(refund: RefundRecord): RefundRecord | undefined {
    return this.#decide(refund, { cancellation: 'refused', status: 'failed', review: 'refused' });
  }

  /** @returns undefined when no payment is outstanding. */
  settle(refund: RefundRecord, status: 'completed' | 'failed'): RefundRecord | undefined {
    const { cancellation, review } = refund;
    if (cancellation !== 'cancelled' || refund.status !== 'processing') return undefined;
    return this.#change(refund, { cancellation, review, status, dueAt: null, dueStep: null });
  }

  nextDue(): number | undefined {
    return this.#simulation.refunds.nextDue();
  }

  runDue(now: number): void {
    for (const refund of this.#simulation.refunds.due(now)) this.#takeStep(refund);
  }

  #takeStep(refund: RefundRecord): void {
    switch (refund.dueStep) {
      case 'accept':
        this.accept(refund);
        return;
      case 'refuse':
        this.refuse(refund);
        return;
      case 'review':
        if (decisionOfReview(this.#unmet(this.#esim(refund.esimId))) === 'accepted') this.accept(refund);
        else this.refuse(refund);
        return;
      case 'pay':
        this.settle(refund, 'completed');
        return;
      case 'fail':
        this.settle(refund, 'failed');
        return;
      case null:
    }
  }

  #judge(esim: EsimRecord): Answer {
    const { store, sales, refunds, behaviours, identifiers, clock, dialect } = this.#simulation;
    if (esim.status === 'cancelled')
      throw new ServiceError(409, 'already_cancelled', 'This eSIM is already cancelled.');
    if (refunds.inFlight(esim.id) !== undefined) throw esimBusy('cancellation');
    if (sales.topups(esim.id, 'processing').length > 0) throw esimBusy('top-up');

    const unmet = this.#unmet(esim);
    const rule = behaviours.ofCancellation(esim.environment);
    const plan = planned(rule, unmet, this.#simulation.options);
    if (plan.review === 'refused' && dialect.refusal_is_error) return refusedAsError(unmet);
    const order = this.#order(esim);
    const id = identifiers.id('refund', store.nextSequence('refunds'));
    const { environment, id: esimId } = esim;
    const { delayMs, ...begun } = plan;
    refunds.insert({
      id,
      environment,
      esimId,
      orderId: order.id,
      ...begun,
      dueAt: delayMs === null ? null : clock.now() + delayMs,
      amount: rule?.refund_amount ?? order.price,
      currency: rule?.refund_currency ?? order.currency,
      unmet,
      createdAt: clock.now(),
    });
    const refund = this.#reread(id);
    this.#takeEffect(undefined, refund);
    return jsonAnswer(200, wireCancellation(refund));
  }

  #decide(refund: RefundRecord, decision: Omit<RefundProgress, 'dueAt' | 'dueStep'>): RefundRecord | undefined {
    if (refund.cancellation !== 'processing') return undefined;
    return this.#change(refund, { ...decision, dueAt: null, dueStep: null });
  }

  #change(before: RefundRecord, progress: RefundProgress): RefundRecord {
    const { store, refunds, clock } = this.#simulation;
    return store.transaction(() => {
      refunds.change(before.id, progress, clock.now());
      const after = this.#reread(before.id);
      this.#takeEffect(before, after);
      return after;
    });
  }

  /** Runs in the same transaction. */
  #takeEffect(before: RefundRecord | undefined, after: RefundRecord): void {
    const { esims, esimLifecycle, agenda } = this.#simulation;
    if (after.cancellation === 'cancelled' && before?.cancellation !== 'cancelled') {
      const esim = this.#esim(after.esimId);
      esims.change(esim.id, { ...esim, usedMb: esimLifecycle.state(esim).usedMb, status: 'cancelled' });
      this.#announce(after, 'esim.cancelled', wireCancellation(after));
    }
    if (after.status !== 'processing' && before?.status !== after.status) {
      if (after.status === 'completed') this.#payBack(after);
      this.#announce(after, `refund.${after.status}`, wireRefund(after));
    }
    agenda.wake();
  }

  #payBack(refund: RefundRecord): void {
    this.#simulation.wallet.credit(refund.environment, refund.amount, {
      currency: refund.currency,
      reason: 'refund',
      orderId: refund.orderId,
      externalOrderId: this.#order(this.#esim(refund.esimId)).reference,
      esimId: refund.esimId,
      refundId: refund.id,
    });
  }

  #announce({ environment, esimId }: RefundRecord, event: string, data: Record<string, unknown>): void {
    this.#simulation.webhooks.enqueue({ environment, event, subject: esimId, data });
  }

  #unmet(esim: EsimRecord) {
    const { sales, ledger, esimLifecycle, clock, dialect } = this.#simulation;
    const shownUntil = clock.now() - dialect.debits_visible_after_ms;
    return unmetConditions({
      esim,
      usage: esimLifecycle.state(esim),
      completedTopups: sales.topups(esim.id, 'completed').length,
      order: this.#order(esim),
      movements: ledger
        .ofOrder(esim.orderId)
        .filter(({ type, createdAt }) => type === 'credit' || createdAt <= shownUntil),
    });
  }

  #order({ orderId }: EsimRecord): SaleRecord {
    return required(this.#simulation.sales.get('order', orderId), `order ${orderId}`);
  }

  #esim(id: string): EsimRecord {
    return required(this.#simulation.esims.get(id), `eSIM ${id}`);
  }

  #reread(id: string): RefundRecord {
    return required(this.#simulation.refunds.get(id), `refund ${id}`);
  }
}

function refusedAsError(unmet: readonly string[]): Answer {
  const fields = Object.fromEntries(unmet.map((condition) => [condition, 'is not met']));
  return new ServiceError(422, 'cancellation_refused', 'This eSIM cannot be cancelled any more.', { fields }).answer();
}

function required<Thing>(thing: Thing | undefined, what: string): Thing {
  if (thing === undefined) throw new Error(`The store has lost ${what}.`);
  return thing;
}
