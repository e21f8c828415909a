import type { DueSource } from '#simulator/clock.ts';
import { ServiceError } from '#simulator/service/errors.ts';
import type { Simulation } from '#simulator/simulation.ts';
import type { SaleRecord, SubscriptionRecord } from '#simulator/store/sales.ts';

/** Nothing is refunded. */
export class VpnSubscriptions implements DueSource {
  readonly #simulation: Simulation;

  constructor(simulation: Simulation) {
    this.#simulation = simulation;
  }

  /** @throws ServiceError 409 when already cancelled, 422 when not active yet, failed or expired. */
  cancel(sale: SaleRecord): void {
    const { store, subscriptions, behaviours, clock, agenda, options } = this.#simulation;
    const subscription = this.#requireCancellable(sale);
    // A repeated call gets the same answer and changes nothing.
    if (subscription.cancelDueAt !== null) return;
    const outcome = store.transaction(() => {
      const decided = behaviours.ofVpnCancellation(sale.environment);
      if (decided.outcome === 'cancelled') this.end(sale, 'cancelled');
      if (decided.outcome === 'processing_then_cancelled') {
        subscriptions.setCancelDue(sale.id, clock.now() + (decided.delay_ms ?? options.processingDelayMs));
      }
      return decided.outcome;
    });
    // Thrown outside the transaction: a rollback would undo the count of the used rule.
    if (outcome === 'refused') throw refused('The subscription cannot be cancelled.');
    agenda.wake();
  }

  end(sale: SaleRecord, status: 'cancelled' | 'expired'): boolean {
    const { store, subscriptions, kinds, webhooks, clock, agenda } = this.#simulation;
    return store.transaction(() => {
      if (!subscriptions.end(sale.id, status, clock.now())) return false;
      const event = `vpn.subscription.${status}`;
      webhooks.enqueue({ environment: sale.environment, event, subject: sale.id, data: kinds.vpn.announcement(sale) });
      agenda.wake();
      return true;
    });
  }

  nextDue(): number | undefined {
    return this.#simulation.subscriptions.nextDue();
  }

  runDue(now: number): void {
    for (const { id, expiresAt, cancelDueAt } of this.#simulation.subscriptions.due(now)) {
      const sale = this.#simulation.sales.get('vpn', id);
      if (sale === undefined) throw new Error(`The store has lost the sale of VPN subscription ${id}.`);
      this.end(sale, cancelDueAt !== null && cancelDueAt <= Math.min(now, expiresAt) ? 'cancelled' : 'expired');
    }
  }

  #requireCancellable(sale: SaleRecord): SubscriptionRecord {
    const subscription = this.#simulation.subscriptions.get(sale.id);
    if (subscription === undefined) {
      throw refused(sale.status === 'failed' ? 'The subscription has failed.' : 'The subscription is not active yet.');
    }
    if (subscription.status === 'cancelled') {
      throw new ServiceError(409, 'already_cancelled', 'This subscription is already cancelled.');
    }
    if (subscription.status === 'expired') throw refused('The subscription has expired.');
    return subscription;
  }
}

function refused(message: string): ServiceError {
  return new ServiceError(422, 'cancellation_refused', message);
}
