import Big from 'big.js';
import type { BehaviourRule } from '#simulator/behaviour/behaviours.ts';
import type { DueSource } from '#simulator/clock.ts';
import type { ResolvedOptions } from '#simulator/options.ts';
import { esimState } from '#simulator/sales/esims.ts';
import { type KeyedCall, runKeyed } from '#simulator/sales/keyed-operations.ts';
import { readSale } from '#simulator/sales/progress.ts';
import { requireNothingInFlight } from '#simulator/sales/purchases.ts';
import { type Answer, existing, jsonAnswer, ServiceError } from '#simulator/service/errors.ts';
import type { Simulation } from '#simulator/simulation.ts';
import type { Esim, Refund } from '#simulator/store/rows.ts';
import { move } from '#simulator/wallet.ts';
import { wireCancellation, wireRefund } from '#simulator/wire.ts';
import type { RefundCondition } from '#upstream/contract.ts';

/** The refund conditions decide, unless a behaviour rule matches. */
export async function cancelEsim(simulation: Simulation, call: KeyedCall): Promise<Answer> {
  const { id, environment } = call;
  return runKeyed(simulation, call, {
    find: () => existing(simulation.store.get('esims', { id, environment }), 'eSIM'),
    carryOut: (esim) => judge(simulation, esim),
  });
}

type Step = (simulation: Simulation, refund: Refund) => Refund | undefined;

/** Undefined: it is already decided, or no payment is outstanding. */
export const REFUND_STEPS: Readonly<Record<NonNullable<Refund['due_step']>, Step>> = {
  accept: (simulation, refund) => decide(simulation, refund, ACCEPTED),
  refuse: (simulation, refund) => decide(simulation, refund, REFUSED),
  review: (simulation, refund) => {
    const unmet = unmetBy(simulation, readEsim(simulation, refund.esim_id));
    // An installed but unused profile is refunded; a missing debit is not.
    const isAccepted = unmet.every((condition) => condition === 'never_installed');
    return decide(simulation, refund, isAccepted ? ACCEPTED : REFUSED);
  },
  pay: (simulation, refund) => settle(simulation, refund, 'completed'),
  fail: (simulation, refund) => settle(simulation, refund, 'failed'),
};

function decide(simulation: Simulation, refund: Refund, decision: Decision): Refund | undefined {
  return refund.cancellation === 'processing' ? change(simulation, refund, decision) : undefined;
}

function settle(simulation: Simulation, refund: Refund, status: 'completed' | 'failed'): Refund | undefined {
  const isOutstanding = refund.cancellation === 'cancelled' && refund.status === 'processing';
  return isOutstanding ? change(simulation, refund, { status }) : undefined;
}

export function dueRefunds(simulation: Simulation): DueSource {
  const { store } = simulation;
  return {
    nextDue: () => store.least('due_at', 'refunds WHERE due_at IS NOT NULL'),
    runDue: (now) => {
      for (const refund of store.rows('refunds', 'WHERE due_at <= :now ORDER BY due_at, sequence', { now })) {
        if (refund.due_step !== null) REFUND_STEPS[refund.due_step](simulation, refund);
      }
    },
  };
}

function judge(simulation: Simulation, esim: Esim): Answer {
  const { store, behaviours, identifiers, clock, dialect, options } = simulation;
  if (esim.status === 'cancelled') throw new ServiceError(409, 'already_cancelled', 'This eSIM is already cancelled.');
  requireNothingInFlight(simulation, esim.id);

  const unmet = unmetBy(simulation, esim);
  const rule = behaviours.of(esim.environment, 'cancellation');
  const { delayMs, ...begun } = planned(rule, unmet, options);
  if (begun.review === 'refused' && dialect.refusal_is_error) {
    const fields = Object.fromEntries(unmet.map((condition) => [condition, 'is not met']));
    const message = 'This eSIM cannot be cancelled any more.';
    return new ServiceError(422, 'cancellation_refused', message, { fields }).answer();
  }
  const order = readSale(simulation, esim.order_id);
  const id = identifiers.id('refund', store.nextSequence('refunds'));
  const now = clock.now();
  store.insert('refunds', {
    id,
    environment: esim.environment,
    esim_id: esim.id,
    order_id: order.id,
    ...begun,
    due_at: delayMs === undefined ? null : now + delayMs,
    amount: rule?.refund_amount ?? order.price,
    currency: rule?.refund_currency ?? order.currency,
    unmet: JSON.stringify(unmet),
    created_at: now,
    updated_at: now,
  });
  const refund = readRefund(simulation, id);
  takeEffect(simulation, undefined, refund);
  return jsonAnswer(200, wireCancellation(refund));
}

function change(simulation: Simulation, before: Refund, changes: Partial<Refund>): Refund {
  const { store, clock } = simulation;
  return store.transaction(() => {
    const ended = { due_at: null, due_step: null, updated_at: clock.now() };
    store.change('refunds', { id: before.id }, { ...changes, ...ended });
    const after = readRefund(simulation, before.id);
    takeEffect(simulation, before, after);
    return after;
  });
}

