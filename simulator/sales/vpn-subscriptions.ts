import type { DueSource } from '#simulator/clock.ts';
import { readSale, saleAnnouncement } from '#simulator/sales/progress.ts';
import { ServiceError } from '#simulator/service/errors.ts';
import type { Simulation } from '#simulator/simulation.ts';
import type { Sale, Subscription } from '#simulator/store/rows.ts';

/**
 * Nothing is refunded.
 * @throws ServiceError 409 when already cancelled, 422 when not active yet, failed or expired.
 */
export function cancelSubscription(simulation: Simulation, sale: Sale): void {
  const { store, behaviours, clock, agenda, options } = simulation;
  // A repeated call gets the same answer and changes nothing.
  if (requireCancellable(simulation, sale).cancel_due_at !== null) return;
  const outcome = store.transaction(() => {
    const decided = behaviours.of(sale.environment, 'vpn_cancellation') ?? { outcome: 'cancelled' as const };
    if (decided.outcome === 'cancelled') endSubscription(simulation, sale, 'cancelled');
    if (decided.outcome === 'processing_then_cancelled') {
      const cancel_due_at = clock.now() + (decided.delay_ms ?? options.processingDelayMs);
      store.change('vpn_subscriptions', { id: sale.id, status: 'active' }, { cancel_due_at });
    }
    return decided.outcome;
  });
  // Thrown outside the transaction: a rollback would undo the count of the used rule.
  if (outcome === 'refused') throw refused('The subscription cannot be cancelled.');
  agenda.wake();
}

export function endSubscription(simulation: Simulation, sale: Sale, status: 'cancelled' | 'expired'): boolean {
  const { store, webhooks, clock, agenda } = simulation;
  const { id, environment } = sale;
  return store.transaction(() => {
    const cancelled_at = status === 'cancelled' ? clock.now() : null;
    const ended = { status, cancelled_at, cancel_due_at: null };
    if (store.change('vpn_subscriptions', { id, status: 'active' }, ended) === 0) return false;
    const data = saleAnnouncement(simulation, sale);
    webhooks.enqueue({ environment, event: `vpn.subscription.${status}`, subject: id, data });
    agenda.wake();
    return true;
  });
}

export function dueSubscriptions(simulation: Simulation): DueSource {
  const { store } = simulation;
  return {
    nextDue: () =>
      store.least(
        'due',
        `(SELECT min(expires_at) AS due FROM vpn_subscriptions WHERE status = 'active'
          UNION ALL SELECT min(cancel_due_at) FROM vpn_subscriptions WHERE cancel_due_at IS NOT NULL)`,
      ),
    runDue: (now) => {
      const due = `WHERE status = 'active' AND (expires_at <= :now OR cancel_due_at <= :now) ORDER BY expires_at, id`;
      for (const { id, expires_at, cancel_due_at } of store.rows('vpn_subscriptions', due, { now })) {
        const isCancelled = cancel_due_at !== null && cancel_due_at <= Math.min(now, expires_at);
        endSubscription(simulation, readSale(simulation, id), isCancelled ? 'cancelled' : 'expired');
      }
    },
  };
}

function requireCancellable({ store }: Simulation, sale: Sale): Subscription {
  const subscription = store.get('vpn_subscriptions', { id: sale.id });
  if (subscription === undefined) {
    throw refused(sale.status === 'failed' ? 'The subscription has failed.' : 'The subscription is not active yet.');
  }
  if (subscription.status === 'cancelled') {
    throw new ServiceError(409, 'already_cancelled', 'This subscription is already cancelled.');
  }
  if (subscription.status === 'expired') throw refused('The subscription has expired.');
  return subscription;
}

function refused(message: string): ServiceError {
  return new ServiceError(422, 'cancellation_refused', message);
}
