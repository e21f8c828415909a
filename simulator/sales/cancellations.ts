import Big from 'big.js';
import type { BehaviourRule } from '#simulator/behaviour/behaviours.ts';
import type { DueSource } from '#simulator/clock.ts';
import type { ResolvedOptions } from '#simulator/options.ts';
import { esimState } from '#simulator/sales/esims.ts';
import { type KeyedCall, runKeyed } from '#simulator/sales/keyed-operations.ts';
import { readSale } from '#simulator/sales/progress.ts';
import { requireNothingInFlight } from '#simulator/sales/purchases.ts';
import { type Answer, jsonAnswer, notFound, ServiceError } from '#simulator/service/errors.ts';
import type { Simulation } from '#simulator/simulation.ts';
import type { Esim, Refund } from '#simulator/store/rows.ts';
import { move } from '#simulator/wallet.ts';
import { wireCancellation, wireRefund } from '#simulator/wire.ts';
import type { RefundCondition } from '#upstream/contract.ts';

/** The refund conditions decide, unless a behaviour rule matches. */
export async function cancelEsim(simulation: Simulation, call: KeyedCall): Promise<Answer> {
  return runKeyed(simulation, call, {
    find: () => {
      const esim = simulation.store.get('esims', { id: call.id, environment: call.environment });
      if (esim === undefined) throw notFound('eSIM');
      return esim;
    },
    carryOut: (esim) => judge(simulation, esim),
  });
}

/** @returns undefined when it is already decided. */
export function acceptRefund(simulation: Simulation, refund: Refund): Refund | undefined {
  if (refund.cancellation !== 'processing') return undefined;
  return change(simulation, refund, { cancellation: 'cancelled', status: 'completed', review: 'accepted' });
}

/** @returns undefined when it is already decided. */
export function refuseRefund(simulation: Simulation, refund: Refund): Refund | undefined {
  if (refund.cancellation !== 'processing') return undefined;
  return change(simulation, refund, { cancellation: 'refused', status: 'failed', review: 'refused' });
}

/** @returns undefined when no payment is outstanding. */
export function settleRefund(
  simulation: Simulation,
  refund: Refund,
  status: 'completed' | 'failed',
): Refund | undefined {
  if (refund.cancellation !== 'cancelled' || refund.status !== 'processing') return undefined;
  return change(simulation, refund, { status });
}

export function dueRefunds(simulation: Simulation): DueSource {
  const { store } = simulation;
  return {
    nextDue: () => store.least('due_at', 'refunds WHERE due_at IS NOT NULL'),
    runDue: (now) => {
      for (const refund of store.rows('refunds', 'WHERE due_at <= :now ORDER BY due_at, sequence', { now })) {
        takeStep(simulation, refund);
      }
    },
  };
}

function takeStep(simulation: Simulation, refund: Refund): void {
  switch (refund.due_step) {
    case 'accept':
      acceptRefund(simulation, refund);
      return;
    case 'refuse':
      refuseRefund(simulation, refund);
      return;
    case 'review': {
      const decision = decisionOfReview(unmetBy(simulation, readEsim(simulation, refund.esim_id)));
      if (decision === 'accepted') acceptRefund(simulation, refund);
      else refuseRefund(simulation, refund);
      return;
    }
    case 'pay':
      settleRefund(simulation, refund, 'completed');
      return;
    case 'fail':
      settleRefund(simulation, refund, 'failed');
      return;
    case null:
  }
}

function judge(simulation: Simulation, esim: Esim): Answer {
  const { store, behaviours, identifiers, clock, dialect, options } = simulation;
  if (esim.status === 'cancelled') throw new ServiceError(409, 'already_cancelled', 'This eSIM is already cancelled.');
  requireNothingInFlight(simulation, esim.id);

  const unmet = unmetBy(simulation, esim);
  const rule = behaviours.of(esim.environment, 'cancellation');
  const { delayMs, ...begun } = planned(rule, unmet, options);
  if (begun.review === 'refused' && dialect.refusal_is_error) return refusedAsError(unmet);
  const order = readSale(simulation, esim.order_id);
  const id = identifiers.id('refund', store.nextSequence('refunds'));
  const now = clock.now();
  store.insert('refunds', {
    id,
    environment: esim.environment,
    esim_id: esim.id,
    order_id: order.id,
    ...begun,
    due_at: delayMs === null ? null : now + delayMs,
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

type CancellationRule = Extract<BehaviourRule, { operation: 'cancellation' }>;

type CancellationPlan = Pick<Refund, 'cancellation' | 'status' | 'review' | 'due_step'> & {
  readonly delayMs: number | null;
};

/** The conditions decide without a rule. */
function planned(
  rule: Pick<CancellationRule, 'outcome' | 'delay_ms'> | undefined,
  unmet: readonly RefundCondition[],
  { processingDelayMs, reviewDelayMs }: Pick<ResolvedOptions, 'processingDelayMs' | 'reviewDelayMs'>,
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

function byConditions(unmet: readonly RefundCondition[], reviewDelayMs: number): CancellationPlan {
  const decision = decisionByConditions(unmet);
  if (decision === 'accepted') return ACCEPTED;
  return decision === 'refused' ? REFUSED : { ...REVIEWING, due_step: 'review', delayMs: reviewDelayMs };
}

const AT_ONCE = { due_step: null, delayMs: null } as const;
const ACCEPTED: CancellationPlan = { cancellation: 'cancelled', status: 'completed', review: 'accepted', ...AT_ONCE };
const PAYING: CancellationPlan = { ...ACCEPTED, status: 'processing' };
const REFUSED: CancellationPlan = { cancellation: 'refused', status: 'failed', review: 'refused', ...AT_ONCE };
const REVIEWING: CancellationPlan = {
  cancellation: 'processing',
  status: 'processing',
  review: 'manual_review',
  ...AT_ONCE,
};

type RefundDecision = 'accepted' | 'refused' | 'manual_review';

/** Nothing was used, but a phone has the profile, or the debit is not visible (yet). */
const NEEDS_REVIEW: ReadonlySet<RefundCondition> = new Set(['never_installed', 'debit_verified']);

function decisionByConditions(unmet: readonly RefundCondition[]): RefundDecision {
  if (unmet.length === 0) return 'accepted';
  return unmet.every((condition) => NEEDS_REVIEW.has(condition)) ? 'manual_review' : 'refused';
}

/** An installed but unused profile is refunded; a missing debit is not. */
function decisionOfReview(unmet: readonly RefundCondition[]): 'accepted' | 'refused' {
  return unmet.every((condition) => condition === 'never_installed') ? 'accepted' : 'refused';
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

function refusedAsError(unmet: readonly string[]): Answer {
  const fields = Object.fromEntries(unmet.map((condition) => [condition, 'is not met']));
  return new ServiceError(422, 'cancellation_refused', 'This eSIM cannot be cancelled any more.', { fields }).answer();
}
