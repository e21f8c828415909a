import { isoTime } from '#simulator/clock.ts';
import type { Simulation } from '#simulator/simulation.ts';
import type { DeliveryRecord } from '#simulator/store/deliveries.ts';
import type { EsimRecord, RefundRecord } from '#simulator/store/esims.ts';
import type { LedgerEntry } from '#simulator/store/ledger.ts';
import type { RequestRecord } from '#simulator/store/requests.ts';
import type { SaleRecord } from '#simulator/store/sales.ts';
import { type Environment, ENVIRONMENTS, pageOfRows } from '#simulator/store/store.ts';
import { wireCancellation, wireEsim, wireTransaction, wireUsage } from '#simulator/wire.ts';

export function stateView(simulation: Simulation): Record<string, unknown> {
  return {
    time: isoTime(simulation.clock.correct()),
    clock_ahead_ms: simulation.clock.offset(),
    approved: simulation.approved,
    dialect: dialectView(simulation),
    shape: shapeView(simulation),
    fault_profile: simulation.faultProfile,
    rate_limit: simulation.rateLimiter.limit,
    updates: simulation.releases.all(),
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
  const { sales } = simulation;
  return {
    balance: simulation.wallet.balance(environment),
    ledger: simulation.ledger.countByType(environment),
    orders: sales.countByStatus(environment, 'order'),
    esims: simulation.esims.count(environment),
    topups: sales.countByStatus(environment, 'topup'),
    refunds: simulation.refunds.countByStatus(environment),
    vpn_subscriptions: simulation.subscriptions.countByStatus(environment),
    deliveries: simulation.deliveries.countByStatus(environment),
    requests: simulation.requests.count(environment),
    // The secret is never shown.
    webhook_url: simulation.endpoints.url(environment) ?? null,
    webhook_secret: simulation.endpoints.hasSecret(environment),
  };
}

export function saleView({ kinds, subscriptions }: Simulation, sale: SaleRecord): Record<string, unknown> {
  const cancelDueAt = sale.kind === 'vpn' ? (subscriptions.get(sale.id)?.cancelDueAt ?? null) : null;
  return {
    environment: sale.environment,
    ...kinds[sale.kind].announcement(sale),
    due_at: timeOrNull(sale.dueAt ?? cancelDueAt),
    due_outcome: cancelDueAt === null ? sale.dueOutcome : 'cancelled',
    credit_due_at: timeOrNull(sale.creditDueAt),
    updated_at: isoTime(sale.updatedAt),
  };
}

/** The activation code is missing: many people may look at the status page. */
export function esimView({ esimLifecycle, clock }: Simulation, esim: EsimRecord): Record<string, unknown> {
  const facts = esimLifecycle.state(esim);
  const { activation_code: _code, ...shown } = wireEsim(esim, facts);
  const { data_used_mb, data_total_mb } = wireUsage(esim, facts, clock.now());
  return { environment: esim.environment, ...shown, package_id: esim.packageId, data_used_mb, data_total_mb };
}

export function refundView(refund: RefundRecord): Record<string, unknown> {
  const { refund: shown, status: cancellation } = wireCancellation(refund);
  return {
    environment: refund.environment,
    ...shown,
    cancellation,
    due_at: timeOrNull(refund.dueAt),
    due_step: refund.dueStep,
    updated_at: isoTime(refund.updatedAt),
  };
}

export function ledgerView(entry: LedgerEntry): Record<string, unknown> {
  return { environment: entry.environment, ...wireTransaction(entry), balance_after: entry.balanceAfter };
}

export function deliveryView({ deliveries }: Simulation, delivery: DeliveryRecord): Record<string, unknown> {
  return {
    id: delivery.id,
    environment: delivery.environment,
    event: delivery.event,
    subject: delivery.subject,
    order_id: delivery.event.startsWith('order.') ? delivery.subject : null,
    status: delivery.status,
    tampering: delivery.fault === null ? null : (JSON.parse(delivery.fault) as unknown),
    body: Buffer.from(delivery.body).toString('utf8'),
    next_attempt_at: delivery.nextAttemptAt === null ? null : isoTime(delivery.nextAttemptAt),
    created_at: isoTime(delivery.createdAt),
    attempts: deliveries.attempts(delivery.id).map(({ sentAt, timestamp, status, error, durationMs }) => ({
      sent_at: isoTime(sentAt),
      timestamp,
      status,
      error,
      duration_ms: durationMs,
    })),
  };
}

export function requestView(request: RequestRecord): Record<string, unknown> {
  return {
    sequence: request.sequence,
    environment: request.environment,
    method: request.method,
    path: request.path,
    endpoint: request.endpoint,
    idempotency_key: request.idempotencyKey,
    body_sha256: request.bodySha256,
    body_bytes: request.bodyBytes,
    received_at: isoTime(request.receivedAt),
    result_status: request.resultStatus,
    status: request.status,
    faults: request.faults === null ? [] : request.faults.split(','),
  };
}

function timeOrNull(ms: number | null): string | null {
  return ms === null ? null : isoTime(ms);
}

/** One item more is read: it shows whether another page follows. */
export function listView<Row extends { readonly sequence: number }>(
  read: (page: { cursor: number | undefined; limit: number }) => Row[],
  { after, limit }: { readonly after?: number | undefined; readonly limit: number },
  view: (row: Row) => unknown,
): { data: unknown[]; next_after: number | null } {
  const { items, nextCursor } = pageOfRows(read({ cursor: after, limit: limit + 1 }), limit);
  return { data: items.map(view), next_after: nextCursor };
}
