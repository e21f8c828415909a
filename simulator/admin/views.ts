import { isoTime } from '#simulator/clock.ts';
import { esimState } from '#simulator/sales/esims.ts';
import { saleAnnouncement } from '#simulator/sales/progress.ts';
import { releases } from '#simulator/service/updates.ts';
import type { Simulation } from '#simulator/simulation.ts';
import type { Delivery, Esim, LoggedRequest, Movement, Refund, Sale, SaleKind } from '#simulator/store/rows.ts';
import { type Environment, ENVIRONMENTS } from '#simulator/store/store.ts';
import { balanceOf } from '#simulator/wallet.ts';
import { signingSecret, webhookUrl } from '#simulator/webhooks/endpoints.ts';
import { timeOrNull, wireCancellation, wireEsim, wireTransaction, wireUsage } from '#simulator/wire.ts';

export function stateView(simulation: Simulation): Record<string, unknown> {
  return {
    time: isoTime(simulation.clock.correct()),
    clock_ahead_ms: simulation.clock.offset,
    approved: simulation.approved,
    dialect: dialectView(simulation),
    shape: shapeView(simulation),
    fault_profile: simulation.faultProfile,
    rate_limit: simulation.rateLimiter.limit,
    updates: releases(simulation.store),
    environments: Object.fromEntries(ENVIRONMENTS.map((name) => [name, environmentView(simulation, name)])),
    faults: simulation.faults.list().length,
    behaviour: simulation.behaviours.list().length,
  };
}

export function dialectView({ dialectChoice, dialect }: Simulation): Record<string, unknown> {
  return { name: dialectChoice.name, changed: dialectChoice.properties, properties: dialect };
}

export function shapeView({ shapeChoice, shaper }: Simulation): Record<string, unknown> {
  return { name: shapeChoice.name, changed: shapeChoice.properties, properties: shaper.shape };
}

function environmentView(simulation: Simulation, environment: Environment): Record<string, unknown> {
  const { store } = simulation;
  const sold = (kind: SaleKind) => store.counts('sales', 'status', { environment, kind });
  const count = (table: string) => store.counts(table, 'environment', { environment })[environment] ?? 0;
  const { debit: debits = 0, credit: credits = 0 } = store.counts('ledger', 'type', { environment });
  // A sale that is no subscription yet counts with its own status.
  const joined = 'sales LEFT JOIN vpn_subscriptions AS s ON s.id = sales.id';
  return {
    balance: balanceOf(simulation, environment),
    ledger: { debits, credits },
    orders: sold('order'),
    esims: count('esims'),
    topups: sold('topup'),
    refunds: store.counts('refunds', 'status', { environment }),
    vpn_subscriptions: store.counts(joined, 'coalesce(s.status, sales.status)', { environment, kind: 'vpn' }),
    deliveries: store.counts('deliveries', 'status', { environment }),
    requests: count('requests'),
    webhook_url: webhookUrl(simulation, environment) ?? null,
    // The secret is never shown.
    webhook_secret: signingSecret(simulation, environment) !== undefined,
  };
}

export function saleView(simulation: Simulation, sale: Sale): Record<string, unknown> {
  const subscription = sale.kind === 'vpn' ? simulation.store.get('vpn_subscriptions', { id: sale.id }) : undefined;
  const cancelDueAt = subscription?.cancel_due_at ?? null;
  return {
    environment: sale.environment,
    ...saleAnnouncement(simulation, sale),
    due_at: timeOrNull(sale.due_at ?? cancelDueAt),
    due_outcome: cancelDueAt === null ? sale.due_outcome : 'cancelled',
    credit_due_at: timeOrNull(sale.credit_due_at),
    updated_at: isoTime(sale.updated_at),
  };
}

/** The activation code is missing: many people may look at the status page. */
export function esimView(simulation: Simulation, esim: Esim): Record<string, unknown> {
  const { environment, package_id } = esim;
  const state = esimState(simulation, esim);
  const { activation_code: _code, ...shown } = wireEsim(esim, state);
  const { data_used_mb, data_total_mb } = wireUsage(esim, state, simulation.clock.now());
  return { environment, ...shown, package_id, data_used_mb, data_total_mb };
}

export function refundView(_simulation: Simulation, refund: Refund): Record<string, unknown> {
  const { refund: shown, status: cancellation } = wireCancellation(refund);
  const { environment, due_at, due_step, updated_at } = refund;
  return { environment, ...shown, cancellation, due_at: timeOrNull(due_at), due_step, updated_at: isoTime(updated_at) };
}

export function ledgerView(_simulation: Simulation, movement: Movement): Record<string, unknown> {
  const { environment, balance_after } = movement;
  return { environment, ...wireTransaction(movement), balance_after };
}

export function deliveryView({ store }: Simulation, delivery: Delivery): Record<string, unknown> {
  const { id, environment, event, subject, status, fault, body } = delivery;
  const attempts = store.rows('delivery_attempts', 'WHERE delivery_id = :id ORDER BY sequence', { id });
  return {
    id,
    environment,
    event,
    subject,
    order_id: event.startsWith('order.') ? subject : null,
    status,
    tampering: fault === null ? null : (JSON.parse(fault) as unknown),
    body: Buffer.from(body).toString('utf8'),
    next_attempt_at: timeOrNull(delivery.next_attempt_at),
    created_at: isoTime(delivery.created_at),
    attempts: attempts.map((attempt) => {
      const { timestamp, status: answered, error, duration_ms } = attempt;
      return { sent_at: isoTime(attempt.sent_at), timestamp, status: answered, error, duration_ms };
    }),
  };
}

export function requestView(_simulation: Simulation, request: LoggedRequest): Record<string, unknown> {
  const { received_at, faults, ...shown } = request;
  return { ...shown, received_at: isoTime(received_at), faults: faults?.split(',') ?? [] };
}