/** Runs in the same transaction. */
function takeEffect(simulation: Simulation, before: Refund | undefined, after: Refund): void {
  const { store, webhooks, agenda } = simulation;
  const { environment, esim_id: subject } = after;
  if (after.cancellation === 'cancelled' && before?.cancellation !== 'cancelled') {
    const used_mb = esimState(simulation, readEsim(simulation, subject)).usedMb;
    store.change('esims', { id: subject }, { used_mb, status: 'cancelled' });
    webhooks.enqueue({ environment, event: 'esim.cancelled', subject, data: wireCancellation(after) });
  }
  if (after.status !== 'processing' && before?.status !== after.status) {
    if (after.status === 'completed') payBack(simulation, after);
    webhooks.enqueue({ environment, event: `refund.${after.status}`, subject, data: wireRefund(after) });
  }
  agenda.wake();
}

function payBack(simulation: Simulation, { id, environment, order_id, esim_id, amount, currency }: Refund): void {
  const external_order_id = readSale(simulation, order_id).reference;
  const names = { order_id, external_order_id, esim_id, refund_id: id };
  move(simulation, environment, 'credit', amount, { currency, reason: 'refund', ...names });
}

/** The specification (States and transitions) states the conditions. */
function unmetBy(simulation: Simulation, esim: Esim): RefundCondition[] {
  const { store, clock, dialect } = simulation;
  const [debit, ...others] = store.rows(
    'ledger',
    `WHERE order_id = :order AND reason IN ('order', 'refund') AND (type = 'credit' OR created_at <= :shownUntil)
     ORDER BY sequence`,
    { order: esim.order_id, shownUntil: clock.now() - dialect.debits_visible_after_ms },
  );
  const { price } = readSale(simulation, esim.order_id);
  const confirmed: Readonly<Record<RefundCondition, boolean>> = {
    usage_is_zero: esimState(simulation, esim).usedMb === 0,
    never_installed: esim.installed_at === null,
    never_activated: esim.activated_at === null,
    no_completed_topup: store.get('sales', { esim_id: esim.id, kind: 'topup', status: 'completed' }) === undefined,
    // Exactly one debit of the order's price, and no credit.
    debit_verified: others.length === 0 && debit?.type === 'debit' && new Big(debit.amount).eq(price),
  };
  return (Object.keys(confirmed) as RefundCondition[]).filter((condition) => !confirmed[condition]);
}

type Decision = Pick<Refund, 'cancellation' | 'status' | 'review'>;
type CancellationPlan = Decision & { readonly due_step?: Refund['due_step']; readonly delayMs?: number };

const ACCEPTED: Decision = { cancellation: 'cancelled', status: 'completed', review: 'accepted' };
const PAYING: Decision = { ...ACCEPTED, status: 'processing' };
const REFUSED: Decision = { cancellation: 'refused', status: 'failed', review: 'refused' };
const REVIEWING: Decision = { cancellation: 'processing', status: 'processing', review: 'manual_review' };

function planned(
  rule: Extract<BehaviourRule, { operation: 'cancellation' }> | undefined,
  unmet: readonly RefundCondition[],
  { processingDelayMs, reviewDelayMs }: ResolvedOptions,
): CancellationPlan {
  if (rule === undefined) return byConditions(unmet, reviewDelayMs);
  const { outcome, delay_ms: delay } = rule;
  switch (outcome) {
    case 'accepted':
      return delay === undefined ? ACCEPTED : { ...PAYING, due_step: 'pay', delayMs: delay };
    case 'refund_failed':
      return delay === undefined ? { ...ACCEPTED, status: 'failed' } : { ...PAYING, due_step: 'fail', delayMs: delay };
    case 'refused':
      return REFUSED;
    case 'processing_then_accepted':
      return { ...REVIEWING, review: null, due_step: 'accept', delayMs: delay ?? processingDelayMs };
    case 'manual_review':
      return REVIEWING;
    case 'manual_review_then_accepted':
      return { ...REVIEWING, due_step: 'accept', delayMs: delay ?? reviewDelayMs };
    case 'manual_review_then_refused':
      return { ...REVIEWING, due_step: 'refuse', delayMs: delay ?? reviewDelayMs };
  }
}

/** Nothing was used, but a phone has the profile, or the debit is not visible (yet). */
const NEEDS_REVIEW: ReadonlySet<RefundCondition> = new Set(['never_installed', 'debit_verified']);

function byConditions(unmet: readonly RefundCondition[], reviewDelayMs: number): CancellationPlan {
  if (unmet.length === 0) return ACCEPTED;
  const isUndecided = unmet.every((condition) => NEEDS_REVIEW.has(condition));
  return isUndecided ? { ...REVIEWING, due_step: 'review', delayMs: reviewDelayMs } : REFUSED;
}

function readEsim({ store }: Simulation, id: string): Esim {
  const esim = store.get('esims', { id });
  if (esim === undefined) throw new Error(`The store has lost eSIM ${id}.`);
  return esim;
}

function readRefund({ store }: Simulation, id: string): Refund {
  const refund = store.get('refunds', { id });
  if (refund === undefined) throw new Error(`The store has lost refund ${id}.`);
  return refund;
}
