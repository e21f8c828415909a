import type { Behaviours } from '#simulator/behaviour/behaviours.ts';
import type { Agenda, Clock, DueSource } from '#simulator/clock.ts';
import type { KindsOfSale } from '#simulator/sales/progress.ts';
import { ServiceError } from '#simulator/service/errors.ts';
import type { SaleRecord, Sales, SubscriptionRecord, Subscriptions } from '#simulator/store/sales.ts';
import type { Store } from '#simulator/store/store.ts';
import type { WebhookQueue } from '#simulator/webhooks/queue.ts';

export interface VpnSubscriptionParts {
  readonly store: Store;
  readonly sales: Sales;
  readonly subscriptions: Subscriptions;
  readonly kinds: KindsOfSale;
  readonly webhooks: WebhookQueue;
  readonly behaviours: Behaviours;
  readonly clock: Clock;
  readonly agenda: Agenda;
  /** Duration of a cancellation in milliseconds, when its rule names no delay. */
  readonly processingDelayMs: number;
}

/** Ends VPN subscriptions: when they expire, or when the customer cancels. Nothing is refunded. */
export class VpnSubscriptions implements DueSource {
  readonly #parts: VpnSubscriptionParts;

  constructor(parts: VpnSubscriptionParts) {
    this.#parts = parts;
  }

  /**
   * Cancels a subscription at once, or later by a behaviour rule.
   *
   * @throws ServiceError 409 when it is already cancelled, 422 when it is not active yet, has failed or has expired.
   */
  cancel(sale: SaleRecord): void {
    const { store, subscriptions, behaviours, clock, agenda, processingDelayMs } = this.#parts;
    const subscription = this.#requireCancellable(sale);
    // A second call while the first cancellation is processing gets the same answer and changes nothing.
    if (subscription.cancelDueAt !== null) return;
    const outcome = store.transaction(() => {
      const decided = behaviours.ofVpnCancellation(sale.environment);
      if (decided.outcome === 'cancelled') this.end(sale, 'cancelled');
      if (decided.outcome === 'processing_then_cancelled') {
        subscriptions.setCancelDue(sale.id, clock.now() + (decided.delay_ms ?? processingDelayMs));
      }
      return decided.outcome;
    });
    // Thrown outside the transaction: a rollback would undo the count of the used rule.
    if (outcome === 'refused') throw refused('The subscription cannot be cancelled.');
    agenda.wake();
  }

  /** @returns false when it is not active. */
  end(sale: SaleRecord, status: 'cancelled' | 'expired'): boolean {
    const { store, subscriptions, kinds, webhooks, clock, agenda } = this.#parts;
    return store.transaction(() => {
      if (!subscriptions.end(sale.id, status, clock.now())) return false;
      const event = `vpn.subscription.${status}`;
      webhooks.enqueue({ environment: sale.environment, event, subject: sale.id, data: kinds.vpn.announcement(sale) });
      agenda.wake();
      return true;
    });
  }

  nextDue(): number | undefined {
    return this.#parts.subscriptions.nextDue();
  }

  runDue(now: number): void {
    for (const { id, expiresAt, cancelDueAt } of this.#parts.subscriptions.due(now)) {
      const sale = this.#parts.sales.get('vpn', id);
      if (sale === undefined) throw new Error(`The store has lost the sale of VPN subscription ${id}.`);
      this.end(sale, cancelDueAt !== null && cancelDueAt <= Math.min(now, expiresAt) ? 'cancelled' : 'expired');
    }
  }

  #requireCancellable(sale: SaleRecord): SubscriptionRecord {
    const subscription = this.#parts.subscriptions.get(sale.id);
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
