import { isoTime } from '#simulator/clock.ts';
import { ENVIRONMENTS, type Environment } from '#simulator/environment.ts';
import type { Simulation } from '#simulator/simulation.ts';
import type { DeliveryRecord } from '#simulator/store/deliveries.ts';
import type { LedgerEntry } from '#simulator/store/ledger.ts';
import type { OrderRecord } from '#simulator/store/orders.ts';
import { pageOfRows } from '#simulator/store/page.ts';
import type { RequestRecord } from '#simulator/store/requests.ts';
import { wireOrder, wireTransaction } from '#simulator/wire.ts';

/** Everything at a glance. */
export function stateView(simulation: Simulation): Record<string, unknown> {
  return {
    time: isoTime(simulation.clock.now()),
    clock_ahead_ms: simulation.clock.offset(),
    approved: simulation.approved,
    dialect: dialectView(simulation),
    environments: Object.fromEntries(ENVIRONMENTS.map((name) => [name, environmentView(simulation, name)])),
    faults: simulation.faults.list().length,
    behaviour: simulation.behaviours.list().length,
  };
}

export function dialectView({ dialectChoice, dialect }: Simulation): Record<string, unknown> {
  return { name: dialectChoice.name, changed: dialectChoice.properties, properties: dialect };
}

function environmentView(simulation: Simulation, environment: Environment): Record<string, unknown> {
  const target = simulation.webhookTarget(environment);
  return {
    balance: simulation.wallet.balance(environment),
    ledger: simulation.ledger.countByType(environment),
    orders: simulation.orders.countByStatus(environment),
    esims: simulation.esims.count(environment),
    deliveries: simulation.deliveries.countByStatus(environment),
    requests: simulation.requests.count(environment),
    // The secret is known to whoever set it, and shown to nobody.
    webhook_url: target?.url ?? null,
  };
}

export function orderView(order: OrderRecord): Record<string, unknown> {
  return {
    environment: order.environment,
    ...wireOrder(order),
    due_at: order.dueAt === null ? null : isoTime(order.dueAt),
    due_outcome: order.dueOutcome,
    credit_due_at: order.creditDueAt === null ? null : isoTime(order.creditDueAt),
    updated_at: isoTime(order.updatedAt),
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
    order_id: delivery.subject,
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

/** Reads one item more than asked for, so that the last page knows that it is. */
export function listView<Row extends { readonly sequence: number }>(
  read: (page: { cursor: number | undefined; limit: number }) => Row[],
  { after, limit }: { readonly after?: number | undefined; readonly limit: number },
  view: (row: Row) => unknown,
): { data: unknown[]; next_after: number | null } {
  const { items, nextCursor } = pageOfRows(read({ cursor: after, limit: limit + 1 }), limit);
  return { data: items.map(view), next_after: nextCursor };
}
